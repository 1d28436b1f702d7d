"""Gathers, scatters, atomic updates, single elements and tiles of fewer dimensions on the simulator, against numpy."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from tile_op_runs import TARGETS, Kernel, element, fresh_numbers, load, needs_tools, numbers, store, tile  # noqa: F401

pytestmark = [needs_tools, pytest.mark.parametrize("target", TARGETS)]

#: Rows and columns of tiles, and warps.
TILES = [((24, 40), 1), ((48, 8), 4), ((1, 96), 2), ((112, 1), 4), ((96, 64), 16), ((7, 24), 3)]
#: Elements of arrays for gathers and plain scatters.
MOVED = [np.float32, np.int8, np.float16, np.int64, np.float64, np.int16]
_BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
_COMBINE = {"add": np.add, "max": np.maximum, "min": np.minimum}


def label(case) -> str:
    """How pytest shows a shape and its warps."""
    return f"{'x'.join(map(str, case[0]))}-{case[1]}"


def places(rng, extent: int, count: int, dtype, *, distinct: bool = False) -> np.ndarray:
    """Places along a dimension of `extent`, some of them outside on both sides; `distinct` ones all differ."""
    low, high = -max(3, count // 4), max(extent, count) + 3
    chosen = rng.permutation(np.arange(low, high))[:count] if distinct else rng.integers(low, high, count)
    chosen = chosen.astype(dtype)
    if not distinct:
        chosen[rng.integers(count)] = rng.choice([np.iinfo(dtype).min, np.iinfo(dtype).max])
    return chosen


def gathered(x: np.ndarray, rows: np.ndarray, columns: np.ndarray, fill) -> np.ndarray:
    """x[rows, columns] with the fill for what is outside; rows and columns broadcast to the tile's extents."""
    rows, columns = np.broadcast_arrays(rows, columns)
    inside = (rows >= 0) & (rows < x.shape[0]) & (columns >= 0) & (columns < x.shape[1])
    return np.where(inside, x[np.where(inside, rows, 0), np.where(inside, columns, 0)], x.dtype.type(fill))


@pytest.mark.parametrize("case", TILES, ids=label)
def test_gather_of_rows(target, case, tmp_path, rng):
    """Rows named by a tile, columns from an index on; the array ends within the tile, or begins."""
    (m, n), warps = case
    x, kind = numbers(rng, (50, n + 5), rng.choice(MOVED)), rng.choice([np.int32, np.int64])
    p, start = places(rng, 50, m, kind), int(rng.choice([0, 5, 8, -1]))
    three = f"3{'.0' if x.dtype.kind == 'f' else ''} : {element(x.dtype)}"
    fill = rng.choice(["", f"{{fill = {three}}}"])
    body = f"""%p = {load("P", 1)}
%x = tile.gather %X[%p, %start] {fill} : !X, (!P_tile, index) -> !Z_tile
{store("%x", "Z", 2)}"""
    z = gathered(x, p[:, None], start + np.arange(n), 3 if fill else 0)
    Kernel(body, {"X": x, "P": p}, {"Z": z}, scalars={"start": start}, warps=warps).check(target, tmp_path)


@pytest.mark.parametrize("case", TILES, ids=label)
def test_gather_of_rows_and_columns(target, case, tmp_path, rng):
    (m, n), warps = case
    x = numbers(rng, (20, 30), rng.choice(MOVED))
    p, q = places(rng, 20, m, np.int32), places(rng, 30, n, np.int64)
    body = f"""%p = {load("P", 1)}
%q = {load("Q", 1)}
%x = tile.gather %X[%p, %q] : !X, (!P_tile, !Q_tile) -> !Z_tile
{store("%x", "Z", 2)}"""
    z = gathered(x, p[:, None], q, 0)
    Kernel(body, {"X": x, "P": p, "Q": q}, {"Z": z}, warps=warps).check(target, tmp_path)


@pytest.mark.parametrize("case", TILES, ids=label)
def test_gather_of_elements(target, case, tmp_path, rng):
    """A place for each element: along a row of its own."""
    (m, n), warps = case
    x, q = numbers(rng, (m, 30), rng.choice(MOVED)), places(rng, 30, m * n, np.int32).reshape(m, n)
    body = f"%q = {load('Q', 2)}\n%x = tile.gather %X[%c0, %q] : !X, (index, !Q_tile) -> !Z_tile\n{store('%x', 'Z', 2)}"
    z = gathered(x, np.arange(m)[:, None], q, 0)
    Kernel(body, {"X": x, "Q": q}, {"Z": z}, warps=warps).check(target, tmp_path)


