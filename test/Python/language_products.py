"""Twins of the library's products."""

# ruff: noqa: N803

from __future__ import annotations

from language_twins import PLACES, VECTOR, matrices, twin

import headrace as hr
from headrace.kernels.batched import batched_gemm_kernel
from headrace.kernels.epilogues import relu
from headrace.kernels.gated import gated_gemm_kernel
from headrace.kernels.gemm import gemm_kernel
from headrace.kernels.grouped import grouped_gemm_kernel
from headrace.kernels.split_k import split_k_gemm_kernel

twin(matrices("A", "B", "R", "C", bias=None), "gemm_residual")(gemm_kernel)
twin(matrices("A", "B", "C", bias=VECTOR, R=None), "gemm_bias_activation", ACTIVATION=relu)(gemm_kernel)
twin(matrices("A", "G", "U", "C"), "gemm_swiglu")(gated_gemm_kernel)
twin(lambda t: dict.fromkeys("ABC", t[:, :, ::1]), "gemm_batched")(batched_gemm_kernel)
twin(matrices("A", "B", C=hr.f32[:, ::1], splits=int), "gemm_split_k")(split_k_gemm_kernel)
twin(lambda t: {"A": t[:, ::1], "B": t[:, :, ::1], "offsets": PLACES, "C": t[:, ::1]}, "gemm_grouped")(
    grouped_gemm_kernel
)


@twin(matrices("A", "B", "C", alpha=float, beta=float))
@hr.kernel
def gemm_alpha_beta(
    A, B, C, alpha, beta,
    BM: hr.constexpr, BN: hr.constexpr, BK: hr.constexpr, STAGES: hr.constexpr, SPECIALIZE: hr.constexpr,
):  # fmt: skip
    reads_c = beta != 0
    for row, column in hr.persistent(hr.cdiv(C.shape[0], BM), hr.cdiv(C.shape[1], BN), group=16):
        m, n = row * BM, column * BN
        acc = hr.zeros((BM, BN))
        for k in hr.pipelined(0, A.shape[1], BK, stages=STAGES, specialize=SPECIALIZE):
            acc += A[m : m + BM, k : k + BK] @ B[k : k + BK, n : n + BN]
        y = acc * alpha
        if reads_c:
            y = y + C[m : m + BM, n : n + BN].to(hr.f32) * beta
        C[m : m + BM, n : n + BN] = y.to(C.dtype)


@twin(matrices("A", "B", C=hr.f32[:, ::1]))
@hr.kernel
def gemm_stream_k(
    A, B, C, BM: hr.constexpr, BN: hr.constexpr, BK: hr.constexpr, STAGES: hr.constexpr, SPECIALIZE: hr.constexpr
):
    rows, columns = hr.cdiv(C.shape[0], BM), hr.cdiv(C.shape[1], BN)
    tiles = rows * columns
    each = hr.cdiv(A.shape[1], BK)
    trips = tiles * each
    program = hr.grid(trips, persistent=True)
    programs = hr.num_programs(0)
    begin, end = program * trips // programs, (program + 1) * trips // programs
    for t in range(begin // each, hr.cdiv(end, each)):
        row, column = hr.tile_index(t, (rows, columns), group=16)
        m, n = row * BM, column * BN
        start = t * each
        first, last = max(begin - start, 0), min(end - start, each)
        acc = hr.zeros((BM, BN))
        for k in hr.pipelined(first * BK, last * BK, BK, stages=STAGES, specialize=SPECIALIZE):
            acc += A[m : m + BM, k : k + BK] @ B[n : n + BN, k : k + BK].T
        if last - first == each:
            C[m : m + BM, n : n + BN] = acc
        else:
            hr.atomic_add(C[m : m + BM, n : n + BN], acc)
