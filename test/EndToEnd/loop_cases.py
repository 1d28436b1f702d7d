"""Loops of the case list as tile-dialect sources, each with a numpy reference: trips, results of early stages, offsets.

A case is one kernel, compiled once for each target and number of stages, and the calls it must get right. Ids are those
of the case list: P01 (trips below stages, lower bounds, steps), P02 (loop results from an early stage), P11 (empty
loops), W01 (one trip), T04 (slots of 64 bytes), T05 (offsets and strides that TMA cannot take). S01 is of the
scheduler: trips fewer than stages, where what follows a product waits for the next trip; S02 by the
user's wish.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Call:
    """One launch: arguments in order (arrays or scalars) and which argument must equal `expected` afterwards."""

    label: str
    args: list
    output: int
    expected: np.ndarray


@dataclass(frozen=True)
class Case:
    """A kernel's source by number of stages, and its calls for a random generator."""

    name: str
    source: Callable[[str], str]
    calls: Callable[[np.random.Generator], Iterator[Call]]


_ROW = 128  # elements of a one-dimensional tile


def _copy_loop(stages: str) -> str:
    """out[i] = in[i] + 1 for the tiles i = lower, lower + step, ... below upper."""
    return f"""
tile.kernel @copy(%in: memref<?xf32> {{tile.name = "in", tile.align = 16 : i64}},
                  %out: memref<?xf32> {{tile.name = "out", tile.align = 16 : i64}},
                  %lo: i32, %hi: i32, %by: i32) {{
  %lower = arith.index_cast %lo : i32 to index
  %upper = arith.index_cast %hi : i32 to index
  %step = arith.index_cast %by : i32 to index
  %row = arith.constant {_ROW} : index
  %one = arith.constant dense<1.0> : tensor<{_ROW}xf32>
  tile.for %i = %lower to %upper step %step pipeline(stages = {stages}) {{
    %at = arith.muli %i, %row : index
    %x = tile.load %in[%at] : memref<?xf32> -> tensor<{_ROW}xf32>
    %y = arith.addf %x, %one : tensor<{_ROW}xf32>
    tile.store %y, %out[%at] : tensor<{_ROW}xf32>, memref<?xf32>
    tile.yield
  }}
  tile.return
}}
"""


def _copy_calls(rng: np.random.Generator) -> Iterator[Call]:
    for lower, upper, step in [
        (0, 0, 1), (0, 1, 1), (0, 2, 1), (0, 3, 1), (0, 4, 1), (0, 5, 1), (0, 17, 1),
        (3, 4, 2), (3, 3, 1), (5, 3, 1), (5, 3, 2), (3, 10, 2), (0, 17, 5), (16, 17, 1),
    ]:  # fmt: skip
        data = rng.standard_normal(20 * _ROW).astype(np.float32)
        out = np.full(20 * _ROW, 7, np.float32)
        expected = out.copy()
        for i in range(lower, upper, step):
            expected[i * _ROW : (i + 1) * _ROW] = data[i * _ROW : (i + 1) * _ROW] + 1
        yield Call(f"{lower}..{upper} by {step}", [data, out, lower, upper, step], 1, expected)


def _last_tile(stages: str) -> str:
    """out = the tile that the last trip loaded, or -1 for no trips."""
    return f"""
tile.kernel @last(%in: memref<?xf32> {{tile.name = "in", tile.align = 16 : i64}},
                  %out: memref<?xf32> {{tile.name = "out", tile.align = 16 : i64}}, %trips: i32) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.index_cast %trips : i32 to index
  %row = arith.constant {_ROW} : index
  %none = arith.constant dense<-1.0> : tensor<{_ROW}xf32>
  %last = tile.for %i = %c0 to %n step %c1 iter_args(%old = %none) -> (tensor<{_ROW}xf32>)
      pipeline(stages = {stages}) {{
    %at = arith.muli %i, %row : index
    %x = tile.load %in[%at] : memref<?xf32> -> tensor<{_ROW}xf32>
    tile.yield %x : tensor<{_ROW}xf32>
  }}
  tile.store %last, %out[%c0] : tensor<{_ROW}xf32>, memref<?xf32>
  tile.return
}}
"""


def _last_calls(rng: np.random.Generator) -> Iterator[Call]:
    for trips in (0, 1, 2, 3, 4, 5, 17):
        data = rng.standard_normal(17 * _ROW).astype(np.float32)
        expected = data[(trips - 1) * _ROW : trips * _ROW] if trips else np.full(_ROW, -1, np.float32)
        yield Call(f"{trips} trips", [data, np.full(_ROW, 7, np.float32), trips], 1, expected)


