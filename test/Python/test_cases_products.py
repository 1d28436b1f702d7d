"""Cases M01 to M09, B01, B02, Q03 and Q04 of test/Cases: extents and layouts of products, precision, conversions."""

from __future__ import annotations

import itertools

import ml_dtypes
import numpy as np
import pytest
from case_runs import (
    CASES,
    LIBRARY,
    PRODUCT,
    TARGETS,
    Program,
    fresh,
    fresh_numbers,  # noqa: F401
    needs_tools,
    refused,
    small,
)

pytestmark = needs_tools

every_target = pytest.mark.parametrize("target", TARGETS)

_BF16, _E4M3, _E5M2 = ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2
_F16, _F32, _I32 = np.float16, np.float32, np.int32

#: Operands of products by name: parameters of product.mlir, numpy type, and whether sums are integers.
OPERANDS = {
    "f16": ({"T": "f16"}, _F16),
    "bf16": ({"T": "bf16"}, _BF16),
    "i8": ({"T": "i8", "ACC": "i32", "ZERO": "0"}, np.int8),
    "e4m3": ({"T": "f8E4M3FN"}, _E4M3),
    "tf32": ({"T": "f32", "ATTRS": "{precision = #tile.precision<tf32>}"}, _F32),
}


def product(a, b) -> np.ndarray:
    """a @ b in f32: exact, as the numbers are small integers."""
    return a.astype(_F32) @ b.astype(_F32)


def check_product(program, rng, operands, orientation, m, n, depths):
    """C = A B in one tile for each depth, the operands stored as the orientation says."""
    dtype = OPERANDS[operands][1]
    for k in depths:
        a, b = small(rng, (m, k), dtype), small(rng, (k, n), dtype)
        stored = {"A": a if orientation[0] == "t" else a.T.copy(), "B": b.T.copy() if orientation[1] == "n" else b}
        c = product(a, b).astype(_I32 if operands == "i8" else _F32)
        program.run(stored, {"C": c}, {"arg3": k})


def has_fp8(target: str) -> bool:
    """Whether the target converts 8-bit floats."""
    return target not in ("sm_75", "sm_80")


@every_target
@pytest.mark.parametrize(("operands", "depth"), [("f16", 24), ("f16", 40), ("bf16", 8), ("e4m3", 16), ("i8", 16)])
def test_m01_depth_of_no_whole_instruction(target, operands, depth, tmp_path, rng):
    settings = {**OPERANDS[operands][0], "BK": depth}
    if operands == "e4m3" and not has_fp8(target):
        assert "operand a of e4m3" in refused(PRODUCT, target, tmp_path, "tn", **settings)
        return
    program = Program(PRODUCT, target, tmp_path, "tn", **settings)
    check_product(program, rng, operands, "tn", 64, 64, (depth, 3 * depth, 2 * depth + 8, 0))


@every_target
@pytest.mark.parametrize(("columns", "consumers"), [(24, 1), (40, 1), (56, 1), (72, 1), (48, 2), (80, 2)])
def test_m02_columns_of_no_whole_16(target, columns, consumers, tmp_path, rng):
    if target != "sm_90a" and columns in (40, 72, 80):
        pytest.skip("the rule is one of wgmma")
    settings = {"T": "f16", "BM": 128, "BN": columns, "CONSUMERS": consumers}
    orientation = str(rng.choice(["tn", "tt"]))
    program = Program(PRODUCT, target, tmp_path, orientation, **settings)
    check_product(program, rng, "f16", orientation, 128, columns, (128,))
    if target == "sm_90a":
        assert f"wgmma.mma_async.sync.aligned.m64n{columns}k16" in program.ptx or consumers == 2


@every_target
@pytest.mark.parametrize("operands", ["i8", "e4m3", "tf32"])
@pytest.mark.parametrize("orientation", ["tn", "tt", "nn", "nt"])
def test_m05_orientations(target, operands, orientation, tmp_path, rng):
    if target not in ("sm_90a", "sm_100a") and orientation in ("tn", "nn"):
        pytest.skip("the rule is one of wgmma and tcgen05")
    settings = {**OPERANDS[operands][0], "BN": 32, "BK": 32 if operands == "tf32" else 64}
    settings["BM"] = 128 if target == "sm_100a" else 64
    if operands == "e4m3" and not has_fp8(target):
        assert "operand a of e4m3" in refused(PRODUCT, target, tmp_path, orientation, **settings)
        return
    program = Program(PRODUCT, target, tmp_path, orientation, **settings)
    check_product(program, rng, operands, orientation, settings["BM"], 32, (128, 40))


