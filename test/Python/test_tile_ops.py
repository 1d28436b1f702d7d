"""Coordinates, changes of shape, reductions and scans on the simulator, against numpy.

Extents that are no powers of two, odd ones, single elements, all ranks, one warp to sixteen; every run looks for races.
"""

from __future__ import annotations

import functools

import numpy as np
import pytest
from tile_op_runs import TARGETS, Kernel, element, fresh_numbers, load, needs_tools, numbers, store, tile  # noqa: F401

pytestmark = [needs_tools, pytest.mark.parametrize("target", TARGETS)]

#: Shapes of every rank, and warps for them.
SHAPES = [((24,), 1), ((229,), 4), ((1,), 2), ((112, 40), 4), ((1, 96), 16), ((48, 1), 1), ((229, 2), 8),
          ((3, 5, 24), 3), ((2, 48, 40), 8), ((2, 3, 5, 8), 4), ((1, 24, 1, 16), 2)]  # fmt: skip

#: Shapes and axes of reductions: within warps, across them, across groups of them, along one element.
REDUCTIONS = [((24,), 0, 1), ((229,), 0, 4), ((1024,), 0, 16), ((1,), 0, 4), ((112, 40), 0, 4), ((112, 40), 1, 4),
              ((96, 64), 0, 3), ((96, 64), 0, 12), ((64, 229), 1, 2), ((229, 64), 0, 8), ((1, 64), 0, 4),
              ((64, 1), 1, 4), ((2, 48, 40), 0, 4), ((2, 48, 40), 1, 4), ((3, 5, 24), 2, 1), ((2, 3, 40, 8), 2, 8),
              ((16, 3, 2, 8), 0, 16)]  # fmt: skip

#: Rows that lanes share, rows of registers alone, several repetitions of 128.
SCANS = [((24,), 0, 1), ((96,), 0, 4), ((512,), 0, 2), ((1,), 0, 1), ((640, 3), 0, 4), ((40, 48), 1, 4),
         ((40, 48), 0, 4), ((112, 24), 0, 16), ((5, 256), 1, 3), ((3, 40, 8), 1, 1), ((2, 3, 4, 48), 3, 4),
         ((48, 2, 3, 1), 0, 2), ((37, 8), 0, 4), ((229,), 0, 4), ((3, 65), 1, 2)]  # fmt: skip

_COMBINE = {
    "add": (np.add, {"f": "arith.addf", "i": "arith.addi"}),
    "max": (np.maximum, {"f": "arith.maximumf", "i": "arith.maxsi"}),
    "min": (np.minimum, {"f": "arith.minnumf", "i": "arith.minsi"}),
}


def label(case) -> str:
    """How pytest shows a shape, and what goes with it."""
    shape, *rest = case
    return "-".join(["x".join(map(str, shape)), *map(str, rest)])


def combined(op: str, source: str, axis: int, how: str, source_type: str, result_type: str, scalar: str) -> str:
    """A reduction or a scan of one tile by `how`."""
    inner = _COMBINE[how][1][scalar[0] if scalar[0] == "i" else "f"]
    return (
        f"{op} {source} axis {axis} {{\n^bb0(%a: {scalar}, %b: {scalar}):\n%c = {inner} %a, %b : {scalar}\n"
        f"tile.yield %c : {scalar}\n}} : ({source_type}) -> {result_type}"
    )


def reduction(rank: int, axis: int, shape, dtype, how: str) -> str:
    """Reads %X, reduces it, and writes %Z."""
    scalar = element(dtype)
    result = tile(np.delete(shape, axis), dtype) if rank > 1 else scalar
    reduce = combined("%r = tile.reduce", "%x", axis, how, tile(shape, dtype), result, scalar)
    end = store("%r", "Z", rank - 1) if rank > 1 else f"tile.store_scalar %r, %Z[%c0] : {scalar}, !Z"
    return f"%x = {load('X', rank)}\n{reduce}\n{end}"


