"""Many products of one shape: a third dimension of tiles in one persistent loop."""

# ruff: noqa: N803, N806

from __future__ import annotations

from typing import Any

import headrace as hr
from headrace.kernels import tiles
from headrace.kernels.gemm import accumulator, default_output
from headrace.kernels.places import dtype_of, expect, place_of, result


@hr.kernel
def batched_gemm_kernel(
    A, B, C,
    ACC: hr.constexpr = hr.f32, BM: hr.constexpr = 128, BN: hr.constexpr = 128, BK: hr.constexpr = 64,
    STAGES: hr.constexpr = "auto", SPECIALIZE: hr.constexpr = "auto",
):  # fmt: skip
    batch, M, N = C.shape
    rows, columns = hr.cdiv(M, BM), hr.cdiv(N, BN)
    each = rows * columns
    for t in hr.persistent(each * batch):
        i = t // each
        row, column = hr.tile_index(t % each, (rows, columns), group=16)
        m, n = row * BM, column * BN
        acc = hr.zeros((BM, BN), ACC)
        for k in hr.pipelined(0, A.shape[2], BK, stages=STAGES, specialize=SPECIALIZE):
            # One index of the batch, a slice of rows and one of columns: a tile of two dimensions.
            acc += A[i, m : m + BM, k : k + BK] @ B[i, n : n + BN, k : k + BK].T
        C[i, m : m + BM, n : n + BN] = acc.to(C.dtype)


def batched_gemm(
    a: Any,
    b: Any,
    *,
    out: Any = None,
    out_dtype: hr.DType | None = None,
    on: str | None = None,
    target: str | None = None,
    **constants: Any,
) -> Any:
    """``a[i] b[i]^T`` for each i: `a` [batch, M, K], `b` [batch, N, K], the result [batch, M, N].

    Types as in `gemm`. See `headrace.kernels` for the rest.
    """
    place = place_of(a, on, target)
    batch, m, k = expect("a", a, None, None, None)
    _, n, _ = expect("b", b, batch, None, k)
    dtype = dtype_of("a", a)
    acc = accumulator(dtype)
    out = result(out, a, (batch, m, n), out_dtype or default_output(dtype))
    chosen = {
        "ACC": acc,
        **tiles.product(place.target, batch * m, n, dtype, tiles.widest(place.target, dtype)),
        **constants,
    }
    place.run(batched_gemm_kernel, a, b, out, **chosen)
    return out
