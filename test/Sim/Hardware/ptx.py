"""PTX text and launch records of probes: one entry 'probe', its arrays, scalars and tensor maps."""

from __future__ import annotations

from collections.abc import Sequence

#: Registers that every probe may use. `start` below sets the first ones.
_REGISTERS = """\
    .reg .pred %p<32>;
    .reg .b16 %h<16>;
    .reg .b32 %r<128>;
    .reg .b64 %rd<64>;
"""


def module(
    body: str, arrays: Sequence[str], scalars: Sequence[str] = (), maps: int = 0, threads: int = 32, registers: str = ""
) -> str:
    """A module for sm_90a whose parameters are the arrays, the 32-bit scalars and the tensor maps, in that order.

    The body finds: %X the global address of array X, %s_X the scalar X, %map0, ... the maps' addresses, %tid_x, %cta_x,
    %smem the 32-bit address of dynamic shared memory.
    """
    parameters = [f"    .param .u64 param_{name}" for name in arrays]
    parameters += [f"    .param .u32 param_{name}" for name in scalars]
    parameters += [f"    .param .align 64 .b8 param_map{i}[128]" for i in range(maps)]
    lines = ["    .reg .b32 %tid_x, %cta_x, %smem;", "    .reg .b64 %smem64;"]
    lines += [f"    .reg .b64 %{name};" for name in arrays]
    lines += [f"    .reg .b32 %s_{name};" for name in scalars]
    lines += [f"    .reg .b64 %map{i};" for i in range(maps)]
    lines += ["    mov.u32 %tid_x, %tid.x;", "    mov.u32 %cta_x, %ctaid.x;"]
    lines += ["    mov.b64 %smem64, probe_shared;", "    cvt.u32.u64 %smem, %smem64;"]
    for name in arrays:
        lines += [f"    ld.param.b64 %{name}, [param_{name}];", f"    cvta.to.global.u64 %{name}, %{name};"]
    lines += [f"    ld.param.b32 %s_{name}, [param_{name}];" for name in scalars]
    for i in range(maps):
        lines += [f"    mov.b64 %map{i}, param_map{i};", f"    cvta.param.u64 %map{i}, %map{i};"]
    return (
        ".version 8.4\n.target sm_90a\n.address_size 64\n\n.extern .shared .align 1024 .b8 probe_shared[];\n\n"
        ".visible .entry probe(\n" + ",\n".join(parameters) + f"\n)\n.reqntid {threads}, 1, 1\n{{\n"
        + _REGISTERS + registers + "\n".join(lines) + "\n" + body.rstrip() + "\n    ret;\n}\n"
    )  # fmt: skip


def record(
    arrays: dict[str, tuple[str, tuple[int, ...]]],
    scalars: Sequence[str] = (),
    maps: Sequence[dict] = (),
    threads: int = 32,
    programs: int = 1,
    cluster: int = 1,
    shared_bytes: int = 0,
) -> dict:
    """The launch record of a `module`. `arrays` maps names to (dtype, shape); maps are entries of "tensor_maps"."""
    args = [
        {"name": name, "kind": "array", "dtype": dtype, "shape": [None] * len(shape), "strides": [None] * len(shape)}
        for name, (dtype, shape) in arrays.items()
    ]
    args += [{"name": name, "kind": "scalar", "dtype": "i32"} for name in scalars]
    params = [{"kind": "pointer", "arg": i} for i in range(len(arrays))]
    params += [{"kind": "scalar", "arg": len(arrays) + i, "type": "i32"} for i in range(len(scalars))]
    params += [{"kind": "tensor_map", "map": i} for i in range(len(maps))]
    return {
        "version": 1,
        "kernel": "probe",
        "target": "sm_90a",
        "threads": threads,
        "cluster": [cluster, 1, 1],
        "shared_bytes": shared_bytes,
        "min_ctas_per_sm": 1,
        "grid": {"persistent": False, "x": programs, "y": 1, "z": 1},
        "args": args,
        "params": params,
        "tensor_maps": list(maps),
        "contract": [],
    }


def tensor_map(arg: int, dtype: str, box: Sequence[int], swizzle: int = 0) -> dict:
    """An entry of "tensor_maps" over all dimensions of argument `arg`, innermost first."""
    rank = len(box)
    dims = list(range(rank - 1, -1, -1))
    return {"arg": arg, "dtype": dtype, "dims": dims, "box": list(box), "swizzle": swizzle, "l2_promotion": 0}


def store_word(array: str, index: int, register: str) -> str:
    """Stores a 32-bit register as element `index` of a 32-bit array."""
    return f"    st.global.b32 [%{array}+{4 * index}], {register};\n"


def copy_to_shared(array: str, total: int, threads: int, shared_offset: int = 0, prefix: str = "COPY") -> str:
    """Copies `total` bytes of program %cta_x's part of `array` to shared memory, 16 at a time. No barrier.

    Requires: total a multiple of 16; uses %r120..%r127, %rd60, %rd61, %p30.
    """
    return f"""\
    mul.lo.u32 %r120, %cta_x, {total};
    cvt.u64.u32 %rd60, %r120;
    add.s64 %rd60, %rd60, %{array};
    shl.b32 %r121, %tid_x, 4;
{prefix}_LOOP:
    setp.ge.u32 %p30, %r121, {total};
    @%p30 bra {prefix}_END;
    cvt.u64.u32 %rd61, %r121;
    add.s64 %rd61, %rd61, %rd60;
    ld.global.v4.b32 {{%r122, %r123, %r124, %r125}}, [%rd61];
    add.s32 %r126, %r121, %smem;
    st.shared.v4.b32 [%r126+{shared_offset}], {{%r122, %r123, %r124, %r125}};
    add.s32 %r121, %r121, {16 * threads};
    bra {prefix}_LOOP;
{prefix}_END:
"""


def copy_from_shared(array: str, total: int, threads: int, prefix: str = "DUMP") -> str:
    """The reverse of copy_to_shared, from offset 0, into `array` of a single program."""
    return f"""\
    shl.b32 %r121, %tid_x, 4;
{prefix}_LOOP:
    setp.ge.u32 %p30, %r121, {total};
    @%p30 bra {prefix}_END;
    cvt.u64.u32 %rd61, %r121;
    add.s64 %rd61, %rd61, %{array};
    add.s32 %r126, %r121, %smem;
    ld.shared.v4.b32 {{%r122, %r123, %r124, %r125}}, [%r126];
    st.global.v4.b32 [%rd61], {{%r122, %r123, %r124, %r125}};
    add.s32 %r121, %r121, {16 * threads};
    bra {prefix}_LOOP;
{prefix}_END:
"""


def bounded_wait(barrier: str, parity: int, result: str, prefix: str = "WAIT", tries: int = 4096) -> str:
    """Waits for a phase with parity `parity`, 1000 ns a try. `result` is 1 if it came, else 0. Uses %r119, %p29."""
    return f"""\
    mov.b32 %r119, {tries};
    mov.b32 {result}, 0;
{prefix}_LOOP:
    mbarrier.try_wait.parity.shared::cta.b64 %p29, [{barrier}], {parity}, 1000;
    @%p29 bra {prefix}_DONE;
    sub.s32 %r119, %r119, 1;
    setp.ne.s32 %p29, %r119, 0;
    @%p29 bra {prefix}_LOOP;
    bra {prefix}_END;
{prefix}_DONE:
    mov.b32 {result}, 1;
{prefix}_END:
"""
