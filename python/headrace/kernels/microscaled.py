"""Products in microscaling formats: numbers of 8 or 4 bits with a scale for each block along K."""

# ruff: noqa: N803

from __future__ import annotations

import sys
from typing import Any

import headrace as hr
from headrace.kernels import tiles
from headrace.kernels.places import dtype_of, expect, place_of, result


@hr.kernel
def microscaled_gemm_kernel(
    A, SA, B, SB, C,
    BM: hr.constexpr = 128, BN: hr.constexpr = 128, COLUMNS: hr.constexpr = 64, SCALES: hr.constexpr = 2,
    STAGES: hr.constexpr = "auto", SPECIALIZE: hr.constexpr = "auto",
):  # fmt: skip
    for row, column in hr.persistent(hr.cdiv(C.shape[0], BM), hr.cdiv(C.shape[1], BN), group=16):
        m, n = row * BM, column * BN
        total = hr.zeros((BM, BN))
        for trip in hr.pipelined(hr.cdiv(A.shape[1], COLUMNS), stages=STAGES, specialize=SPECIALIZE):
            k, s = trip * COLUMNS, trip * SCALES
            a, b = A[m : m + BM, k : k + COLUMNS], B[n : n + BN, k : k + COLUMNS]
            of_a, of_b = SA[m : m + BM, s : s + SCALES], SB[n : n + BN, s : s + SCALES]
            total = hr.dot_scaled(a, of_a, b, of_b, total)
        C[m : m + BM, n : n + BN] = total.to(C.dtype)


#: Types of others for bytes whose bits are exponents, or pairs of numbers.
_BYTES = ("uint8", "float8_e8m0fnu", "float4_e2m1fn_x2")


def _as_i8(array: Any) -> Any:
    """The array, bytes of numpy and torch as what holds their bits here."""
    module, _, name = str(getattr(array, "dtype", "")).rpartition(".")
    if name not in _BYTES:
        return array
    return array.view(sys.modules["torch"].int8 if module == "torch" else "int8")


def microscaled_gemm(
    a: Any,
    a_scale: Any,
    b: Any,
    b_scale: Any,
    *,
    out: Any = None,
    out_dtype: hr.DType = hr.bf16,
    on: str | None = None,
    target: str | None = None,
    **constants: Any,
) -> Any:
    """``(a a_scale) (b b_scale)^T``, each scale for its block of a row: mxfp8, mxfp4 and nvfp4.

    `a` is [M, K] and `b` [N, K] of e4m3 or e5m2 (sm_89 on), or bytes of two e2m1 numbers each, [M, K / 2] and
    [N, K / 2], the even one in the low half. `a_scale` is [M, K / 32] and `b_scale` [N, K / 32] of bytes, which are
    exponents of two with a bias of 127, or for e2m1 also [M, K / 16] and [N, K / 16] of e4m3. The result is [M, N] of
    `out_dtype`, summed in f32. See `hr.dot_scaled` for what is exact, `headrace.kernels` for the rest.
    """
    a, a_scale, b, b_scale = (_as_i8(array) for array in (a, a_scale, b, b_scale))
    place = place_of(a, on, target)
    m, held = expect("a", a, None, None)
    n, _ = expect("b", b, None, None)
    packed = 2 if dtype_of("a", a) is hr.i8 else 1
    block = 32 if dtype_of("a_scale", a_scale) is hr.i8 else 16
    if held * packed % block:
        raise hr.LaunchError(f"argument 'a': expected a multiple of {block} numbers in a row, got {held * packed}")
    expect("a_scale", a_scale, m, held * packed // block)
    expect("b_scale", b_scale, n, held * packed // block)
    out = result(out, a, (m, n), out_dtype)
    # Numbers pass through registers before they are multiplied, which leaves room for fewer sums.
    size = 128 if tiles.generation_of(place.target) in ("sm_90", "sm_100") else 64
    chosen = {"BM": size, "BN": size, "COLUMNS": 64 // packed, "SCALES": 64 // block, **constants}
    place.run(microscaled_gemm_kernel, a, a_scale, b, b_scale, out, **chosen)
    return out
