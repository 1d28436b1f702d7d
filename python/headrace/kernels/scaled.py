"""Products of 8-bit numbers with a scale for each row of both operands."""

# ruff: noqa: N803

from __future__ import annotations

from typing import Any

import headrace as hr
from headrace.kernels import tiles
from headrace.kernels.gemm import accumulator
from headrace.kernels.places import dtype_of, expect, place_of, result


@hr.kernel
def scaled_gemm_kernel(
    A, B, row_scale, column_scale, C,
    ACC: hr.constexpr = hr.f32, BM: hr.constexpr = 128, BN: hr.constexpr = 128, BK: hr.constexpr = 128,
    STAGES: hr.constexpr = "auto", SPECIALIZE: hr.constexpr = "auto",
):  # fmt: skip
    for row, column in hr.persistent(hr.cdiv(C.shape[0], BM), hr.cdiv(C.shape[1], BN), group=16):
        m, n = row * BM, column * BN
        total = hr.zeros((BM, BN), ACC)
        for k in hr.pipelined(0, A.shape[1], BK, stages=STAGES, specialize=SPECIALIZE):
            total += A[m : m + BM, k : k + BK] @ B[n : n + BN, k : k + BK].T
        # Scales do not depend on k: they wait for the whole sum.
        rows, columns = row_scale[m : m + BM], column_scale[n : n + BN]
        y = total.to(hr.f32) * rows[:, None] * columns[None, :]
        C[m : m + BM, n : n + BN] = y.to(C.dtype)


def scaled_gemm(
    a: Any,
    b: Any,
    a_scale: Any,
    b_scale: Any,
    *,
    out: Any = None,
    out_dtype: hr.DType = hr.bf16,
    on: str | None = None,
    target: str | None = None,
    **constants: Any,
) -> Any:
    """``(a b^T) a_scale[:, None] b_scale``: `a` [M, K], `b` [N, K], the result [M, N] of `out_dtype`.

    `a` and `b` are both i8, summed exactly in i32, or 8-bit floats (sm_89 and later), summed in f32; `a_scale` [M] and
    `b_scale` [N] are f32. See `headrace.kernels` for the rest.
    """
    place = place_of(a, on, target)
    m, k = expect("a", a, None, None)
    n, _ = expect("b", b, None, k)
    expect("a_scale", a_scale, m)
    expect("b_scale", b_scale, n)
    dtype = dtype_of("a", a)
    if dtype.bits != 8:
        raise hr.LaunchError(f"argument 'a': expected elements of i8, e4m3 or e5m2, got {dtype}")
    out = result(out, a, (m, n), out_dtype)
    chosen = {
        "ACC": accumulator(dtype),
        **tiles.product(place.target, m, n, dtype, min(128, tiles.widest(place.target, dtype))),
        **constants,
    }
    place.run(scaled_gemm_kernel, a, b, a_scale, b_scale, out, **chosen)
    return out
