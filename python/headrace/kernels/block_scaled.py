"""Products of 8-bit floats with scales of blocks along K: one for 128 numbers of a row of A, for 128x128 of B."""

# ruff: noqa: N803

from __future__ import annotations

from typing import Any

import headrace as hr
from headrace.kernels.places import expect, place_of, result

#: Numbers along K, and rows of B, that share a scale.
BLOCK = 128


@hr.kernel
def block_scaled_gemm_kernel(
    A, B, SA, SB, C, BM: hr.constexpr = 128, STAGES: hr.constexpr = "auto", SPECIALIZE: hr.constexpr = "auto"
):
    rows, columns, blocks = hr.cdiv(C.shape[0], BM), hr.cdiv(C.shape[1], BLOCK), hr.cdiv(A.shape[1], BLOCK)
    for row, column in hr.persistent(rows, columns, group=16):
        m, n = row * BM, column * BLOCK
        acc = hr.zeros((BM, BLOCK))
        for block in hr.pipelined(blocks, stages=STAGES, specialize=SPECIALIZE):
            k = block * BLOCK
            a, b = A[m : m + BM, k : k + BLOCK], B[n : n + BLOCK, k : k + BLOCK]
            of_rows, of_block = SA[block, m : m + BM], SB[column, block]
            part = hr.dot(a, b.T, 0.0)  # a sum of its own: the tensor core keeps few bits of sums of 8-bit floats
            acc = acc + part * (of_rows * of_block)[:, None]
        C[m : m + BM, n : n + BLOCK] = acc.to(C.dtype)


def block_scaled_gemm(
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
    """``(a * a_scale) (b * b_scale)^T``, each scale for its block: `a` [M, K], `b` [N, K], 8-bit floats (sm_89 on).

    `a_scale` [ceil(K / 128), M] has one number for 128 of a row, `b_scale` [ceil(N / 128), ceil(K / 128)] one for a
    block of 128x128; both f32. The result is [M, N] of `out_dtype`. See `headrace.kernels` for the rest.
    """
    place = place_of(a, on, target)
    m, k = expect("a", a, None, None)
    n, _ = expect("b", b, None, k)
    blocks = hr.cdiv(k, BLOCK)
    expect("a_scale", a_scale, blocks, m)
    expect("b_scale", b_scale, hr.cdiv(n, BLOCK), blocks)
    out = result(out, a, (m, n), out_dtype)
    place.run(block_scaled_gemm_kernel, a, b, a_scale, b_scale, out, **constants)
    return out
