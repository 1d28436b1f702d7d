"""Probes of mma.sync and wgmma: how they add, and whether wgmma reads a leading offset that should not matter.

Eight crafted dot products fill one program: case j is row j times column j. One row of K is 32 bytes for every type.
"""

from __future__ import annotations

import itertools

import numpy as np

import ptx
from accumulator_models import best_models
from formats import FORMATS, decode, encode
from probe import Array, Probe, hex_words, poisoned
from product_cases import Case, cases

_CASES = 8  # in one program
_ROW_BYTES = 32
_FRAGMENT = 4  # elements of C and D that a thread holds


def _encoded_rows(values: np.ndarray, dtype: str) -> np.ndarray:
    """Rows of K values as rows of 32 bytes."""
    bits = encode(values, dtype)
    if dtype == "tf32":
        return (bits << 13).astype(np.uint32).view(np.uint8)
    return bits.astype({1: np.uint8, 2: np.uint16}[FORMATS[dtype].bytes]).view(np.uint8)


def _places() -> np.ndarray:
    """Where element (j, j) of the accumulator is among a program's fragments: thread 4j + j/2, element j & 1."""
    j = np.arange(_CASES)
    return (4 * j + j // 2) * _FRAGMENT + j % 2


def _operands(all_cases: list[Case], dtype: str, accumulator: str, rows: int, threads: int):
    """Bytes of A and B, and C in fragments, for each program."""
    programs = -(-len(all_cases) // _CASES)
    a = np.zeros((programs, rows, _ROW_BYTES), np.uint8)
    b = np.zeros((programs, _CASES, _ROW_BYTES), np.uint8)
    c = np.zeros((programs, threads * _FRAGMENT), np.uint32 if accumulator == "f32" else np.uint16)
    for i, case in enumerate(all_cases):
        program, j = divmod(i, _CASES)
        a[program, j] = _encoded_rows(np.array(case.a), dtype)
        b[program, j] = _encoded_rows(np.array(case.b), dtype)
        c[program, _places()[j]] = encode(case.c, accumulator)
    return a, b, c


def _mma_body(opcode: str, accumulator: str) -> str:
    """Rows 0..7 of A only: rows 8..15 are zero registers. Loads and stores fragments of C and D as they are."""
    wide = accumulator == "f32"
    registers = "{%r20, %r21, %r22, %r23}" if wide else "{%r20, %r21}"
    vector = ".v4" if wide else ".v2"
    return f"""\
    shl.b32 %r1, %tid_x, {4 if wide else 3};
    mad.lo.u32 %r1, %cta_x, {512 if wide else 256}, %r1;
    cvt.u64.u32 %rd1, %r1;
    add.s64 %rd2, %rd1, %C;
    ld.global{vector}.b32 {registers}, [%rd2];
    shl.b32 %r2, %tid_x, 2;
    and.b32 %r2, %r2, 12;
    shr.u32 %r3, %tid_x, 2;
    mad.lo.u32 %r2, %r3, {_ROW_BYTES}, %r2;
    mad.lo.u32 %r4, %cta_x, {_CASES * _ROW_BYTES}, %r2;
    cvt.u64.u32 %rd3, %r4;
    add.s64 %rd4, %rd3, %A;
    add.s64 %rd5, %rd3, %B;
    ld.global.b32 %r10, [%rd4];
    ld.global.b32 %r12, [%rd4+16];
    ld.global.b32 %r14, [%rd5];
    ld.global.b32 %r15, [%rd5+16];
    mov.b32 %r11, 0;
    mov.b32 %r13, 0;
    {opcode} {registers}, {{%r10, %r11, %r12, %r13}}, {{%r14, %r15}}, {registers};
    add.s64 %rd6, %rd1, %D;
    st.global{vector}.b32 [%rd6], {registers};
"""


def _wgmma_body(opcode: str, accumulator: str, tail: str) -> str:
    """A and B come as images of shared memory, in cores of 8 rows x 16 bytes, those of a row side by side."""
    wide = accumulator == "f32"
    registers = "{%r20, %r21, %r22, %r23}" if wide else "{%r20, %r21}"
    vector = ".v4" if wide else ".v2"
    a_bytes, b_bytes = 64 * _ROW_BYTES, _CASES * _ROW_BYTES
    strides = 128 >> 4 << 16 | 256 >> 4 << 32
    return f"""\
{ptx.copy_to_shared("A", a_bytes, 128, 0, "COPY_A")}\
{ptx.copy_to_shared("B", b_bytes, 128, a_bytes, "COPY_B")}\
    fence.proxy.async;
    bar.sync 0;
    shl.b32 %r1, %tid_x, {4 if wide else 3};
    mad.lo.u32 %r1, %cta_x, {2048 if wide else 1024}, %r1;
    cvt.u64.u32 %rd1, %r1;
    add.s64 %rd2, %rd1, %C;
    ld.global{vector}.b32 {registers}, [%rd2];
    shr.u32 %r2, %smem, 4;
    cvt.u64.u32 %rd10, %r2;
    or.b64 %rd10, %rd10, {strides};
    add.s64 %rd11, %rd10, {a_bytes >> 4};
    wgmma.fence.sync.aligned;
    {opcode} {registers}, %rd10, %rd11, {tail};
    wgmma.commit_group.sync.aligned;
    wgmma.wait_group.sync.aligned 0;
    add.s64 %rd6, %rd1, %D;
    st.global{vector}.b32 [%rd6], {registers};
"""


def _summary(all_cases: list[Case], got: np.ndarray, dtype: str, accumulator: str) -> dict:
    """What the families of cases show, and which models explain all results."""
    values = decode(got, accumulator)
    with np.errstate(all="ignore"):
        exact = np.array([np.dot(case.a, case.b) + case.c for case in all_cases])
    families: dict[str, list[int]] = {}
    for i, case in enumerate(all_cases):
        if not case.label.startswith(("order", "rounding", "special", "random")):
            families.setdefault(case.label, []).append(i)
    facts = {"cases": len(all_cases)}
    for label, members in families.items():
        without = values[members[-1]]
        seen = [all_cases[i].shift for i in members if values[i] != without]
        exactly = [all_cases[i].shift for i in members if values[i] == exact[i]]
        facts[label] = f"seen to {_power(seen)}, exact to {_power(exactly)}"
    for i, case in enumerate(all_cases):
        if case.label.startswith(("rounding", "special")):
            facts[case.label] = hex(int(got[i]))
    facts["order: positions after which a small product survives"] = _order_blocks(all_cases, values)
    facts["models"] = best_models(all_cases, got, dtype, accumulator)
    return facts


def _power(shifts: list[int]) -> str:
    return f"2^-{max(shifts)}" if shifts else "none"


def _order_blocks(all_cases: list[Case], values: np.ndarray) -> str:
    """The pairs (large, small) that left something, as runs of positions of the large product."""
    survivors: dict[int, list[int]] = {}
    for case, value in zip(all_cases, values, strict=True):
        if case.label.startswith("order") and value != 0:
            large, small = (int(word.rstrip(",")) for word in case.label.split() if word.rstrip(",").isdigit())
            survivors.setdefault(large, []).append(small)
    runs = []
    for smalls, group in itertools.groupby(sorted(survivors), key=lambda large: tuple(survivors[large])):
        larges = list(group)
        runs.append(f"large at {larges[0]}..{larges[-1]}: small at {', '.join(map(str, smalls))}")
    return "; ".join(runs) or "none"


def addition(unit: str, dtype: str, accumulator: str) -> Probe:
    """How `unit`, mma or wgmma, adds products of `dtype` into `accumulator`."""
    depth = _ROW_BYTES // FORMATS[dtype].bytes
    all_cases = cases(dtype, accumulator, depth)
    is_wgmma = unit == "wgmma"
    threads, rows = (128, 64) if is_wgmma else (32, _CASES)
    a, b, c = _operands(all_cases, dtype, accumulator, rows, threads)
    if is_wgmma:
        a, b = (x.reshape(len(x), -1, 8, 2, 16).transpose(0, 1, 3, 2, 4).copy() for x in (a, b))
        opcode = f"wgmma.mma_async.sync.aligned.m64n8k{depth}.{accumulator}.{dtype}.{dtype}"
        body = _wgmma_body(opcode, accumulator, "1, 1, 1, 0, 0" if dtype in ("f16", "bf16") else "1, 1, 1")
    else:
        opcode = f"mma.sync.aligned.m16n8k{depth}.row.col.{accumulator}.{dtype}.{dtype}.{accumulator}"
        body = _mma_body(opcode, accumulator)
    element = "i32" if accumulator == "f32" else "i16"
    signed = np.int32 if accumulator == "f32" else np.int16
    arrays = {
        "A": Array("i8", a.reshape(-1).view(np.int8)),
        "B": Array("i8", b.reshape(-1).view(np.int8)),
        "C": Array(element, c.reshape(-1).view(signed)),
        "D": poisoned(element, c.size),
    }

    def facts(outputs):
        bits = outputs["D"].reshape(c.shape)[:, _places()].reshape(-1)[: len(all_cases)]
        bits = bits.astype(np.int64) & (0xFFFFFFFF if accumulator == "f32" else 0xFFFF)
        return _summary(all_cases, bits, dtype, accumulator)

    shapes = {name: (array.dtype, array.data.shape) for name, array in arrays.items()}
    return Probe(
        name=f"{unit}-adds-{dtype}-{accumulator}",
        question=f"how does {opcode} add: which bits are kept, does it round, in which order?",
        ptx=ptx.module(body, list(arrays), threads=threads),
        record=ptx.record(shapes, threads=threads, programs=len(c), shared_bytes=4096 if is_wgmma else 0),
        arguments=arrays,
        outputs=("D",),
        facts=facts,
    )


_OFFSETS = (0, 1, 64, 0x3FFF)  # in units of 16 bytes


def leading_offset(swizzle: int) -> Probe:
    """m64n16k16 of bf16 from K-major tiles, 64 and 16 rows as wide as the swizzle, one program per leading offset."""
    rng = np.random.default_rng(13)
    rows_a, rows_b, columns = 64, 16, swizzle // 2
    values = rng.integers(-8, 9, (rows_a + rows_b, columns)).astype(np.float64)
    address = np.arange(rows_a + rows_b)[:, None] * swizzle + np.arange(columns)[None, :] * 2
    place = address ^ ((address >> 7) % (swizzle // 16) << 4)
    image = np.zeros((rows_a + rows_b) * columns, np.uint16)
    image[place.ravel() // 2] = encode(values, "bf16").ravel()
    total = image.nbytes
    stride = 8 * swizzle >> 4 << 32
    code = {128: 1, 64: 2, 32: 3}[swizzle] << 62
    descriptors = np.array([code | stride | offset << 16 for offset in _OFFSETS], np.uint64)
    registers = "{" + ", ".join(f"%r{20 + i}" for i in range(8)) + "}"
    body = f"""\
{ptx.copy_to_shared("IMAGE", total, 128)}\
    fence.proxy.async;
    bar.sync 0;
    mul.wide.u32 %rd1, %cta_x, 8;
    add.s64 %rd1, %rd1, %DESC;
    ld.global.b64 %rd10, [%rd1];
    shr.u32 %r2, %smem, 4;
    cvt.u64.u32 %rd2, %r2;
    or.b64 %rd10, %rd10, %rd2;
    add.s64 %rd11, %rd10, {rows_a * swizzle >> 4};
    wgmma.fence.sync.aligned;
    wgmma.mma_async.sync.aligned.m64n16k16.f32.bf16.bf16 {registers}, %rd10, %rd11, 0, 1, 1, 0, 0;
    wgmma.commit_group.sync.aligned;
    wgmma.wait_group.sync.aligned 0;
    mad.lo.u32 %r3, %cta_x, 128, %tid_x;
    mul.wide.u32 %rd3, %r3, 32;
    add.s64 %rd3, %rd3, %D;
    st.global.v4.b32 [%rd3], {{%r20, %r21, %r22, %r23}};
    st.global.v4.b32 [%rd3+16], {{%r24, %r25, %r26, %r27}};
"""
    warp, lane, i = np.arange(128)[:, None] // 32, np.arange(128)[:, None] % 32, np.arange(8)[None, :]
    row, column = 16 * warp + lane // 4 + 8 * (i >> 1 & 1), 8 * (i >> 2) + 2 * (lane % 4) + (i & 1)
    expected = (values[:rows_a, :16] @ values[rows_a:, :16].T)[row, column]
    arrays = {
        "IMAGE": Array("i16", np.tile(image, len(_OFFSETS)).view(np.int16)),
        "DESC": Array("i64", descriptors.view(np.int64)),
        "D": poisoned("f32", len(_OFFSETS), 128, 8),
    }

    def facts(outputs):
        results = outputs["D"].reshape(len(_OFFSETS), 128, 8)
        return {
            f"leading offset {offset}: wrong elements": int((result != expected).sum())
            for offset, result in zip(_OFFSETS, results, strict=True)
        } | {"first words": [hex_words(result.ravel()[:2]) for result in results]}

    shapes = {name: (array.dtype, array.data.shape) for name, array in arrays.items()}
    return Probe(
        name=f"wgmma-leading-offset-{swizzle}",
        question=f"does wgmma read the leading offset of K-major operands with a {swizzle}-byte swizzle?",
        ptx=ptx.module(body, list(arrays), threads=128),
        record=ptx.record(shapes, threads=128, programs=len(_OFFSETS), shared_bytes=total),
        arguments=arrays,
        outputs=("D",),
        facts=facts,
    )


def probes() -> list[Probe]:
    both = [("f16", "f32"), ("f16", "f16"), ("bf16", "f32"), ("tf32", "f32"), ("e4m3", "f32"), ("e5m2", "f32")]
    return (
        [leading_offset(swizzle) for swizzle in (128, 64, 32)]
        + [addition("wgmma", *types) for types in [*both, ("e4m3", "f16")]]
        + [addition("mma", *types) for types in both]
    )
