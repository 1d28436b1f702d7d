"""Products of floats and weights of 8 or 4 bits, which become floats on their way into the tensor core."""

# ruff: noqa: N803

from __future__ import annotations

from typing import Any

import headrace as hr
from headrace.kernels.places import dtype_of, expect, place_of, result


@hr.kernel
def int8_weights_kernel(
    A, W, S, C, BM: hr.constexpr = 64, BN: hr.constexpr = 128, G: hr.constexpr = 64, STAGES: hr.constexpr = "auto",
    SPECIALIZE: hr.constexpr = "auto",
):  # fmt: skip
    rows, columns, groups = hr.cdiv(C.shape[0], BM), hr.cdiv(C.shape[1], BN), hr.cdiv(A.shape[1], G)
    for row, column in hr.persistent(rows, columns, group=16):
        m, n = row * BM, column * BN
        acc = hr.zeros((BM, BN))
        for g in hr.pipelined(groups, stages=STAGES, specialize=SPECIALIZE):
            k = g * G
            a, q, scale = A[m : m + BM, k : k + G], W[n : n + BN, k : k + G], S[g, n : n + BN]
            w = q.to(A.dtype) * scale[:, None]
            acc += a @ w.T
        C[m : m + BM, n : n + BN] = acc.to(C.dtype)


@hr.kernel
def int4_weights_kernel(
    A, W, S, C, BM: hr.constexpr = 64, BN: hr.constexpr = 128, H: hr.constexpr = 32, STAGES: hr.constexpr = "auto",
    SPECIALIZE: hr.constexpr = "auto",
):  # fmt: skip
    rows, columns, groups = hr.cdiv(C.shape[0], BM), hr.cdiv(C.shape[1], BN), hr.cdiv(A.shape[1], 2 * H)
    for row, column in hr.persistent(rows, columns, group=16):
        m, n = row * BM, column * BN
        # The transpose of C, so that the weights are the operand that can come from registers.
        acc = hr.zeros((BN, BM))
        for g in hr.pipelined(groups, stages=STAGES, specialize=SPECIALIZE):
            at, k = g * H, g * (2 * H)
            k_high = k + H
            q = W[n : n + BN, at : at + H]
            a, a_high = A[m : m + BM, k : k + H], A[m : m + BM, k_high : k_high + H]
            scale = S[g, n : n + BN][:, None]
            # Shifts of signed bytes keep the sign of the low and of the high 4 bits.
            low, high = (q << 4) >> 4, q >> 4
            low, high = low.to(A.dtype), high.to(A.dtype)
            low, high = low * scale, high * scale
            acc = hr.dot(low, a.T, acc)
            acc = hr.dot(high, a_high.T, acc)
        C[m : m + BM, n : n + BN] = acc.to(C.dtype).T


def int8_weights_gemm(
    a: Any, w: Any, scales: Any, *, group: int = 64, out: Any = None, on: str | None = None,
    target: str | None = None, **constants: Any,
) -> Any:  # fmt: skip
    """``a (w * scales)^T``: `a` [M, K], f16 or bf16, `w` [N, K], i8; the result [M, N] is like `a`.

    `scales` [ceil(K / group), N], like `a`, has a number for each `group` weights along K, of one row of `w`. Scaled
    weights are rounded to the type of `a`. See `headrace.kernels` for the rest.
    """
    place = place_of(a, on, target)
    m, k = expect("a", a, None, None)
    n, _ = expect("w", w, None, k)
    expect("scales", scales, hr.cdiv(k, group), n)
    out = result(out, a, (m, n), dtype_of("a", a))
    place.run(int8_weights_kernel, a, w, scales, out, G=group, **constants)
    return out


def int4_weights_gemm(
    a: Any, w: Any, scales: Any, *, group: int = 64, out: Any = None, on: str | None = None,
    target: str | None = None, **constants: Any,
) -> Any:  # fmt: skip
    """``a (w * scales)^T`` of 4-bit weights as `pack_int4` packs them: `w` [N, ceil(K / group) * group / 2], i8.

    All else as in `int8_weights_gemm`. `group` is a multiple of 32.
    """
    place = place_of(a, on, target)
    m, k = expect("a", a, None, None)
    groups, half = hr.cdiv(k, group), group // 2
    n, _ = expect("w", w, None, groups * half)
    expect("scales", scales, groups, n)
    out = result(out, a, (m, n), dtype_of("a", a))
    place.run(int4_weights_kernel, a, w, scales, out, H=half, **constants)
    return out


def pack_int4(weights: Any, group: int = 64) -> Any:
    """Weights of -8 to 7, i8 [N, K] of torch or numpy, two in a byte: [N, K / 2]; K is a multiple of `group`.

    Of each `group` weights along K the first half are the low 4 bits of bytes, the second half the high 4 bits.
    """
    n, k = expect("weights", weights, None, None)
    if group % 2 or k % group:
        raise hr.LaunchError(f"expected an even group that divides the {k} columns of weights, got {group}")
    parts = weights.reshape(n, k // group, 2, group // 2)
    return ((parts[:, :, 1] << 4) | (parts[:, :, 0] & 15)).reshape(n, k // 2)
