"""Splits and joins on the simulator, against numpy: pairs as they lie, neighbouring columns, operands of matmuls."""

from __future__ import annotations

import numpy as np
import pytest
from tile_op_runs import TARGETS, Kernel, element, fresh_numbers, load, needs_tools, numbers, store, tile  # noqa: F401

pytestmark = [needs_tools, pytest.mark.parametrize("target", TARGETS)]

_DTYPES = (np.float32, np.int8, np.float64, np.float16)
#: Shapes of halves, and warps for them.
HALVES = [((24,), 1), ((229,), 4), ((1,), 2), ((16, 40), 4), ((3, 5, 24), 3), ((2, 48, 8), 8)]


def label(case) -> str:
    shape, warps = case
    return f"{'x'.join(map(str, shape))}-{warps}"


@pytest.mark.parametrize("case", HALVES, ids=label)
def test_split(target, case, tmp_path, rng):
    shape, warps = case
    x = numbers(rng, (*shape, 2), rng.choice(_DTYPES))
    stores = "\n".join(store(f"%{name.lower()}", name, len(shape)) for name in "AB")
    body = f"%x = {load('X', x.ndim)}\n%a, %b = tile.split %x : !X_tile -> !A_tile\n{stores}"
    Kernel(body, {"X": x}, {"A": x[..., 0].copy(), "B": x[..., 1].copy()}, warps=warps).check(target, tmp_path)


@pytest.mark.parametrize("case", HALVES, ids=label)
def test_join(target, case, tmp_path, rng):
    shape, warps = case
    dtype = rng.choice(_DTYPES)
    a, b = numbers(rng, shape, dtype), numbers(rng, shape, dtype)
    loads = "\n".join(f"%{name.lower()} = {load(name, len(shape))}" for name in "AB")
    body = f"{loads}\n%z = tile.join %a, %b : !A_tile -> !Z_tile\n{store('%z', 'Z', len(shape) + 1)}"
    Kernel(body, {"A": a, "B": b}, {"Z": np.stack([a, b], axis=-1)}, warps=warps).check(target, tmp_path)


@pytest.mark.parametrize("case", [((16, 64), 4), ((3, 48), 2), ((5, 254), 4), ((1, 8), 1), ((8, 1024), 8)], ids=label)
def test_neighbours_change_places(target, case, tmp_path, rng):
    """Columns 2i and 2i + 1, by way of reshapes; scans want a layout of their own between."""
    (rows, columns), warps = case
    x = numbers(rng, (rows, columns), rng.choice((np.float32, np.int32, np.float16)))
    pairs, half = tile((rows, columns // 2, 2), x.dtype), tile((rows, columns // 2), x.dtype)
    body = f"""\
%x = {load("X", 2)}
%p = tile.reshape %x : !X_tile -> {pairs}
%a, %b = tile.split %p : {pairs} -> {half}
%j = tile.join %b, %a : {half} -> {pairs}
%z = tile.reshape %j : {pairs} -> !X_tile
{store("%z", "Z", 2)}"""
    swapped = x.reshape(rows, -1, 2)[..., ::-1].reshape(rows, columns)
    Kernel(body, {"X": x}, {"Z": np.ascontiguousarray(swapped)}, warps=warps).check(target, tmp_path)


def test_halves_of_a_scanned_tile(target, tmp_path, rng):
    """The layout that a scan wants, and that of a product, have the pairs where they have them."""
    x = numbers(rng, (16, 64), np.float32)
    body = f"""\
%x = {load("X", 2)}
%s = tile.scan %x axis 1 {{
^bb0(%a: f32, %b: f32):
%c = arith.addf %a, %b : f32
tile.yield %c : f32
}} : (!X_tile) -> !X_tile
%p = tile.reshape %s : !X_tile -> tensor<16x32x2xf32>
%even, %odd = tile.split %p : tensor<16x32x2xf32> -> !Z_tile
%d = arith.subf %odd, %even : !Z_tile
{store("%d", "Z", 2)}"""
    Kernel(body, {"X": x}, {"Z": x[:, 1::2].copy()}, warps=4).check(target, tmp_path)


@pytest.mark.parametrize("dtype", [np.float16, np.float32], ids=lambda dtype: dtype.__name__)
def test_joined_operand_of_a_matmul(target, dtype, tmp_path, rng):
    """Neighbours along K: of 16 bits they share a register, of 32 bits (tf32) neighbouring lanes hold them."""
    a, b = numbers(rng, (64, 16), dtype), numbers(rng, (64, 16), dtype)
    w = numbers(rng, (32, 32), dtype)
    whole, pairs = tile((64, 32), dtype), tile((64, 16, 2), dtype)
    precision = " {precision = #tile.precision<tf32>}" if dtype is np.float32 else ""
    body = f"""\
%a = {load("A", 2)}
%b = {load("B", 2)}
%w = {load("W", 2)}
%j = tile.join %a, %b : !A_tile -> {pairs}
%x = tile.reshape %j : {pairs} -> {whole}
%zero = arith.constant dense<0.0> : !Z_tile
%z = tile.dot %x, %w transpose_b, %zero{precision} : {whole}, !W_tile -> !Z_tile
{store("%z", "Z", 2)}"""
    x = np.stack([a, b], axis=-1).reshape(64, 32).astype(np.float32)
    Kernel(body, {"A": a, "B": b, "W": w}, {"Z": x @ w.astype(np.float32).T}, warps=4).check(target, tmp_path)


def test_interleaved_4_bit_weights(target, tmp_path, rng):
    """Weight 2i in the low half of byte i, weight 2i + 1 in the high half: unpacked, joined, and multiplied."""
    weights = rng.integers(-8, 7, (64, 64), endpoint=True)
    packed = ((weights[:, 0::2] & 15) | (weights[:, 1::2] << 4)).astype(np.uint8).view(np.int8)
    x = numbers(rng, (32, 64), np.float16)
    body = f"""\
%q = {load("Q", 2)}
%x = {load("X", 2)}
%four = arith.constant dense<4> : !Q_tile
%up = arith.shli %q, %four : !Q_tile
%low = arith.shrsi %up, %four : !Q_tile
%high = arith.shrsi %q, %four : !Q_tile
%j = tile.join %low, %high : !Q_tile -> tensor<64x32x2xi8>
%w = tile.reshape %j : tensor<64x32x2xi8> -> tensor<64x64xi8>
%wide = arith.sitofp %w : tensor<64x64xi8> to tensor<64x64xf16>
%zero = arith.constant dense<0.0> : !Z_tile
%z = tile.dot %wide, %x transpose_b, %zero : tensor<64x64xf16>, !X_tile -> !Z_tile
{store("%z", "Z", 2)}"""
    z = weights.astype(np.float32) @ x.astype(np.float32).T
    Kernel(body, {"Q": packed, "X": x}, {"Z": z}, warps=4).check(target, tmp_path)