@pytest.mark.parametrize("case", SHAPES, ids=label)
def test_iota(target, case, tmp_path, rng):
    shape, warps = case
    for axis in {0, len(shape) - 1}:
        dtype = rng.choice([np.int8, np.int16, np.int32, np.int64] if shape[axis] <= 128 else [np.int16, np.int32])
        body = f"%i = tile.iota axis {axis} : !Z_tile\n{store('%i', 'Z', len(shape))}"
        Kernel(body, {}, {"Z": np.indices(shape)[axis].astype(dtype)}, warps=warps).check(target, tmp_path)


@pytest.mark.parametrize("case", [case for case in SHAPES if len(case[0]) > 1], ids=label)
def test_transpose(target, case, tmp_path, rng):
    shape, warps = case
    order = [int(dim) for dim in rng.permutation(len(shape))]
    x = numbers(rng, shape, rng.choice([np.float32, np.int8, np.float64, np.float16]))
    body = f"%x = {load('X', x.ndim)}\n%t = tile.transpose %x {order} : !X_tile -> !Z_tile\n{store('%t', 'Z', x.ndim)}"
    Kernel(body, {"X": x}, {"Z": np.ascontiguousarray(x.transpose(order))}, warps=warps).check(target, tmp_path)


RESHAPES = [((16, 32), (512,), 4), ((229,), (229, 1), 1), ((24, 40), (40, 24), 4), ((48, 1), (48,), 2),
            ((1, 24, 1, 40), (24, 40), 4), ((96,), (2, 3, 4, 4), 4), ((2, 3, 5, 8), (30, 8), 8), ((7, 11), (11, 7), 16),
            ((1,), (1, 1, 1, 1), 1), ((112, 24), (2, 56, 24), 3)]  # fmt: skip


@pytest.mark.parametrize("case", RESHAPES, ids=lambda case: f"{label(case[:1])}-to-{label(case[1:])}")
def test_reshape(target, case, tmp_path, rng):
    shape, result, warps = case
    x = numbers(rng, shape, rng.choice([np.float32, np.int8, np.float64, np.float16]))
    body = f"%x = {load('X', x.ndim)}\n%r = tile.reshape %x : !X_tile -> !Z_tile\n{store('%r', 'Z', len(result))}"
    Kernel(body, {"X": x}, {"Z": x.reshape(result)}, warps=warps).check(target, tmp_path)


@pytest.mark.parametrize("case", REDUCTIONS, ids=label)
def test_reduce(target, case, tmp_path, rng):
    shape, axis, warps = case
    how = rng.choice(list(_COMBINE))
    x = numbers(rng, shape, rng.choice([np.float32, np.int32, np.float64, np.int64]))
    z = np.atleast_1d(_COMBINE[how][0].reduce(x, axis=axis, dtype=x.dtype))
    body = reduction(x.ndim, axis, shape, x.dtype, how)
    Kernel(body, {"X": x}, {"Z": z}, warps=warps).check(target, tmp_path)


@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.float16], ids=lambda dtype: dtype.__name__)
def test_reduce_of_narrow_elements(target, dtype, tmp_path, rng):
    x = numbers(rng, (48, 40), dtype)
    body = reduction(2, 0, x.shape, dtype, "max")
    Kernel(body, {"X": x}, {"Z": x.max(axis=0)}, warps=4).check(target, tmp_path)


@pytest.mark.parametrize("axis", [0, 1])
def test_reduce_of_bits(target, axis, tmp_path, rng):
    """Whether any element of a row is negative: single bits, and what crosses warps travels as bytes."""
    x = numbers(rng, (48, 40), np.int32, low=-1, high=30)
    other = tile((40, 48)[axis : axis + 1], np.int32).replace("i32", "i1")
    body = f"""%x = {load("X", 2)}
%zero = arith.constant dense<0> : !X_tile
%p = arith.cmpi slt, %x, %zero : !X_tile
%r = tile.reduce %p axis {axis} {{
^bb0(%a: i1, %b: i1):
%c = arith.ori %a, %b : i1
tile.yield %c : i1
}} : (tensor<48x40xi1>) -> {other}
%w = arith.extui %r : {other} to !Z_tile
{store("%w", "Z", 1)}"""
    Kernel(body, {"X": x}, {"Z": (x < 0).any(axis=axis).astype(np.int32)}, warps=4).check(target, tmp_path)