@pytest.mark.parametrize("leading", [-1, 0, 2, 3])
def test_gather_from_more_dimensions(target, leading, tmp_path, rng):
    x, p = numbers(rng, (3, 20, 24)), places(rng, 20, 40, np.int32)
    body = f"""%p = {load("P", 1)}
%x = tile.gather %X[%i, %p, %c0] {{fill = 1.0 : f32}} : !X, (index, !P_tile, index) -> !Z_tile
{store("%x", "Z", 2)}"""
    z = gathered(x[leading], p[:, None], np.arange(24), 1) if 0 <= leading < 3 else np.ones((40, 24), np.float32)
    Kernel(body, {"X": x, "P": p}, {"Z": z}, scalars={"i": leading}, warps=4).check(target, tmp_path)


@pytest.mark.parametrize("case", TILES, ids=label)
def test_scatter(target, case, tmp_path, rng):
    """Rows that differ, so that every element has one writer; some are outside."""
    (m, n), warps = case
    x, p = numbers(rng, (m, n), rng.choice(MOVED)), places(rng, 40, m, rng.choice([np.int32, np.int64]), distinct=True)
    before = numbers(rng, (40, n), x.dtype)
    after = before.copy()
    inside = (p >= 0) & (p < 40)
    after[p[inside]] = x[inside]
    body = f"%x = {load('X', 2)}\n%p = {load('P', 1)}\ntile.scatter %x, %Z[%p, %c0] : !X_tile, !Z, (!P_tile, index)"
    Kernel(body, {"X": x, "P": p}, {"Z": after}, {"Z": before}, warps=warps).check(target, tmp_path)


def test_scatter_of_elements(target, tmp_path, rng):
    """A transposition within rows: the place of each element is a tile of its own."""
    x = numbers(rng, (24, 40))
    q = np.stack([rng.permutation(40) for _ in range(24)]).astype(np.int32)
    body = f"%x = {load('X', 2)}\n%q = {load('Q', 2)}\ntile.scatter %x, %Z[%c0, %q] : !X_tile, !Z, (index, !Q_tile)"
    z = np.empty_like(x)
    np.put_along_axis(z, q, x, axis=1)
    Kernel(body, {"X": x, "Q": q}, {"Z": z}, warps=4).check(target, tmp_path)


ATOMIC = [np.int32, np.int64, np.float16, _BFLOAT16, np.float32, np.float64]


@pytest.mark.parametrize("how", _COMBINE)
@pytest.mark.parametrize("dtype", ATOMIC, ids=element)
def test_scatter_that_combines(target, dtype, how, tmp_path, rng):
    """Many rows of the tile meet in one row of the array; the numbers are small enough for exact sums."""
    x, p = numbers(rng, (48, 8), dtype, -2, 2), rng.integers(-1, 4, 48).astype(np.int32)
    before = numbers(rng, (3, 8), dtype)
    after = before.copy()
    for row, values in zip(p, x, strict=True):
        if 0 <= row < 3:
            after[row] = _COMBINE[how](after[row], values)
    body = f"""%x = {load("X", 2)}
%p = {load("P", 1)}
tile.scatter combine #tile.combine<{how}> %x, %Z[%p, %c0] : !X_tile, !Z, (!P_tile, index)"""
    Kernel(body, {"X": x, "P": p}, {"Z": after}, {"Z": before}, warps=4).check(target, tmp_path)


@pytest.mark.parametrize("dtype", ATOMIC, ids=element)
def test_reduce_store(target, dtype, tmp_path, rng):
    """Three programs combine the same tile, which juts out of the array on all sides."""
    how, x = rng.choice(list(_COMBINE)), numbers(rng, (24, 40), dtype, -3, 3)
    before = numbers(rng, (20, 33), dtype)
    after = before.copy()
    for _ in range(3):
        after = _COMBINE[how](after, x[2:22, 5:38])
    body = f"""%x = {load("X", 2)}
tile.reduce_store #tile.combine<{how}> %x, %Z[%row, %column] : !X_tile, !Z"""
    scalars = {"row": -2, "column": -5}
    Kernel(body, {"X": x}, {"Z": after}, {"Z": before}, scalars, warps=4, programs=3).check(target, tmp_path)