@every_target
@pytest.mark.parametrize("kernel", ["left", "right", "both"])
def test_m09_products_that_begin_with_zero(target, kernel, tmp_path, rng):
    program = Program(CASES / "M09.mlir", target, tmp_path, kernel, STAGES=int(rng.integers(1, 4)))
    rows = 128 if target == "sm_100a" else 64
    a, b = small(rng, (3 * rows, 64), _F16), small(rng, (64, 64), _F16)
    c = product(a, b) * (4 if kernel == "both" else 2)
    program.run({"A": a, "B": b}, {"C": c}, before={"C": fresh(c.shape, _F32, 7)})


@every_target
def test_m09_products_that_go_on(target, tmp_path, rng):
    program = Program(CASES / "M09.mlir", target, tmp_path, "chained")
    size = 128 if target == "sm_100a" else 64
    a, b = (rng.integers(-1, 1, (size, size), endpoint=True).astype(_F16) for _ in range(2))
    ab = product(a, b)
    outputs = {"C": ab + product(a, ab), "D": product(a, a)}
    before = {name: fresh(value.shape, _F32, 7) for name, value in outputs.items()}
    program.run({"A": a, "B": b}, outputs, before=before)


@pytest.mark.parametrize(("columns", "allocated"), [(128, 512), (24, 128), (8, 128), (160, 512)])
def test_b01_accumulators_side_by_side(columns, allocated, tmp_path, rng):
    program = Program(CASES / "B01.mlir", "sm_100a", tmp_path, "three", N=columns)
    a, b = small(rng, (128, 192), _BF16), small(rng, (columns, 192), _BF16)
    program.run({"A": a, "B": b}, {"C": 3 * product(a, b.T)})
    if "tcgen05.alloc" in program.ptx:
        assert f", {allocated};" in next(line for line in program.ptx.splitlines() if "tcgen05.alloc" in line)


def test_b01_too_many_columns(tmp_path):
    message = refused(CASES / "B01.mlir", "sm_100a", tmp_path, "three", N=256)
    assert "accumulators need 768 columns of tensor memory, sm_100a has 512" in message
    assert message.count("note: 'accumulator' takes 1 x 256 columns") == 3


@pytest.mark.parametrize(("rows", "columns"), [(256, 256), (128, 256), (128, 512), (128, 24)])
def test_b01_accumulator_beside_its_left_operand(rows, columns, tmp_path, rng):
    program = Program(CASES / "B01.mlir", "sm_100a", tmp_path, "large", R=rows, N=columns)
    a, b = small(rng, (rows, 72), _BF16), small(rng, (columns, 72), _BF16)
    program.run({"A": a, "B": b}, {"C": 2 * product(a, b.T)}, orders=1)


@every_target
@pytest.mark.parametrize(("stages", "specialize"), [(1, "auto"), (3, "on")])
def test_b02_parts_of_k_that_are_empty(target, stages, specialize, tmp_path, rng):
    program = Program(CASES / "B02.mlir", target, tmp_path, STAGES=stages, SPECIALIZE=specialize)
    dtype = _F16 if target == "sm_75" else _BF16
    for ends in ([0, 8, 16, 16, 32], [0, 0, 0, 0], [3, 3, 40, 40, 57]):
        a, b = small(rng, (16, 64), dtype), small(rng, (64, 16), dtype)
        c = np.stack([product(a[:, i:j], b[i:j]) for i, j in itertools.pairwise(ends)])
        program.run({"A": a, "B": b, "ends": np.array(ends, _I32)}, {"C": c})


@every_target
def test_b02_more_parts_than_trips(target, tmp_path, rng):
    tiles = {"BM": 128 if target == "sm_100a" else 64, "BN": 64, "BK": 32, "T": "f16"}
    program = Program(LIBRARY / "gemm_split_k.mlir", target, tmp_path, **tiles)
    for k, splits in ((64, 7), (0, 3), (40, 2), (160, 4)):
        a, b = small(rng, (16, k), _F16), small(rng, (16, k), _F16)
        before = {"C": small(rng, (16, 16))}
        program.run({"A": a, "B": b}, {"C": before["C"] + product(a, b.T)}, {"splits": splits}, before)


_IEEE, _DEFAULT, _TF32 = "{precision = #tile.precision<ieee>}", "{}", "{precision = #tile.precision<tf32>}"


def near_one(rng, shape) -> np.ndarray:
    """Numbers whose last bits tf32 loses: +-(1 + j 2^-12)."""
    return ((1 + rng.integers(1, 8, shape) * 2.0**-12) * rng.choice([-1, 1], shape)).astype(_F32)