@pytest.mark.parametrize("case", [case for case in REDUCTIONS if len(case[0]) > 1][::2], ids=label)
def test_argmax(target, case, tmp_path, rng):
    """Two sources together: the largest, and its first place."""
    shape, axis, warps = case
    x = numbers(rng, shape)
    body = f"""%x = {load("X", x.ndim)}
%i = tile.iota axis {axis} : {tile(shape, np.int32)}
%r:2 = tile.reduce %x, %i axis {axis} {{
^bb0(%xa: f32, %ia: i32, %xb: f32, %ib: i32):
%gt = arith.cmpf ogt, %xa, %xb : f32
%eq = arith.cmpf oeq, %xa, %xb : f32
%lt = arith.cmpi slt, %ia, %ib : i32
%tie = arith.andi %eq, %lt : i1
%p = arith.ori %gt, %tie : i1
%xm = arith.select %p, %xa, %xb : f32
%im = arith.select %p, %ia, %ib : i32
tile.yield %xm, %im : f32, i32
}} : (!X_tile, {tile(shape, np.int32)}) -> (!Z_tile, !I_tile)
{store("%r#0", "Z", x.ndim - 1)}
{store("%r#1", "I", x.ndim - 1)}"""
    outputs = {"Z": x.max(axis=axis), "I": x.argmax(axis=axis).astype(np.int32)}
    Kernel(body, {"X": x}, outputs, warps=warps).check(target, tmp_path)


@pytest.mark.parametrize("case", SCANS, ids=label)
def test_scan(target, case, tmp_path, rng):
    shape, axis, warps = case
    reverse = rng.integers(2)
    how = rng.choice(list(_COMBINE))
    x = numbers(rng, shape, rng.choice([np.float32, np.int32, np.int64]))
    scan = combined("%r = tile.scan", "%x", axis, how, "!X_tile", "!X_tile", element(x.dtype))
    scan = scan.replace(f"axis {axis} {{", f"axis {axis} attributes {{reverse}} {{") if reverse else scan
    body = f"%x = {load('X', x.ndim)}\n{scan}\n{store('%r', 'Z', x.ndim)}"
    back = functools.partial(np.flip, axis=axis) if reverse else np.asarray
    z = back(_COMBINE[how][0].accumulate(back(x), axis=axis, dtype=x.dtype))
    Kernel(body, {"X": x}, {"Z": z}, warps=warps).check(target, tmp_path)


@pytest.mark.parametrize("reverse", [False, True], ids=["forward", "reverse"])
@pytest.mark.parametrize("case", SCANS[::2], ids=label)
def test_scan_keeps_the_order(target, case, reverse, tmp_path, rng):
    """The composition of x -> a x + b, which does not commute, as a scan of two sources."""
    shape, axis, warps = case
    a, b = numbers(rng, shape, np.int32, low=-3, high=3), numbers(rng, shape, np.int32)
    attributes = " attributes {reverse}" if reverse else ""
    body = f"""%a = {load("A", a.ndim)}
%b = {load("B", a.ndim)}
%r:2 = tile.scan %a, %b axis {axis}{attributes} {{
^bb0(%a1: i32, %b1: i32, %a2: i32, %b2: i32):
%p = arith.muli %a1, %a2 : i32
%m = arith.muli %a2, %b1 : i32
%q = arith.addi %m, %b2 : i32
tile.yield %p, %q : i32, i32
}} : (!A_tile, !B_tile) -> (!A_tile, !B_tile)
{store("%r#0", "P", a.ndim)}
{store("%r#1", "Q", a.ndim)}"""
    p, q = composed(a, b, axis, reverse)
    Kernel(body, {"A": a, "B": b}, {"P": p, "Q": q}, warps=warps).check(target, tmp_path)