@pytest.mark.parametrize("case", [((1,), 1), ((229,), 4), ((24,), 16), ((3, 5, 8), 4), ((2, 3, 4, 5), 2)], ids=label)
def test_reduce_store_once_for_each_element(target, case, tmp_path, rng):
    """Replicas of a tile among lanes and warps add nothing; tiles of each rank, with leading places."""
    shape, warps = case
    x, before = numbers(rng, shape), numbers(rng, (2, *shape))
    after = before.copy()
    after[1] += x
    offsets = ", ".join(["%c1"] + ["%c0"] * len(shape))
    body = f"%x = {load('X', len(shape))}\ntile.reduce_store #tile.combine<add> %x, %Z[{offsets}] : !X_tile, !Z"
    Kernel(body, {"X": x}, {"Z": after}, {"Z": before}, warps=warps).check(target, tmp_path)


@pytest.mark.parametrize("dtype", [*MOVED, np.int32, _BFLOAT16], ids=element)
def test_single_elements(target, dtype, tmp_path, rng):
    """Inside, before and behind the array: zero is read there, and nothing written."""
    x = numbers(rng, (5, 7), dtype)
    asked = [(2, 3), (-1, 3), (5, 0), (0, -1), (0, 7), (4, 6)]
    lines, z, w = [], np.zeros(len(asked), dtype), np.zeros((5, 7), dtype)
    for number, (row, column) in enumerate(asked):
        lines += [f"%r{number} = arith.constant {row} : index", f"%s{number} = arith.constant {column} : index"]
        lines += [f"%n{number} = arith.constant {number} : index"]
        lines += [f"%x{number} = tile.load_scalar %X[%r{number}, %s{number}] : !X -> {element(dtype)}"]
        lines += [f"tile.store_scalar %x{number}, %Z[%n{number}] : {element(dtype)}, !Z"]
        lines += [f"tile.store_scalar %x0, %W[%r{number}, %s{number}] : {element(dtype)}, !W"]
        if 0 <= row < 5 and 0 <= column < 7:
            z[number], w[row, column] = x[row, column], x[2, 3]
    Kernel("\n".join(lines), {"X": x}, {"Z": z, "W": w}, {"W": np.zeros_like(w)}, warps=4).check(target, tmp_path)


@pytest.mark.parametrize("tile_rank", [1, 2, 3, 4])
@pytest.mark.parametrize("leading", [-1, 1, 3])
def test_tiles_of_fewer_dimensions(target, tile_rank, leading, tmp_path, rng):
    """A slice of an array of five dimensions, moved to another one; outside, the fill is read and nothing written."""
    shape = (3, 2, 3, 4, 24)
    x, before = numbers(rng, shape), numbers(rng, shape)
    offsets = ", ".join(["%lead"] + ["%c1"] * (4 - tile_rank) + ["%c0"] * tile_rank)
    to = ", ".join(["%c1"] * (5 - tile_rank) + ["%c0"] * tile_rank)
    type_ = tile(shape[5 - tile_rank :], x.dtype)
    body = f"""%x = tile.load %X[{offsets}] {{fill = 5.0 : f32}} : !X -> {type_}
tile.store %x, %Z[{to}] : {type_}, !Z
tile.store %x, %W[{offsets}] : {type_}, !W"""
    ones = (1,) * (4 - tile_rank)
    inside = 0 <= leading < 3
    z, w = before.copy(), before.copy()
    z[(1, *ones)] = x[(leading, *ones)] if inside else 5
    if inside:
        w[(leading, *ones)] = x[(leading, *ones)]
    starts = {"Z": before, "W": before}
    Kernel(body, {"X": x}, {"Z": z, "W": w}, starts, {"lead": leading}, warps=4).check(target, tmp_path)


