"""Cases W01 to W06 and T02 to T07 of test/Cases: copy warps, fences, and what TMA cannot take."""

from __future__ import annotations

import itertools

import ml_dtypes
import numpy as np
import pytest
from case_runs import (
    CASES,
    LIBRARY,
    PRODUCT,
    ROOT,
    TARGETS,
    Placed,
    Program,
    fresh_numbers,  # noqa: F401
    needs_tools,
    small,
)

pytestmark = needs_tools

every_target = pytest.mark.parametrize("target", TARGETS)
with_tma = pytest.mark.parametrize("target", TARGETS[2:])

_BF16, _F16, _F32, _I32 = ml_dtypes.bfloat16, np.float16, np.float32, np.int32


def half_type(target: str):
    """The 16-bit type that the target multiplies."""
    return _F16 if target == "sm_75" else _BF16


def product(a, b) -> np.ndarray:
    """a @ b in f32: exact, as the numbers are small integers."""
    return a.astype(_F32) @ b.astype(_F32)


@every_target
@pytest.mark.parametrize(("stages", "specialize"), [(1, "on"), (3, "on"), (1, "off")])
def test_w01_one_trip(target, stages, specialize, tmp_path, rng):
    if stages == 3 and target in ("sm_75", "sm_120a"):
        stages = {"sm_75": 1, "sm_120a": 2}[target]  # the most that their shared memory holds
    program = Program(CASES / "W01.mlir", target, tmp_path, STAGES=stages, SPECIALIZE=specialize)
    columns = 4096 if (stages, specialize) == (1, "on") and target != "sm_75" else 300
    for trips in (1, 0, 2, 5):
        width = columns if trips == 1 else 300
        x, w = small(rng, (1, 64 * trips), half_type(target)), small(rng, (64 * trips, width), half_type(target))
        program.run({"X": x, "W": w}, {"Y": product(x, w)})


@every_target
@pytest.mark.parametrize(
    ("kernel", "stages", "specialize"),
    [("stored", 1, "off"), ("stored", 3, "on"), ("multiplied", 2, "auto"), ("multiplied", 3, "on")],
)
def test_w03_empty_segments(target, kernel, stages, specialize, tmp_path, rng):
    rows = 128 if target == "sm_100a" else 64
    program = Program(CASES / "W03.mlir", target, tmp_path, kernel, STAGES=stages, SPECIALIZE=specialize)
    lengths = rng.permutation([0, 1, 5, 0, 2])
    ends = np.concatenate([[0], np.cumsum(lengths)]).astype(_I32)
    x = small(rng, (ends[-1], rows, 64))
    sums = np.stack([x[i:j].sum(axis=0) for i, j in itertools.pairwise(ends)])
    arrays = {"X": x.reshape(-1, 64), "ends": ends}
    if kernel == "multiplied":
        arrays["B"] = small(rng, (64, 64), _F16)
        sums = product(sums, arrays["B"].T)
    program.run(arrays, {"Z": sums.reshape(-1, 64)}, {"segments": len(lengths)}, orders=6)


@with_tma
@pytest.mark.parametrize("stages", [1, 3])
def test_w03_fence_before_every_bulk_store(target, stages, tmp_path):
    """On the way back from a bulk store, the fence comes before any write of shared memory."""
    lines = Program(CASES / "W03.mlir", target, tmp_path, "multiplied", STAGES=stages).ptx.splitlines()
    stores = [i for i, line in enumerate(lines) if "cp.async.bulk.tensor.2d.global.shared" in line]
    assert stores
    for store in stores:
        writes = [i for i in range(store) if "st.shared" in lines[i] or "stmatrix" in lines[i]]
        assert any("fence.proxy.async" in line for line in lines[writes[-1] : store]), f"PTX line {store + 1}"
        assert any("cp.async.bulk.wait_group" in line for line in lines[store:])


@every_target
@pytest.mark.parametrize(
    ("width", "align", "stages", "specialize"),
    [(250, 4, 2, "on"), (250, 4, 3, "on"), (250, 4, 2, "off"), (252, 16, 2, "on")],
)
def test_w06_plain_copies_beside_tma(target, width, align, stages, specialize, tmp_path, rng):
    rows = 128 if target == "sm_100a" else 64
    settings = {"STAGES": stages, "SPECIALIZE": specialize, "W": width, "ALIGN": align}
    program = Program(CASES / "W06.mlir", target, tmp_path, **settings)
    for trips in (1, 4, 0):
        q, s = small(rng, (trips, rows, 64), half_type(target)), small(rng, (trips, width))
        c = sum((product(tile, tile.T) for tile in q), np.zeros((rows, rows), _F32))
        arrays = {"Q": q.reshape(-1, 64), "S": Placed(s, dense=True, around=2)}
        outputs = {"C": c, "sum": Placed(s.sum(axis=0, keepdims=True), dense=True)}
        program.run(arrays, outputs)


