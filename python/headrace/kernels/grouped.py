"""Products whose rows belong to groups with a matrix each: the experts of a mixture."""

# ruff: noqa: N803, N806

from __future__ import annotations

from typing import Any

import headrace as hr
from headrace.kernels import tiles
from headrace.kernels.gemm import default_output
from headrace.kernels.places import dtype_of, expect, place_of, result


@hr.kernel
def grouped_gemm_kernel(
    A, B, offsets, C,
    BM: hr.constexpr = 128, BN: hr.constexpr = 128, BK: hr.constexpr = 64, STAGES: hr.constexpr = "auto",
    SPECIALIZE: hr.constexpr = "auto",
):  # fmt: skip
    M, N = C.shape
    groups, columns = B.shape[0], hr.cdiv(N, BN)
    g = base = 0
    # Every group adds at most one ragged block of rows.
    for t in hr.persistent((hr.cdiv(M, BM) + groups) * columns):
        # The group of this tile: on from the last one's, whose tiles begin at `base`.
        goes_on = True
        while goes_on:
            is_group, after = g < groups, g + 1
            begin, end = offsets[g], offsets[after]
            to = base + hr.cdiv(int(end - begin), BM) * columns
            goes_on = is_group & (t >= to)
            g, base = (after if goes_on else g), (to if goes_on else base)
        if g < groups:
            after = g + 1
            begin, end = offsets[g], offsets[after]
            first, last = int(begin), int(end)
            blocks = hr.cdiv(last - first, BM)
            row, column = hr.tile_index(t - base, (blocks, columns), group=16)
            m, n = max(first + row * BM, 0), column * BN
            acc = hr.zeros((BM, BN))
            for k in hr.pipelined(0, A.shape[1], BK, stages=STAGES, specialize=SPECIALIZE):
                acc += A[m : m + BM, k : k + BK] @ B[g, n : n + BN, k : k + BK].T
            c = acc.to(C.dtype)
            if m + BM <= last:
                C[m : m + BM, n : n + BN] = c
            else:
                # The rows behind the group's end are the next group's: they go to a place outside of C.
                places = m + hr.arange(BM)
                C[hr.where(places < end, places, M), n : n + BN] = c


def grouped_gemm(
    a: Any,
    b: Any,
    offsets: Any,
    *,
    out: Any = None,
    out_dtype: hr.DType | None = None,
    on: str | None = None,
    target: str | None = None,
    **constants: Any,
) -> Any:
    """``a[r] b[g]^T`` for the rows r of each group g: `a` [rows, K], `b` [groups, N, K], the result [rows, N].

    Group g has the rows ``offsets[g]`` to below ``offsets[g + 1]``: `offsets` [groups + 1] is i32, on the device, from
    0 to the number of rows, and does not fall; groups may be empty. Operands are f16, bf16, f32 or 8-bit floats; the
    result is `out_dtype`, by default that of `a` (bf16 for 8-bit floats). See `headrace.kernels` for the rest.
    """
    place = place_of(a, on, target)
    m, k = expect("a", a, None, None)
    groups, n, _ = expect("b", b, None, None, k)
    expect("offsets", offsets, groups + 1)
    dtype = dtype_of("a", a)
    out = result(out, a, (m, n), out_dtype or default_output(dtype))
    chosen = {**tiles.product(place.target, m, n, dtype, min(128, tiles.widest(place.target, dtype))), **constants}
    place.run(grouped_gemm_kernel, a, b, offsets, out, **chosen)
    return out
