"""Layer norm of each row: the mean and the variance of what is there, not of the padding."""

# ruff: noqa: N803, N806

from __future__ import annotations

from typing import Any

import headrace as hr
from headrace.kernels import tiles
from headrace.kernels.places import dtype_of, expect, place_of, result


@hr.kernel(warps="WARPS", occupancy="OCCUPANCY")
def layer_norm_kernel(
    X, weight, bias, Y, mean, rstd, eps,
    BR: hr.constexpr, BC: hr.constexpr, STAGES: hr.constexpr = 1, WARPS: hr.constexpr = 4, OCCUPANCY: hr.constexpr = 4,
    SPECIALIZE: hr.constexpr = "auto", TRIPS: hr.constexpr = None,
):  # fmt: skip
    N, blocks = X.shape[1], hr.cdiv(X.shape[0], BR)
    share = 1.0 / float(N)
    is_full = N >= BC
    w, b = weight[0:BC].to(hr.f32)[None, :], bias[0:BC].to(hr.f32)[None, :]
    for i in hr.persistent(blocks, trips=TRIPS, stages=STAGES, specialize=SPECIALIZE):
        m = i * BR
        x = X[m : m + BR, 0:BC].to(hr.f32)
        average = hr.sum(x, axis=1) * share
        deviation = x - average[:, None]
        if not is_full:
            deviation = hr.where(hr.iota((BR, BC), 1) < N, deviation, 0.0)
        inverse = hr.rsqrt(hr.sum(deviation * deviation, axis=1) * share + eps)
        Y[m : m + BR, 0:BC] = (deviation * inverse[:, None] * w + b).to(Y.dtype)
        if mean is not None:
            mean[m : m + BR] = average
        if rstd is not None:
            rstd[m : m + BR] = inverse


def layer_norm(
    x: Any,
    weight: Any,
    bias: Any,
    eps: float = 1e-5,
    *,
    mean: Any = None,
    rstd: Any = None,
    out: Any = None,
    on: str | None = None,
    target: str | None = None,
    **constants: Any,
) -> Any:
    """``(x - mean) / sqrt(variance + eps) * weight + bias`` of each row of `x` [rows, columns], computed in f32.

    `x` is f16, bf16 or f32 with at most 16384 columns, `weight` and `bias` are [columns]; the result is like `x`.
    `mean` and `rstd`, if given, are f32 [rows] and get the statistics, as a backward pass wants them. See
    `headrace.kernels` for the rest.
    """
    place = place_of(x, on, target)
    rows, columns = expect("x", x, None, None)
    tiles.check_row("x", columns)
    expect("weight", weight, columns)
    expect("bias", bias, columns)
    for name, array in (("mean", mean), ("rstd", rstd)):
        if array is not None:
            expect(name, array, rows)
    out = result(out, x, (rows, columns), dtype_of("x", x))
    chosen = {**tiles.rows("layer_norm", place.target, columns, dtype_of("x", x)), **constants}
    place.run(layer_norm_kernel, x, weight, bias, out, mean, rstd, float(eps), **chosen)
    return out
