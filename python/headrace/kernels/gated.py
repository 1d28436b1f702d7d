"""Two products of one operand, one gating the other: the first half of a transformer's feed-forward layer."""

# ruff: noqa: N803

from __future__ import annotations

from typing import Any

import headrace as hr
from headrace.kernels import tiles
from headrace.kernels.epilogues import activation_of, silu
from headrace.kernels.gemm import default_output
from headrace.kernels.places import dtype_of, expect, place_of, result
from headrace.language.functions import InlineFunction


@hr.kernel
def gated_gemm_kernel(
    A, G, U, C,
    ACTIVATION: hr.constexpr = silu, BM: hr.constexpr = 128, BN: hr.constexpr = 64, BK: hr.constexpr = 64,
    STAGES: hr.constexpr = "auto", SPECIALIZE: hr.constexpr = "auto",
):  # fmt: skip
    for row, column in hr.persistent(hr.cdiv(C.shape[0], BM), hr.cdiv(C.shape[1], BN), group=16):
        m, n = row * BM, column * BN
        gate = up = hr.zeros((BM, BN))
        # The tile of A is loaded once for both products.
        for k in hr.pipelined(0, A.shape[1], BK, stages=STAGES, specialize=SPECIALIZE):
            a = A[m : m + BM, k : k + BK]
            g, u = G[n : n + BN, k : k + BK], U[n : n + BN, k : k + BK]
            gate += a @ g.T
            up += a @ u.T
        C[m : m + BM, n : n + BN] = (ACTIVATION(gate) * up).to(C.dtype)


def gated_gemm(
    a: Any,
    gate: Any,
    up: Any,
    *,
    activation: str | InlineFunction = "silu",
    out: Any = None,
    out_dtype: hr.DType | None = None,
    on: str | None = None,
    target: str | None = None,
    **constants: Any,
) -> Any:
    """``activation(a gate^T) * (a up^T)``: `a` [M, K], `gate` and `up` [N, K], the result [M, N]. "silu" is SwiGLU.

    Operands are f16, bf16, f32 or 8-bit floats; sums are f32, and the result is `out_dtype`, by default that of `a`
    (bf16 for 8-bit floats). `activation` as in `gemm`. See `headrace.kernels` for the rest.
    """
    place = place_of(a, on, target)
    m, k = expect("a", a, None, None)
    n, _ = expect("gate", gate, None, k)
    expect("up", up, n, k)
    dtype = dtype_of("a", a)
    out = result(out, a, (m, n), out_dtype or default_output(dtype))
    # Two accumulators: half as many columns each.
    widest = 128 if place.target == "sm_90a" else 64
    sizes = tiles.product(place.target, m, n, dtype, widest)
    chosen = {"ACTIVATION": activation_of(activation), **sizes, **constants}
    place.run(gated_gemm_kernel, a, gate, up, out, **chosen)
    return out
