"""Twins of the library's products."""

# ruff: noqa: N803, N806

from __future__ import annotations

from language_twins import PLACES, VECTOR, matrices, twin

import headrace as hr


@hr.inline
def multiply(A, B, m, n, BM, BN, BK, STAGES, SPECIALIZE):
    """The tile at (m, n) of A * B^T."""
    acc = hr.zeros((BM, BN))
    for k in hr.pipelined(0, A.shape[1], BK, stages=STAGES, specialize=SPECIALIZE):
        acc = hr.dot(A[m : m + BM, k : k + BK], B[n : n + BN, k : k + BK].T, acc)
    return acc


@twin(matrices("A", "B", "R", "C"))
@hr.kernel
def gemm_residual(
    A, B, R, C, BM: hr.constexpr, BN: hr.constexpr, BK: hr.constexpr, STAGES: hr.constexpr, SPECIALIZE: hr.constexpr
):
    for row, column in hr.persistent(hr.cdiv(C.shape[0], BM), hr.cdiv(C.shape[1], BN), group=16):
        m, n = row * BM, column * BN
        acc = multiply(A, B, m, n, BM, BN, BK, STAGES, SPECIALIZE)
        y = acc + R[m : m + BM, n : n + BN].to(hr.f32)
        C[m : m + BM, n : n + BN] = y.to(C.dtype)


@twin(matrices("A", "B", "C", bias=VECTOR))
@hr.kernel
def gemm_bias_activation(
    A, B, bias, C,
    BM: hr.constexpr, BN: hr.constexpr, BK: hr.constexpr, STAGES: hr.constexpr, ACT: hr.constexpr,
    SPECIALIZE: hr.constexpr,
):  # fmt: skip
    for row, column in hr.persistent(hr.cdiv(C.shape[0], BM), hr.cdiv(C.shape[1], BN), group=16):
        m, n = row * BM, column * BN
        x = multiply(A, B, m, n, BM, BN, BK, STAGES, SPECIALIZE) + bias[n : n + BN][None, :]
        if ACT == 0:
            y = hr.maximum(x, 0.0)
        elif ACT == 1:
            y = x * 0.5 * (hr.tanh((x * x * 0.044715 + 1) * x * 0.7978845608) + 1)
        else:
            y = x / (hr.exp(-x) + 1)
        C[m : m + BM, n : n + BN] = y.to(C.dtype)


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


@twin(matrices("A", "G", "U", "C"))
@hr.kernel
def gemm_swiglu(
    A, G, U, C, BM: hr.constexpr, BN: hr.constexpr, BK: hr.constexpr, STAGES: hr.constexpr, SPECIALIZE: hr.constexpr
):
    for row, column in hr.persistent(hr.cdiv(C.shape[0], BM), hr.cdiv(C.shape[1], BN), group=16):
        m, n = row * BM, column * BN
        gate = up = hr.zeros((BM, BN))
        for k in hr.pipelined(0, A.shape[1], BK, stages=STAGES, specialize=SPECIALIZE):
            a = A[m : m + BM, k : k + BK]
            g, u = G[n : n + BN, k : k + BK], U[n : n + BN, k : k + BK]
            gate += a @ g.T
            up += a @ u.T
        silu = gate / (hr.exp(-gate) + 1)
        C[m : m + BM, n : n + BN] = (silu * up).to(C.dtype)


@twin(lambda t: dict.fromkeys("ABC", t[:, :, ::1]))
@hr.kernel
def gemm_batched(
    A, B, C, BM: hr.constexpr, BN: hr.constexpr, BK: hr.constexpr, STAGES: hr.constexpr, SPECIALIZE: hr.constexpr
):
    batch, M, N = C.shape
    rows, columns = hr.cdiv(M, BM), hr.cdiv(N, BN)
    each = rows * columns
    for t in hr.persistent(each * batch):
        i = t // each
        row, column = hr.tile_index(t % each, (rows, columns), group=16)
        m, n = row * BM, column * BN
        acc = hr.zeros((BM, BN))
        for k in hr.pipelined(0, A.shape[2], BK, stages=STAGES, specialize=SPECIALIZE):
            acc += A[i, m : m + BM, k : k + BK] @ B[i, n : n + BN, k : k + BK].T
        C[i, m : m + BM, n : n + BN] = acc.to(C.dtype)


@twin(matrices("A", "B", C=hr.f32[:, ::1], splits=int))
@hr.kernel
def gemm_split_k(
    A, B, C, splits,
    BM: hr.constexpr, BN: hr.constexpr, BK: hr.constexpr, STAGES: hr.constexpr, SPECIALIZE: hr.constexpr,
):  # fmt: skip
    rows, columns = hr.cdiv(C.shape[0], BM), hr.cdiv(C.shape[1], BN)
    K = A.shape[1]
    t, split = hr.grid(rows * columns, splits)
    row, column = hr.tile_index(t, (rows, columns), group=16)
    m, n = row * BM, column * BN
    part = hr.cdiv(hr.cdiv(K, BK), splits) * BK
    begin = split * part
    acc = hr.zeros((BM, BN))
    for k in hr.pipelined(begin, min(begin + part, K), BK, stages=STAGES, specialize=SPECIALIZE):
        acc += A[m : m + BM, k : k + BK] @ B[n : n + BN, k : k + BK].T
    hr.atomic_add(C[m : m + BM, n : n + BN], acc)


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


@hr.inline
def blocks_of(offsets, group, BM):
    """The number of blocks of rows of a group; none for one behind the last."""
    return hr.cdiv(int(offsets[group + 1]) - int(offsets[group]), BM)


@twin(lambda t: {"A": t[:, ::1], "B": t[:, :, ::1], "offsets": PLACES, "C": t[:, ::1]})
@hr.kernel
def gemm_grouped(
    A, B, offsets, C,
    BM: hr.constexpr, BN: hr.constexpr, BK: hr.constexpr, STAGES: hr.constexpr, SPECIALIZE: hr.constexpr,
):  # fmt: skip
    M, N = C.shape
    groups, columns = B.shape[0], hr.cdiv(N, BN)
    g = base = 0
    # Every group adds at most one ragged block of rows.
    for t in hr.persistent((hr.cdiv(M, BM) + groups) * columns):
        to = base + blocks_of(offsets, g, BM) * columns
        while g < groups and t >= to:
            g, base = g + 1, to
            to = base + blocks_of(offsets, g, BM) * columns
        if g < groups:
            begin, end = int(offsets[g]), int(offsets[g + 1])
            row, column = hr.tile_index(t - base, (hr.cdiv(end - begin, BM), columns), group=16)
            m, n = max(begin + row * BM, 0), column * BN
            acc = hr.zeros((BM, BN))
            for k in hr.pipelined(0, A.shape[1], BK, stages=STAGES, specialize=SPECIALIZE):
                acc += A[m : m + BM, k : k + BK] @ B[g, n : n + BN, k : k + BK].T
            c = acc.to(C.dtype)
            if m + BM <= end:
                C[m : m + BM, n : n + BN] = c
            else:
                # The rows behind the group's end are the next group's: they go to a place outside of C.
                places = m + hr.arange(BM)
                C[hr.where(places < end, places, M), n : n + BN] = c