def composed(a: np.ndarray, b: np.ndarray, axis: int, reverse: bool) -> tuple[np.ndarray, np.ndarray]:
    """Products and constants of the compositions, modulo 2^32; of two partial results the earlier one is inner.

    A reverse scan gives at each place what the places from there to the end make together, in their order.
    """
    a, b = (np.moveaxis(x.astype(np.int64), axis, 0) for x in (a, b))
    p, q = a.copy(), b.copy()
    with np.errstate(over="ignore"):
        for i in reversed(range(len(a) - 1)) if reverse else range(1, len(a)):
            if reverse:  # a[i], b[i], then what follows
                p[i], q[i] = a[i] * p[i + 1], p[i + 1] * b[i] + q[i + 1]
            else:
                p[i], q[i] = p[i - 1] * a[i], a[i] * q[i - 1] + b[i]
            p[i], q[i] = (x.astype(np.uint64).astype(np.uint32).astype(np.int32) for x in (p[i], q[i]))
    return tuple(np.moveaxis(x.astype(np.int32), 0, axis) for x in (p, q))


def test_reduction_within_a_pipelined_loop(target, tmp_path, rng):
    """Sums of rows, in trips whose copies run ahead, then their scan: an online softmax without the exponentials."""
    x = numbers(rng, (48, 160))
    body = f"""%c40 = arith.constant 40 : index
%c160 = arith.constant 160 : index
%zero = arith.constant dense<0.0> : tensor<48xf32>
%s = tile.for %k = %c0 to %c160 step %c40 iter_args(%acc = %zero) -> (tensor<48xf32>) pipeline(stages = 3) {{
%x = tile.load %X[%c0, %k] : !X -> tensor<48x40xf32>
{combined("%r = tile.reduce", "%x", 1, "add", "tensor<48x40xf32>", "tensor<48xf32>", "f32")}
%t = arith.addf %acc, %r : tensor<48xf32>
tile.yield %t : tensor<48xf32>
}}
{combined("%z = tile.scan", "%s", 0, "max", "tensor<48xf32>", "tensor<48xf32>", "f32")}
{store("%z", "Z", 1)}"""
    z = np.maximum.accumulate(x.sum(axis=1))
    Kernel(body, {"X": x}, {"Z": z}, orders=4).check(target, tmp_path)


@pytest.mark.parametrize("axis", [0, 1], ids=["columns", "rows"])
def test_reduction_of_products(target, axis, tmp_path, rng):
    """The largest element of each column, or row, of all products of a pipelined loop: across warps and within them."""
    a, b = numbers(rng, (128, 64), np.float16, -4, 4), numbers(rng, (192, 64), np.float16, -4, 4)
    extent = (64, 128)[axis]
    body = f"""%c64 = arith.constant 64 : index
%c192 = arith.constant 192 : index
%zero = arith.constant dense<0.0> : tensor<128x64xf32>
%low = arith.constant dense<-1.0e6> : tensor<{extent}xf32>
%r = tile.for %n = %c0 to %c192 step %c64 iter_args(%m = %low) -> (tensor<{extent}xf32>) pipeline(stages = 2) {{
%x = tile.load %A[%c0, %c0] : !A -> tensor<128x64xf16>
%y = tile.load %B[%n, %c0] : !B -> tensor<64x64xf16>
%p = tile.dot %x, %y transpose_b, %zero : tensor<128x64xf16>, tensor<64x64xf16> -> tensor<128x64xf32>
{combined("%largest = tile.reduce", "%p", axis, "max", "tensor<128x64xf32>", f"tensor<{extent}xf32>", "f32")}
%u = arith.maximumf %m, %largest : tensor<{extent}xf32>
tile.yield %u : tensor<{extent}xf32>
}}
{store("%r", "Z", 1)}"""
    products = (a.astype(np.float32) @ b.astype(np.float32).T).reshape(128, 3, 64)
    Kernel(body, {"A": a, "B": b}, {"Z": products.max(axis=1).max(axis=axis)}, orders=4).check(target, tmp_path)