_GEMM = {"BM": 64, "BN": 64, "BK": 32}


@every_target
def test_t02_rows_of_no_whole_units(target, tmp_path, rng):
    tiles = {**_GEMM, "BM": 128} if target == "sm_100a" else _GEMM
    dtype = half_type(target)
    a, b = small(rng, (65, 511), dtype), small(rng, (130, 511), dtype)
    c = product(a, b.T).astype(dtype)
    program = Program(ROOT / "examples" / "gemm.mlir", target, tmp_path, ALIGN=2, **tiles)
    arrays = {"A": Placed(a, dense=True), "B": Placed(b, dense=True)}
    program.run(arrays, {"C": Placed(c, dense=True)})


@every_target
def test_t02_promise_of_alignment_is_checked(target, tmp_path, rng):
    """A program that was promised rows of whole units is not launched for others."""
    tiles = {**_GEMM, "BM": 128} if target == "sm_100a" else _GEMM
    dtype = half_type(target)
    program = Program(ROOT / "examples" / "gemm.mlir", target, tmp_path, ALIGN=16, **tiles)
    a, b = Placed(small(rng, (65, 512), dtype), dense=True), Placed(small(rng, (130, 512), dtype), dense=True)
    c = Placed(small(rng, (65, 136), dtype), dense=True)
    odd = Placed(small(rng, (65, 511), dtype), dense=True), Placed(small(rng, (130, 511), dtype), dense=True)
    assert "A" in program.refused_run({"A": odd[0], "B": odd[1], "C": c})
    narrow = Placed(small(rng, (65, 130), dtype), dense=True)
    assert "C" in program.refused_run({"A": a, "B": b, "C": narrow})


@every_target
@pytest.mark.parametrize("align", [2, 16])
def test_t02_rows_known_when_compiled(target, align, tmp_path, rng):
    """The constant distance of rows counts, whatever is promised."""
    program = Program(CASES / "T02.mlir", target, tmp_path, ALIGN=align)
    dtype = half_type(target)
    a, b = small(rng, (65, 511), dtype), small(rng, (130, 511), dtype)
    # 8 rows of poison are whole units, so that the address keeps the promise.
    arrays = {"A": Placed(a, dense=True, around=8), "B": Placed(b, dense=True, around=8)}
    if align == 2:
        program.run(arrays, {"C": Placed(product(a, b.T), dense=True, around=2)})
    else:
        assert "cp.async.bulk.tensor" not in program.ptx


@every_target
def test_t02_ragged_columns_of_groups(target, tmp_path, rng):
    tiles = {"BM": 128 if target == "sm_100a" else 64, "BN": 64, "BK": 32, "T": "f16"}
    program = Program(LIBRARY / "gemm_grouped.mlir", target, tmp_path, ALIGN=2, **tiles)
    offsets = np.array([0, 3, 3, 70, 83], _I32)
    a, b = small(rng, (83, 40), _F16), small(rng, (4, 66, 40), _F16)
    groups = np.repeat(np.arange(4), np.diff(offsets))
    c = np.einsum("mk,mnk->mn", a.astype(_F32), b.astype(_F32)[groups]).astype(_F16)
    arrays = {"A": Placed(a, dense=True), "B": Placed(b, dense=True), "offsets": offsets}
    program.run(arrays, {"C": Placed(c, dense=True)}, options=["--processors=3"])


@every_target
@pytest.mark.parametrize(
    ("dtype", "width", "stages", "specialize"),
    [(_F16, 32, 2, "auto"), (_F16, 32, 3, "on"), (_F32, 16, 3, "auto")],
    ids=["f16-2", "f16-3", "f32-3"],
)
def test_t04_slots_below_the_alignment_of_tma(target, dtype, width, stages, specialize, tmp_path, rng):
    settings = {"T": f"f{8 * np.dtype(dtype).itemsize}", "W": width, "STAGES": stages, "SPECIALIZE": specialize}
    program = Program(CASES / "T04.mlir", target, tmp_path, **settings)
    for first, trips in ((0, 0), (16, 1), (0, stages + 1), (32, 17), (-16, 3)):
        check_pieces(program, rng, dtype, width, first, trips)
    if target in TARGETS[2:]:
        assert "cp.async.bulk" in program.ptx
        slots = [entry["offset"] for entry in program.record["memory"] if entry["name"].startswith("slot")]
        assert all(offset % 128 == 0 for offset in slots)


