"""A matrix product with an epilogue: bias, activation, residual."""

# ruff: noqa: N803, N806

from __future__ import annotations

from typing import Any

import headrace as hr
from headrace.kernels import tiles
from headrace.kernels.epilogues import activation_of
from headrace.kernels.places import dtype_of, expect, place_of, result
from headrace.language.functions import InlineFunction


@hr.inline
def product_tile(
    A, B, m, n, K, ACC, BM: hr.constexpr, BN: hr.constexpr, BK: hr.constexpr, STAGES, SPECIALIZE,
    TRANSPOSE_A=False, TRANSPOSE_B=True, PRECISION=None,
):  # fmt: skip
    """The tile at (m, n) of the product of A and B, which the loop reads K ahead of its arithmetic."""
    acc = hr.zeros((BM, BN), ACC)
    for k in hr.pipelined(0, K, BK, stages=STAGES, specialize=SPECIALIZE):
        a = A[k : k + BK, m : m + BM].T if TRANSPOSE_A else A[m : m + BM, k : k + BK]
        b = B[n : n + BN, k : k + BK].T if TRANSPOSE_B else B[k : k + BK, n : n + BN]
        acc = hr.dot(a, b, acc, precision=PRECISION)
    return acc


@hr.kernel
def gemm_kernel(
    A, B, bias, R, C,
    ACC: hr.constexpr = hr.f32, ACTIVATION: hr.constexpr = None, TRANSPOSE_A: hr.constexpr = False,
    TRANSPOSE_B: hr.constexpr = True, PRECISION: hr.constexpr = None, BM: hr.constexpr = 128, BN: hr.constexpr = 128,
    BK: hr.constexpr = 64, STAGES: hr.constexpr = "auto", SPECIALIZE: hr.constexpr = "auto",
):  # fmt: skip
    M, N = C.shape
    K = A.shape[0] if TRANSPOSE_A else A.shape[1]
    # As many programs as the GPU runs at once, each with tile after tile, 16 rows of tiles at a time for the L2 cache.
    for row, column in hr.persistent(hr.cdiv(M, BM), hr.cdiv(N, BN), group=16):
        m, n = row * BM, column * BN
        y = product_tile(
            A, B, m, n, K, ACC, BM, BN, BK, STAGES, SPECIALIZE, TRANSPOSE_A, TRANSPOSE_B, PRECISION
        )  # fmt: skip
        # An array that is None is a constant: no branch is left.
        if bias is not None:
            y = y + bias[n : n + BN].to(ACC)[None, :]
        if ACTIVATION is not None:
            y = ACTIVATION(y)
        if R is not None:
            y = y + R[m : m + BM, n : n + BN].to(ACC)
        C[m : m + BM, n : n + BN] = y.to(C.dtype)


def accumulator(dtype: hr.DType) -> hr.DType:
    """The type that products of `dtype` are summed in."""
    return {"i8": hr.i32, "f64": hr.f64}.get(dtype.name, hr.f32)


def default_output(dtype: hr.DType) -> hr.DType:
    """The type of a product of `dtype` if nobody says another: the same, but for 8 bits, which would lose too much."""
    return dtype if dtype.bits > 8 else hr.i32 if dtype is hr.i8 else hr.bf16


def gemm(
    a: Any,
    b: Any,
    bias: Any = None,
    *,
    activation: str | InlineFunction | None = None,
    residual: Any = None,
    transpose_a: bool = False,
    transpose_b: bool = True,
    precision: str | None = None,
    out: Any = None,
    out_dtype: hr.DType | None = None,
    on: str | None = None,
    target: str | None = None,
    **constants: Any,
) -> Any:
    """``activation(a b^T + bias) + residual``: `a` [M, K], `b` [N, K], `bias` [N], `residual` and the result [M, N].

    `a` and `b` are f16, bf16, f32, f64, i8, e4m3 or e5m2. Sums are f32, of i8 i32, of f64 f64; the result is
    `out_dtype`: by default that of `a`, i32 for i8 and bf16 for 8-bit floats. `precision` "tf32" is faster for f32.
    `activation` is "relu", "gelu" (by tanh), "silu" or an `@hr.inline` function of a tile. `transpose_a` takes `a` as
    [K, M], and without `transpose_b` `b` is [K, N]. See `headrace.kernels` for the rest.
    """
    place = place_of(a, on, target)
    m, k = reversed(expect("a", a, None, None)) if transpose_a else expect("a", a, None, None)
    n, _ = expect("b", b, None, k) if transpose_b else reversed(expect("b", b, k, None))
    for name, array, shape in (("bias", bias, (n,)), ("residual", residual, (m, n))):
        if array is not None:
            expect(name, array, *shape)
    dtype = dtype_of("a", a)
    acc = accumulator(dtype)
    out = result(out, a, (m, n), out_dtype or default_output(dtype))
    widest = tiles.widest(place.target, dtype, precision, activation is not None)
    chosen = {
        "ACC": acc, "ACTIVATION": activation_of(activation), "TRANSPOSE_A": transpose_a, "TRANSPOSE_B": transpose_b,
        "PRECISION": precision, **tiles.product(place.target, m, n, dtype, widest), **constants,
    }  # fmt: skip
    place.run(gemm_kernel, a, b, bias, residual, out, **chosen)
    return out
