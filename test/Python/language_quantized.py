"""Twins of the library's products of 4-bit and 8-bit numbers."""

# ruff: noqa: N803

from __future__ import annotations

from language_twins import VECTOR, twin

import headrace as hr


def _scaled(operand: hr.DType):
    return lambda t: {
        **dict.fromkeys("AB", operand[:, ::1]),
        "rowScale": VECTOR,
        "columnScale": VECTOR,
        "C": t[:, ::1],
    }


@hr.inline
def product_with_scales(A, B, rowScale, columnScale, C, acc, BM, BN, BK, STAGES, SPECIALIZE):
    for row, column in hr.persistent(hr.cdiv(C.shape[0], BM), hr.cdiv(C.shape[1], BN), group=16):
        m, n = row * BM, column * BN
        total = hr.zeros((BM, BN), acc)
        for k in hr.pipelined(0, A.shape[1], BK, stages=STAGES, specialize=SPECIALIZE):
            total += A[m : m + BM, k : k + BK] @ B[n : n + BN, k : k + BK].T
        rows, columns = rowScale[m : m + BM], columnScale[n : n + BN]
        y = total.to(hr.f32) * rows[:, None] * columns[None, :]
        C[m : m + BM, n : n + BN] = y.to(C.dtype)


@twin(_scaled(hr.e4m3))
@hr.kernel
def gemm_fp8_row_scaled(
    A, B, rowScale, columnScale, C,
    BM: hr.constexpr, BN: hr.constexpr, BK: hr.constexpr, STAGES: hr.constexpr, SPECIALIZE: hr.constexpr,
):  # fmt: skip
    product_with_scales(A, B, rowScale, columnScale, C, hr.f32, BM, BN, BK, STAGES, SPECIALIZE)


@twin(_scaled(hr.i8))
@hr.kernel
def gemm_int8_scaled(
    A, B, rowScale, columnScale, C,
    BM: hr.constexpr, BN: hr.constexpr, BK: hr.constexpr, STAGES: hr.constexpr, SPECIALIZE: hr.constexpr,
):  # fmt: skip
    product_with_scales(A, B, rowScale, columnScale, C, hr.i32, BM, BN, BK, STAGES, SPECIALIZE)


@twin(
    lambda t: {
        **dict.fromkeys("AB", hr.e4m3[:, ::1]),
        "SA": hr.f32[:, ::1],
        "SB": hr.f32[:, ::1].aligned(1),
        "C": t[:, ::1],
    }
)
@hr.kernel
def gemm_fp8_block_scaled(A, B, SA, SB, C, BM: hr.constexpr, STAGES: hr.constexpr, SPECIALIZE: hr.constexpr):
    rows, columns, blocks = hr.cdiv(C.shape[0], BM), hr.cdiv(C.shape[1], 128), hr.cdiv(A.shape[1], 128)
    for row, column in hr.persistent(rows, columns, group=16):
        m, n = row * BM, column * 128
        acc = hr.zeros((BM, 128))
        for block in hr.pipelined(blocks, stages=STAGES, specialize=SPECIALIZE):
            k = block * 128
            a, b = A[m : m + BM, k : k + 128], B[n : n + 128, k : k + 128]
            of_rows, of_block = SA[block, m : m + BM], SB[column, block]
            part = hr.dot(a, b.T, 0.0)  # a sum of its own: the tensor core keeps few bits of sums of 8-bit floats
            acc = acc + part * (of_rows * of_block)[:, None]
        C[m : m + BM, n : n + 128] = acc.to(C.dtype)


@twin(lambda t: {"A": t[:, ::1], "W": hr.i8[:, ::1], "S": t[:, ::1], "C": t[:, ::1]})
@hr.kernel
def gemm_int8_weights(
    A, W, S, C, BM: hr.constexpr, BN: hr.constexpr, G: hr.constexpr, STAGES: hr.constexpr, SPECIALIZE: hr.constexpr
):
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


@twin(lambda t: {"A": t[:, ::1], "W": hr.i8[:, ::1], "S": t[:, ::1], "C": t[:, ::1]})
@hr.kernel
def gemm_int4_weights(
    A, W, S, C, BM: hr.constexpr, BN: hr.constexpr, H: hr.constexpr, STAGES: hr.constexpr, SPECIALIZE: hr.constexpr
):
    rows, columns, groups = hr.cdiv(C.shape[0], BM), hr.cdiv(C.shape[1], BN), hr.cdiv(A.shape[1], 2 * H)
    for row, column in hr.persistent(rows, columns, group=16):
        m, n = row * BM, column * BN
        acc = hr.zeros((BN, BM))
        for g in hr.pipelined(groups, stages=STAGES, specialize=SPECIALIZE):
            at, k = g * H, g * (2 * H)
            k_high = k + H
            q = W[n : n + BN, at : at + H]
            a, a_high = A[m : m + BM, k : k + H], A[m : m + BM, k_high : k_high + H]
            scale = S[g, n : n + BN][:, None]
            low, high = (q << 4) >> 4, q >> 4
            low, high = low.to(A.dtype), high.to(A.dtype)
            low, high = low * scale, high * scale
            acc = hr.dot(low, a.T, acc)
            acc = hr.dot(high, a_high.T, acc)
        C[m : m + BM, n : n + BN] = acc.to(C.dtype).T