@every_target
@pytest.mark.parametrize("attributes", [_IEEE, _DEFAULT], ids=["ieee", "default"])
@pytest.mark.parametrize("kernel", ["product", "upcast", "chain"])
def test_q03_full_precision(target, kernel, attributes, tmp_path, rng):
    program = Program(CASES / "Q03.mlir", target, tmp_path, kernel, ATTRS=attributes)
    assert "tf32" not in program.ptx
    for draw in (near_one, lambda rng, shape: rng.standard_normal(shape).astype(_F32)):
        a, b, d = (draw(rng, (64, 64)) for _ in range(3))
        a = a.astype(_BF16) if kernel == "upcast" else a
        arrays, wide = {"A": a, "B": b}, [x.astype(np.float64) for x in (a, b, d)]
        if kernel == "chain":
            arrays["D"] = d
            exact, most = wide[0] @ wide[1].T @ wide[2], abs(wide[0]) @ abs(wide[1].T) @ abs(wide[2])
        else:
            exact, most = wide[0] @ wide[1], abs(wide[0]) @ abs(wide[1])
        # Relative to the sum of absolute products, which f32 sums keep to well below 1e-6.
        program.run(arrays, {"C": exact.astype(_F32)}, near={"C": (0, 1e-6 * most.min())})


@pytest.mark.parametrize("target", TARGETS[1:])
def test_q03_tf32_where_it_is_allowed(target, tmp_path):
    program = Program(CASES / "Q03.mlir", target, tmp_path, "product", ATTRS=_TF32)
    assert "tf32" in program.ptx


_EIGHT_BITS = {"f8E4M3FN": (_E4M3, 448), "f8E5M2": (_E5M2, 57344)}


def saturated(x: np.ndarray, name: str) -> np.ndarray:
    """The bits of x rounded once. What lies beyond the largest number, infinity too, becomes that number; a NaN is
    0x7f, as the instruction gives it on a GPU."""
    dtype, most = _EIGHT_BITS[name]
    with np.errstate(invalid="ignore"):
        z = np.clip(x, x.dtype.type(-most), x.dtype.type(most)).astype(dtype)
    return np.where(np.isnan(x), np.uint8(0x7F), z.view(np.uint8))


@pytest.mark.parametrize("target", TARGETS[2:])
@pytest.mark.parametrize("name", _EIGHT_BITS)
def test_q04_all_f16_to_8_bits(target, name, tmp_path):
    program = Program(CASES / "Q04.mlir", target, tmp_path, FROM="f16", TO=name)
    x = np.arange(1 << 16, dtype=np.uint16).view(_F16)
    z = saturated(x, name)
    program.run({"X": x}, {"Z": z}, before={"Z": 255 - z}, orders=1)


@pytest.mark.parametrize("target", TARGETS[2:])
@pytest.mark.parametrize("source", ["f32", "bf16"])
@pytest.mark.parametrize("name", _EIGHT_BITS)
def test_q04_wider_floats_to_8_bits(target, source, name, tmp_path, rng):
    """Every number of the result, every middle between two, one unit of f32 to both sides, and specials."""
    program = Program(CASES / "Q04.mlir", target, tmp_path, FROM=source, TO=name)
    dtype, most = _EIGHT_BITS[name]
    numbers = np.unique(np.arange(256, dtype=np.uint8).view(dtype).astype(_F32))
    numbers = numbers[np.isfinite(numbers)]
    middles = (numbers[1:] + numbers[:-1]) / 2
    places = np.concatenate([numbers, middles])
    special = np.array([np.inf, -np.inf, np.nan, most * 1.5, -0.0, 1.0625001, 1.125, 1e-30, 3e38], _F32)
    near = [np.nextafter(places, _F32(way)) for way in (np.inf, -np.inf)]
    x = np.concatenate([special, places, *near, rng.standard_normal(500).astype(_F32) * 100])
    x = x.astype(_BF16 if source == "bf16" else _F32)
    z = saturated(x, name)
    if source == "f32":
        assert (z[5:7].view(dtype) == (1.125 if name == "f8E4M3FN" else 1)).all()
    program.run({"X": x}, {"Z": z}, before={"Z": 255 - z}, orders=1)


@pytest.mark.parametrize("target", TARGETS[:2])
@pytest.mark.parametrize("name", _EIGHT_BITS)
def test_q04_refused_without_the_instruction(target, name, tmp_path):
    message = refused(CASES / "Q04.mlir", target, tmp_path, TO=name)
    assert "needs sm_89, sm_90, sm_90a, sm_100, sm_100a, sm_100f, sm_103a" in message
    assert f"the target is {target}" in message
