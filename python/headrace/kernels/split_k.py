"""A product of few tiles and a long K: several programs share each tile, and add up atomically."""

# ruff: noqa: N803, N806

from __future__ import annotations

from typing import Any

import headrace as hr
from headrace.kernels import tiles
from headrace.kernels.places import dtype_of, expect, place_of, result


@hr.kernel
def split_k_gemm_kernel(
    A, B, C, splits,
    BM: hr.constexpr = 128, BN: hr.constexpr = 128, BK: hr.constexpr = 64, STAGES: hr.constexpr = "auto",
    SPECIALIZE: hr.constexpr = "auto",
):  # fmt: skip
    rows, columns = hr.cdiv(C.shape[0], BM), hr.cdiv(C.shape[1], BN)
    K = A.shape[1]
    t, split = hr.grid(rows * columns, splits)
    row, column = hr.tile_index(t, (rows, columns), group=16)
    m, n = row * BM, column * BN
    # Whole trips for each part; the last one may have fewer, or none.
    part = hr.cdiv(hr.cdiv(K, BK), splits) * BK
    begin = split * part
    acc = hr.zeros((BM, BN))
    for k in hr.pipelined(begin, min(begin + part, K), BK, stages=STAGES, specialize=SPECIALIZE):
        acc += A[m : m + BM, k : k + BK] @ B[n : n + BN, k : k + BK].T
    hr.atomic_add(C[m : m + BM, n : n + BN], acc)


def split_k_gemm(
    a: Any,
    b: Any,
    splits: int | None = None,
    *,
    out: Any = None,
    on: str | None = None,
    target: str | None = None,
    **constants: Any,
) -> Any:
    """``a b^T`` added to `out` [M, N], f32 (default: zeros): `a` [M, K] and `b` [N, K], f16, bf16, f32, 8-bit floats.

    `splits` programs, at least 1, share each tile; None takes as many as fill a GPU. Sums depend on the order in which
    they finish, in their last bits. See `headrace.kernels` for the rest.
    """
    place = place_of(a, on, target)
    m, k = expect("a", a, None, None)
    n, _ = expect("b", b, None, k)
    if splits is not None and splits < 1:
        raise hr.LaunchError(f"expected splits of at least 1, got {splits}")
    dtype = dtype_of("a", a)
    widest = min(128, tiles.widest(place.target, dtype))
    sizes = {**tiles.product(place.target, m, n, dtype, widest), **constants}
    if splits is None:
        there = hr.cdiv(m, sizes["BM"]) * hr.cdiv(n, sizes["BN"])
        splits = max(1, min(tiles.ENOUGH // max(there, 1), hr.cdiv(k, sizes["BK"])))
    if out is None:
        out = result(None, a, (m, n), hr.f32)
        out[...] = 0
    expect("out", out, m, n)
    place.run(split_k_gemm_kernel, a, b, out, splits, **sizes)
    return out