@every_target
@pytest.mark.parametrize("stages", [1, 3])
def test_t05_pieces_from_any_element(target, stages, tmp_path, rng):
    program = Program(CASES / "T04.mlir", target, tmp_path, KNOWN=1, STAGES=stages)
    for first in (0, 1, 3, 4, 8, -5):
        check_pieces(program, rng, _F16, 32, first, int(rng.integers(1, 6)))
    assert "cp.async.bulk" not in program.ptx


def check_pieces(program, rng, dtype, width, first, trips):
    """The sum of pieces; elements before and behind X count as zeros."""
    x = small(rng, 200, dtype)
    padded = np.concatenate([np.zeros(64, dtype), x, np.zeros(64 + 18 * width, dtype)])
    pieces = padded[64 + first : 64 + first + trips * width].reshape(trips, width)
    program.run({"X": x}, {"sum": pieces.sum(axis=0, dtype=dtype)}, {"first": first, "trips": trips})


@every_target
@pytest.mark.parametrize(("stages", "specialize"), [(1, "auto"), (2, "auto"), (3, "on")])
def test_t05_windows_that_begin_inside_a_unit(target, stages, specialize, tmp_path, rng):
    program = Program(CASES / "T05.mlir", target, tmp_path, "windows", STAGES=stages, SPECIALIZE=specialize)
    x = small(rng, (5 * 32, 50), _I32)
    padded = np.pad(x, ((0, 0), (64, 64))).reshape(5, 32, -1)
    for column, trips in ((1, 1), (1, 5), (0, 2), (3, 4), (4, 4), (-1, 2), (20, 3)):
        z = padded[:trips, :, 64 + column : 96 + column].sum(axis=0, dtype=_I32)
        program.run({"X": x}, {"Z": z}, {"column": column, "trips": trips})
    assert "cp.async.bulk.tensor.2d.shared" not in program.ptx


@every_target
@pytest.mark.parametrize("step", [1, 2])
def test_t05_elements_two_apart(target, step, tmp_path, rng):
    program = Program(CASES / "T05.mlir", target, tmp_path, "strided")
    q, k, v = (small(rng, (rows, 64), _F16, most=2) for rows in (64, 130, 130))
    o = product(product(q, k.T), v)
    program.run({name: Placed(x, step=step) for name, x in (("Q", q), ("K", k), ("V", v))}, {"O": o})
    assert "cp.async.bulk.tensor.2d.shared" not in program.ptx


BLOCKS = [("f16", _F16, 32, 48), ("f16", _F16, 32, 128), ("f32", _F32, 8, 512), ("f32", _F32, 512, 8),
          ("f32", _F32, 256, 8), ("f32", _F32, 257, 8), ("f32", _F32, 4, 257), ("i8", np.int8, 8, 256)]  # fmt: skip


@every_target
@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: f"{block[0]}-{block[2]}x{block[3]}")
def test_t07_tiles_over_a_box(target, block, tmp_path, rng):
    name, dtype, rows, columns = block
    program = Program(CASES / "T07.mlir", target, tmp_path, T=name, R=rows, C=columns)
    check_boxes(program)
    x = small(rng, (2 * rows + 3, columns), dtype)
    program.run({"X": x}, {"Z": x})
    x = small(rng, (rows, columns - 1), dtype)
    program.run({"X": x}, {"Z": x})


@every_target
@pytest.mark.parametrize("tiles", [("tt", 64, 48, 16), ("tn", 64, 64, 128), ("tn", 512, 16, 32), ("nt", 64, 64, 48)],
                         ids=lambda tiles: "-".join(map(str, tiles)))  # fmt: skip
def test_t07_operands_over_a_box(target, tiles, tmp_path, rng):
    orientation, m, n, k = tiles
    if target == "sm_75" and m == 512:
        pytest.skip("the accumulator is over the register file")
    program = Program(PRODUCT, target, tmp_path, orientation, T="f16", BM=m, BN=n, BK=k)
    check_boxes(program)
    a, b = small(rng, (m, k + 24), _F16), small(rng, (k + 24, n), _F16)
    stored = {"A": a if orientation[0] == "t" else a.T.copy(), "B": b.T.copy() if orientation[1] == "n" else b}
    program.run(stored, {"C": product(a, b)}, {"arg3": k + 24})


def check_boxes(program):
    """At most 256 elements along each dimension, and rows no wider than the swizzle."""
    sizes = {"f16": 2, "bf16": 2, "f32": 4, "i8": 1, "i32": 4}
    for entry in program.record["tensor_maps"]:
        assert all(1 <= extent <= 256 for extent in entry["box"]), entry
        size = sizes[program.record["args"][entry["arg"]]["dtype"]]
        assert entry["box"][0] * size % 16 == 0, entry
        assert not entry.get("swizzle") or entry["box"][0] * size <= entry["swizzle"], entry