def test_matmul_of_slices(target, tmp_path, rng):
    """Operands of a pipelined matmul from arrays of three dimensions, one place along the first."""
    a, b = (numbers(rng, (3, 64, 128), np.float16, -3, 3) for _ in range(2))
    body = f"""%c64 = arith.constant 64 : index
%c128 = arith.constant 128 : index
%zero = arith.constant dense<0.0> : tensor<64x64xf32>
%r = tile.for %k = %c0 to %c128 step %c64 iter_args(%acc = %zero) -> (tensor<64x64xf32>) pipeline(stages = 2) {{
%a = tile.load %A[%i, %c0, %k] : !A -> tensor<64x64xf16>
%b = tile.load %B[%i, %c0, %k] : !B -> tensor<64x64xf16>
%s = tile.dot %a, %b transpose_b, %acc : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
tile.yield %s : tensor<64x64xf32>
}}
{store("%r", "Z", 2)}"""
    i = int(rng.choice([0, 2, 3]))
    z = (a[i].astype(np.float32) @ b[i].astype(np.float32).T) if i < 3 else np.zeros((64, 64), np.float32)
    Kernel(body, {"A": a, "B": b}, {"Z": z}, scalars={"i": i}, orders=6).check(target, tmp_path)


def test_reads_see_the_writes_before_them(target, tmp_path, rng):
    """An array turned in place, twice, and added to: each access waits for those before it."""
    x = numbers(rng, (48, 48))
    body = f"""%x = {load("Z", 2)}
%t = tile.transpose %x [1, 0] : !Z_tile -> !Z_tile
{store("%t", "Z", 2)}
%y = {load("Z", 2)}
%u = arith.addf %y, %x : !Z_tile
{store("%u", "Z", 2)}
%s = tile.load_scalar %Z[%c1, %c0] : !Z -> f32
tile.store_scalar %s, %Z[%c0, %c1] : f32, !Z"""
    z = x + x.T
    z[0, 1] = z[1, 0]
    Kernel(body, {}, {"Z": z}, {"Z": x}, warps=4, orders=6).check(target, tmp_path)


def test_later_writes_stay(target, tmp_path, rng):
    """Zeros, then rows at places, then a single element: threads that are late with one write do not undo the next."""
    x, p = numbers(rng, (16, 48), low=1), rng.permutation(40)[:16].astype(np.int32)
    body = f"""%zero = arith.constant dense<0.0> : !Z_tile
{store("%zero", "Z", 2)}
%x = {load("X", 2)}
%p = {load("P", 1)}
tile.scatter %x, %Z[%p, %c0] : !X_tile, !Z, (!P_tile, index)
%s = arith.constant 100.0 : f32
%c39 = arith.constant 39 : index
%c47 = arith.constant 47 : index
tile.store_scalar %s, %Z[%c39, %c47] : f32, !Z"""
    z = np.zeros((40, 48), np.float32)
    z[p] = x
    z[39, 47] = 100
    Kernel(body, {"X": x, "P": p}, {"Z": z}, warps=8, orders=6).check(target, tmp_path)


def test_writes_of_branches_in_a_loop(target, tmp_path):
    """One trip stores a tile, the next a single element of it."""
    body = """%c2 = arith.constant 2 : index
%c127 = arith.constant 127 : index
%s = arith.constant 5.0 : f32
%x = arith.constant dense<1.0> : !Z_tile
scf.for %i = %c0 to %c2 step %c1 {
%first = arith.cmpi eq, %i, %c0 : index
scf.if %first {
tile.store %x, %Z[%c0] : !Z_tile, !Z
} else {
tile.store_scalar %s, %Z[%c127] : f32, !Z
}
}"""
    z = np.ones(128, np.float32)
    z[127] = 5
    Kernel(body, {}, {"Z": z}, warps=4, orders=6).check(target, tmp_path)


def test_updates_that_do_not_commute(target, tmp_path):
    """A maximum, then a sum, by other threads."""
    body = """%three = arith.constant dense<3> : !Z_tile
%five = arith.constant dense<5> : !Z_tile
%last = arith.constant dense<127> : !Z_tile
%i = tile.iota axis 0 : !Z_tile
%turned = arith.subi %last, %i : !Z_tile
tile.reduce_store #tile.combine<max> %three, %Z[%c0] : !Z_tile, !Z
tile.scatter combine #tile.combine<add> %five, %Z[%turned] : !Z_tile, !Z, (!Z_tile)"""
    z = np.full(128, 8, np.int32)
    Kernel(body, {}, {"Z": z}, {"Z": np.zeros_like(z)}, warps=4, orders=6).check(target, tmp_path)
