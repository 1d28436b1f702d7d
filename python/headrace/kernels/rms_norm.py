"""RMS norm of each row."""

# ruff: noqa: N803

from __future__ import annotations

from typing import Any

import headrace as hr
from headrace.kernels import tiles
from headrace.kernels.places import dtype_of, expect, place_of, result


@hr.kernel(warps="WARPS", occupancy="OCCUPANCY")
def rms_norm_kernel(
    X, weight, Y, rstd, eps,
    BR: hr.constexpr, BC: hr.constexpr, STAGES: hr.constexpr = 1, WARPS: hr.constexpr = 4, OCCUPANCY: hr.constexpr = 4,
    SPECIALIZE: hr.constexpr = "auto", TRIPS: hr.constexpr = None,
):  # fmt: skip
    blocks = hr.cdiv(X.shape[0], BR)
    share = 1.0 / float(X.shape[1])
    w = weight[0:BC].to(hr.f32)[None, :]
    for i in hr.persistent(blocks, trips=TRIPS, stages=STAGES, specialize=SPECIALIZE):
        m = i * BR
        x = X[m : m + BR, 0:BC].to(hr.f32)
        inverse = hr.rsqrt(hr.sum(x * x, axis=1) * share + eps)
        Y[m : m + BR, 0:BC] = (x * inverse[:, None] * w).to(Y.dtype)
        if rstd is not None:
            rstd[m : m + BR] = inverse


def rms_norm(
    x: Any,
    weight: Any,
    eps: float = 1e-6,
    *,
    rstd: Any = None,
    out: Any = None,
    on: str | None = None,
    target: str | None = None,
    **constants: Any,
) -> Any:
    """``x / sqrt(mean(x^2) + eps) * weight`` of each row of `x` [rows, columns], computed in f32.

    `x` is f16, bf16 or f32 with at most 16384 columns, `weight` is [columns]; the result is like `x`. `rstd`, if given,
    is f32 [rows] and gets 1 / sqrt(mean(x^2) + eps), as a backward pass wants it. See `headrace.kernels` for the rest.
    """
    place = place_of(x, on, target)
    rows, columns = expect("x", x, None, None)
    tiles.check_row("x", columns)
    expect("weight", weight, columns)
    if rstd is not None:
        expect("rstd", rstd, rows)
    out = result(out, x, (rows, columns), dtype_of("x", x))
    chosen = {**tiles.rows("rms_norm", place.target, columns, dtype_of("x", x)), **constants}
    place.run(rms_norm_kernel, x, weight, out, rstd, float(eps), **chosen)
    return out
