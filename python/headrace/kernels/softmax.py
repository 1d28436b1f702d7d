"""Softmax of each row: of whole rows at once, or in parts with a running maximum if they are long."""

# ruff: noqa: N803

from __future__ import annotations

from typing import Any

import headrace as hr
from headrace.kernels import tiles
from headrace.kernels.attention import LOG2E
from headrace.kernels.places import dtype_of, expect, place_of, result


@hr.kernel(warps="WARPS", occupancy="OCCUPANCY")
def softmax_kernel(
    X, Y,
    BR: hr.constexpr, BC: hr.constexpr, STAGES: hr.constexpr = 1, WARPS: hr.constexpr = 4, OCCUPANCY: hr.constexpr = 4,
    SPECIALIZE: hr.constexpr = "auto", TRIPS: hr.constexpr = None,
):  # fmt: skip
    # BC columns hold a whole row: it is read once.
    for i in hr.persistent(hr.cdiv(X.shape[0], BR), trips=TRIPS, stages=STAGES, specialize=SPECIALIZE):
        m = i * BR
        x = hr.load(X[m : m + BR, 0:BC], fill=float("-inf")).to(hr.f32)
        e = hr.exp2((x - x.max(axis=1)[:, None]) * LOG2E)
        inverse = 1.0 / e.sum(axis=1)
        Y[m : m + BR, 0:BC] = (e * inverse[:, None]).to(Y.dtype)


@hr.kernel(warps="WARPS")
def long_softmax_kernel(
    X, Y, BC: hr.constexpr = 2048, STAGES: hr.constexpr = 3, WARPS: hr.constexpr = 8, SPECIALIZE: hr.constexpr = "auto"
):
    m = hr.grid(X.shape[0])
    # Each place of the tile has a maximum and a sum of its own; they meet after the loop.
    largest, total = hr.full((BC,), -3.0e38), hr.zeros((BC,))
    for n in hr.pipelined(0, X.shape[1], BC, stages=STAGES, specialize=SPECIALIZE):
        x = hr.load(X[m, n : n + BC], fill=float("-inf")).to(hr.f32)
        new = hr.maximum(largest, x)
        decay = hr.exp2((largest - new) * LOG2E)
        e = hr.exp2((x - new) * LOG2E)
        total = total * decay + e
        largest = new
    top = largest.max()
    inverse = 1.0 / hr.sum(total * hr.exp2((largest - top) * LOG2E))
    for n in hr.pipelined(0, X.shape[1], BC, stages=STAGES, specialize=SPECIALIZE):
        x = X[m, n : n + BC].to(hr.f32)
        Y[m, n : n + BC] = (hr.exp2((x - top) * LOG2E) * inverse).to(Y.dtype)


def softmax(x: Any, *, out: Any = None, on: str | None = None, target: str | None = None, **constants: Any) -> Any:
    """The softmax of each row of `x` [rows, columns], f16, bf16 or f32, computed in f32; the result is like `x`.

    See `headrace.kernels` for the rest.
    """
    place = place_of(x, on, target)
    rows, columns = expect("x", x, None, None)
    out = result(out, x, (rows, columns), dtype_of("x", x))
    if columns > tiles.LONGEST_ROW:
        place.run(long_softmax_kernel, x, out, **constants)
    else:
        chosen = {**tiles.rows("softmax", place.target, columns, dtype_of("x", x)), **constants}
        place.run(softmax_kernel, x, out, **chosen)
    return out