def _gemv(stages: str) -> str:
    """y[1, N] = x[1, K] * W[K, N] in tiles of 64 x 64 x 128: with K = 64 the loop makes one trip."""
    x, w, y = ("memref<?x?xbf16, strided<[?, 1]>>",) * 2 + ("memref<?x?xf32, strided<[?, 1]>>",)
    return f"""
tile.kernel @gemv(%X: {x} {{tile.name = "X", tile.align = 16 : i64}},
                  %W: {w} {{tile.name = "W", tile.align = 16 : i64}},
                  %Y: {y} {{tile.name = "Y", tile.align = 16 : i64}}) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %bk = arith.constant 64 : index
  %bn = arith.constant 128 : index
  %N = memref.dim %Y, %c1 : {y}
  %K = memref.dim %X, %c1 : {x}
  %columns = arith.ceildivsi %N, %bn : index
  tile.grid %columns
  %pid = tile.program_id 0
  %n = arith.muli %pid, %bn : index
  %zero = arith.constant dense<0.0> : tensor<64x128xf32>
  %sum = tile.for %k = %c0 to %K step %bk iter_args(%acc = %zero) -> (tensor<64x128xf32>) pipeline(stages = {stages}) {{
    %a = tile.load %X[%c0, %k] : {x} -> tensor<64x64xbf16>
    %b = tile.load %W[%k, %n] : {w} -> tensor<64x128xbf16>
    %s = tile.dot %a, %b, %acc : tensor<64x64xbf16>, tensor<64x128xbf16> -> tensor<64x128xf32>
    tile.yield %s : tensor<64x128xf32>
  }}
  tile.store %sum, %Y[%c0, %n] : tensor<64x128xf32>, {y}
  tile.return
}}
"""


def _gemv_calls(rng: np.random.Generator) -> Iterator[Call]:
    for k in (0, 64, 128, 192):
        x = rng.integers(-4, 5, (1, k)).astype(np.float32)
        w = rng.integers(-4, 5, (k, 4096)).astype(np.float32)
        y = np.full((1, 4096), 7, np.float32)
        yield Call(f"{k // 64} trips", [("bf16", x), ("bf16", w), y], 2, x @ w)


def _small_slots(stages: str) -> str:
    """Sum of rows of 32 f16 (64 bytes a slot) from element `first`, which need not be aligned."""
    return f"""
tile.kernel @sum(%in: memref<?xf16> {{tile.name = "in", tile.align = 16 : i64}},
                 %out: memref<?xf16> {{tile.name = "out", tile.align = 16 : i64}}, %start: i32, %trips: i32) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %first = arith.index_cast %start : i32 to index
  %n = arith.index_cast %trips : i32 to index
  %row = arith.constant 32 : index
  %zero = arith.constant dense<0.0> : tensor<32xf16>
  %sum = tile.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<32xf16>) pipeline(stages = {stages}) {{
    %place = arith.muli %i, %row : index
    %at = arith.addi %first, %place : index
    %x = tile.load %in[%at] : memref<?xf16> -> tensor<32xf16>
    %s = arith.addf %acc, %x : tensor<32xf16>
    tile.yield %s : tensor<32xf16>
  }}
  tile.store %sum, %out[%c0] : tensor<32xf16>, memref<?xf16>
  tile.return
}}
"""


def _small_calls(rng: np.random.Generator) -> Iterator[Call]:
    for first in (0, 1, 3, 4, 8, -5):
        for trips in (1, 2, 5):
            data = rng.integers(-8, 9, 100).astype(np.float16)
            padded = np.concatenate([np.zeros(64), data, np.zeros(200)])
            rows = [padded[64 + first + 32 * i : 96 + first + 32 * i] for i in range(trips)]
            yield Call(
                f"first {first}, {trips} trips",
                [data, np.full(32, 7, np.float16), first, trips],
                1,
                np.sum(rows, axis=0).astype(np.float16),
            )


_CHAIN = 64  # extents of a dot chain's tiles, but for the rows of the result
_CHAIN_ROWS = 128


