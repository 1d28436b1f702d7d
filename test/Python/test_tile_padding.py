"""Tiles of odd extents, which are padded, in the middle of larger arrays.

What lies behind an extent is neither reduced nor written, whatever it is.
"""

from __future__ import annotations

import numpy as np
import pytest
from tile_op_runs import TARGETS, Kernel, element, fresh_numbers, needs_tools, numbers, tile  # noqa: F401

pytestmark = [needs_tools, pytest.mark.parametrize("target", TARGETS)]

#: Extents, and warps that would find no element of their own.
EXTENTS = [((3, 127), 4), ((4, 1000), 4), ((1, 229), 8), ((37, 5), 4), ((2, 3, 29), 2)]


def label(case) -> str:
    shape, warps = case
    return f"{'x'.join(map(str, shape))}-{warps}"


def around(rng, shape, dtype=np.float32) -> tuple[np.ndarray, tuple[slice, ...], str]:
    """A larger array of numbers, where the tile is in it, and its offsets."""
    larger = numbers(rng, [extent + 8 + extent // 3 for extent in shape], dtype)
    starts = [4 if dim == len(shape) - 1 else 1 for dim in range(len(shape))]
    return (
        larger,
        tuple(slice(s, s + e) for s, e in zip(starts, shape, strict=True)),
        ", ".join(f"%o{s}" for s in starts),
    )


def offsets() -> str:
    return "%o1 = arith.constant 1 : index\n%o4 = arith.constant 4 : index\n"


def combine(op: str, kind: str, results: str) -> str:
    return f"{{\n^bb0(%a: f32, %b: f32):\n%c = {op} %a, %b : f32\ntile.yield %c : f32\n}} : ({kind}) -> {results}"


@pytest.mark.parametrize("case", EXTENTS, ids=label)
def test_store_leaves_the_rest(target, case, tmp_path, rng):
    shape, warps = case
    x, part, places = around(rng, shape)
    before = numbers(rng, x.shape)
    after = before.copy()
    after[part] = 2 * x[part]
    kind = tile(shape, np.float32)
    body = f"""{offsets()}%x = tile.load %X[{places}] : !X -> {kind}
%y = arith.addf %x, %x : {kind}
tile.store %y, %Z[{places}] : {kind}, !Z"""
    Kernel(body, {"X": x}, {"Z": after}, before={"Z": before}, warps=warps).check(target, tmp_path)


@pytest.mark.parametrize("op", ["arith.addf", "arith.mulf", "arith.maximumf", "arith.minnumf"])
@pytest.mark.parametrize("case", EXTENTS, ids=label)
def test_reduction_leaves_the_rest(target, case, op, tmp_path, rng):
    shape, warps = case
    x, part, places = around(rng, shape)
    x -= 20.0  # the rest would be seen in a maximum,
    x[part] += 17.0
    if op == "arith.minnumf":
        x = -x  # in a minimum,
    if op == "arith.mulf":
        x[part] = rng.choice([-1.0, 1.0, 1.0], shape)  # and in a product
    numpy_op = {"addf": np.add, "mulf": np.multiply, "maximumf": np.maximum, "minnumf": np.minimum}[op.split(".")[1]]
    axis = len(shape) - 1
    kind, row = tile(shape, np.float32), tile(shape[:-1], np.float32)
    zeros = ", ".join(["%c0"] * axis)
    body = f"""{offsets()}%x = tile.load %X[{places}] : !X -> {kind}
%r = tile.reduce %x axis {axis} {combine(op, kind, row)}
tile.store %r, %Z[{zeros}] : {row}, !Z"""
    Kernel(body, {"X": x}, {"Z": numpy_op.reduce(x[part], axis=axis)}, warps=warps).check(target, tmp_path)


@pytest.mark.parametrize("reverse", ["", " attributes {reverse}"], ids=["forward", "reverse"])
def test_scan_leaves_the_rest(target, reverse, tmp_path, rng):
    x, part, places = around(rng, (3, 127))
    before = numbers(rng, x.shape)
    kind = tile((3, 127), np.float32)
    body = f"""{offsets()}%x = tile.load %X[{places}] : !X -> {kind}
%s = tile.scan %x axis 1{reverse} {combine("arith.addf", kind, kind)}
tile.store %s, %Z[{places}] : {kind}, !Z"""
    after = before.copy()
    step = -1 if reverse else 1
    after[part] = np.cumsum(x[part][:, ::step], axis=1)[:, ::step]
    Kernel(body, {"X": x}, {"Z": after}, before={"Z": before}, warps=4).check(target, tmp_path)


def test_largest_and_its_place(target, tmp_path, rng):
    """What is combined in a way of its own keeps its extents."""
    x, part, places = around(rng, (3, 127))
    kind, integers = tile((3, 127), np.float32), tile((3, 127), np.int32)
    body = f"""{offsets()}%x = tile.load %X[{places}] : !X -> {kind}
%i = tile.iota axis 1 : {integers}
%m:2 = tile.reduce %x, %i axis 1 {{
^bb0(%a: f32, %j: i32, %b: f32, %k: i32):
%gt = arith.cmpf ogt, %a, %b : f32
%eq = arith.cmpf oeq, %a, %b : f32
%lt = arith.cmpi slt, %j, %k : i32
%tie = arith.andi %eq, %lt : i1
%first = arith.ori %gt, %tie : i1
%c = arith.select %first, %a, %b : f32
%l = arith.select %first, %j, %k : i32
tile.yield %c, %l : f32, i32
}} : ({kind}, {integers}) -> (tensor<3xf32>, tensor<3xi32>)
tile.store %m#1, %Z[%c0] : tensor<3xi32>, !Z"""
    Kernel(body, {"X": x}, {"Z": x[part].argmax(axis=1).astype(np.int32)}, warps=4).check(target, tmp_path)


def test_atomics_and_scatters_leave_the_rest(target, tmp_path, rng):
    x, part, places = around(rng, (3, 127))
    added, scattered = numbers(rng, x.shape), numbers(rng, (3, 300))
    at = rng.permutation(300)[:127].astype(np.int32)
    kind = tile((3, 127), np.float32)
    body = f"""{offsets()}%x = tile.load %X[{places}] : !X -> {kind}
tile.reduce_store <add> %x, %A[{places}] : {kind}, !A
%p = tile.load %P[%c0] : !P -> tensor<127xi32>
tile.scatter %x, %S[%c0, %p] : {kind}, !S, (index, tensor<127xi32>)"""
    sums, spread = added.copy(), scattered.copy()
    sums[part] += x[part]
    spread[:, at] = x[part]
    more = np.concatenate([at, np.arange(20, dtype=np.int32)])  # places that are no longer the tile's
    before = {"A": added, "S": scattered}
    Kernel(body, {"X": x, "P": more}, {"A": sums, "S": spread}, before=before, warps=4).check(target, tmp_path)


def test_gathered_rows_leave_the_rest(target, tmp_path, rng):
    x, before = numbers(rng, (50, 260)), numbers(rng, (40, 260))
    at = rng.integers(0, 50, 29).astype(np.int32)
    kind = tile((29, 127), np.float32)
    body = f"""{offsets()}%p = tile.load %P[%c0] : !P -> tensor<29xi32>
%x = tile.gather %X[%p, %o4] : !X, (tensor<29xi32>, index) -> {kind}
tile.store %x, %Z[%o1, %o4] : {kind}, !Z"""
    after = before.copy()
    after[1:30, 4:131] = x[at, 4:131]
    Kernel(body, {"X": x, "P": at}, {"Z": after}, before={"Z": before}, warps=8).check(target, tmp_path)


@pytest.mark.parametrize("stages", [1, 3])
def test_tiles_that_a_loop_carries(target, stages, tmp_path, rng):
    """Sums of odd tiles that are loaded ahead: 127 columns of an array that has more."""
    x = numbers(rng, (5 * 16, 300))
    before = numbers(rng, (20, 300))
    kind = tile((16, 127), np.float32)
    body = f"""{offsets()}%rows = arith.constant 80 : index
%step = arith.constant 16 : index
%zero = arith.constant dense<0.0> : {kind}
%s = tile.for %i = %c0 to %rows step %step iter_args(%acc = %zero) -> ({kind}) pipeline(stages = {stages}) {{
  %x = tile.load %X[%i, %o4] : !X -> {kind}
  %y = arith.addf %acc, %x : {kind}
  tile.yield %y : {kind}
}}
tile.store %s, %Z[%o1, %o4] : {kind}, !Z"""
    after = before.copy()
    after[1:17, 4:131] = x.reshape(5, 16, 300)[..., 4:131].sum(axis=0)
    Kernel(body, {"X": x}, {"Z": after}, before={"Z": before}, warps=8).check(target, tmp_path)