def _dot_chain(
    stages: str, wishes: tuple[str, str, str] = ("", "", ""), specialize: str = "auto", warps: int = 4
) -> str:
    """O = sum of relu(Q K_i^T + i) V_i over tiles of 64 rows: the second product of a trip waits for the first.

    The number of the trip is used between the products, and the largest sum of rows that trips meet is a second result.
    `wishes` are attributes of the first product, of what is computed from it, and of the second product.
    """
    first, between, second = wishes
    array = "memref<?x?xbf16, strided<[?, 1]>>"
    query, wide = (f"tensor<{_CHAIN_ROWS}x{_CHAIN}x{dtype}>" for dtype in ("bf16", "f32"))
    tile = f"tensor<{_CHAIN}x{_CHAIN}xbf16>"
    row = f"tensor<{_CHAIN_ROWS}xf32>"
    return f"""
tile.kernel @chain(%Q: {array} {{tile.name = "Q", tile.align = 16 : i64}},
                   %K: {array} {{tile.name = "K", tile.align = 16 : i64}},
                   %V: {array} {{tile.name = "V", tile.align = 16 : i64}},
                   %O: memref<?x?xf32, strided<[?, 1]>> {{tile.name = "O", tile.align = 16 : i64}},
                   %lo: i32, %hi: i32, %by: i32) attributes {{warps = {warps} : i64}} {{
  %c0 = arith.constant 0 : index
  %lower = arith.index_cast %lo : i32 to index
  %upper = arith.index_cast %hi : i32 to index
  %step = arith.index_cast %by : i32 to index
  %rows = arith.constant {_CHAIN} : index
  %zero = arith.constant dense<0.0> : {wide}
  %least = arith.constant dense<-1000.0> : {row}
  %q = tile.load %Q[%c0, %c0] : {array} -> {query}
  %top, %sum = tile.for %i = %lower to %upper step %step iter_args(%max = %least, %acc = %zero) -> ({row}, {wide})
      pipeline(stages = {stages}, specialize = {specialize}) {{
    %at = arith.muli %i, %rows : index
    %k = tile.load %K[%at, %c0] : {array} -> {tile}
    %v = tile.load %V[%at, %c0] : {array} -> {tile}
    %s = tile.dot %q, %k transpose_b, %zero{first} : {query}, {tile} -> {wide}
    %i32 = arith.index_cast %i : index to i32
    %place = arith.sitofp %i32 : i32 to f32
    %places = tensor.splat %place : {wide}
    %shifted = arith.addf %s, %places : {wide}
    %p = arith.maximumf %shifted, %zero{between} : {wide}
    %own = tile.reduce %p axis 1 {{
    ^bb0(%x: f32, %y: f32):
      %z = arith.addf %x, %y : f32
      tile.yield %z : f32
    }} : ({wide}) -> {row}
    %next = arith.maximumf %max, %own : {row}
    %narrow = arith.truncf %p : {wide} to {query}
    %o = tile.dot %narrow, %v, %acc{second} : {query}, {tile} -> {wide}
    tile.yield %next, %o : {row}, {wide}
  }}
  %up = tile.expand_dims %top axis 1 : {row} -> tensor<{_CHAIN_ROWS}x1xf32>
  %all = tile.broadcast %up : tensor<{_CHAIN_ROWS}x1xf32> -> {wide}
  %out = arith.addf %sum, %all : {wide}
  tile.store %out, %O[%c0, %c0] : {wide}, memref<?x?xf32, strided<[?, 1]>>
  tile.return
}}
"""


def _fixed_chain(stages: str) -> str:
    """The chain in three stages because the source says so, all in one role."""
    return _dot_chain(stages, tuple(f" {{tile.stage = {stage} : i64}}" for stage in range(3)), "off", warps=8)


def _chain_calls(rng: np.random.Generator) -> Iterator[Call]:
    for lower, upper, step in ((0, 0, 1), (0, 1, 1), (0, 2, 1), (0, 3, 1), (0, 4, 1), (0, 5, 1), (1, 6, 2), (3, 2, 2)):
        q = rng.integers(-1, 2, (_CHAIN_ROWS, _CHAIN)).astype(np.float32)
        k, v = (rng.integers(-1, 2, (6 * _CHAIN, _CHAIN)).astype(np.float32) for _ in range(2))
        expected, top = np.zeros((_CHAIN_ROWS, _CHAIN), np.float32), np.full(_CHAIN_ROWS, -1000, np.float32)
        for i in range(lower, upper, step):
            at = slice(i * _CHAIN, (i + 1) * _CHAIN)
            p = np.maximum(q @ k[at].T + np.float32(i), 0)
            top = np.maximum(top, p.sum(1))
            expected += p @ v[at]
        arrays = [("bf16", q), ("bf16", k), ("bf16", v), np.full((_CHAIN_ROWS, _CHAIN), 7, np.float32)]
        yield Call(f"{lower}..{upper} by {step}", [*arrays, lower, upper, step], 3, expected + top[:, None])


CASES = [
    Case("P01-copy-loop", _copy_loop, _copy_calls),
    Case("P02-last-tile", _last_tile, _last_calls),
    Case("W01-one-trip", _gemv, _gemv_calls),
    Case("T04-T05-small-slots", _small_slots, _small_calls),
    Case("S01-dot-chain", _dot_chain, _chain_calls),
    Case("S02-dot-chain-in-three-stages", _fixed_chain, _chain_calls),
]
STAGES = ("0", "1", "2", "3", "4")
TARGETS = ("sm_80", "sm_90a")
