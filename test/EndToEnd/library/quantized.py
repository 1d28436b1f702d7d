"""Calls of the products of 8-bit operands with scales, and of those that unpack their weights in the loop."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from library.arrays import holding, normal, surrounded
from library.case import Call, Variant
from library.running_error import Real, dot, real

_SHAPES = ((129, 200, 400), (1, 8, 32), (65, 72, 0), (63, 130, 144), (130, 16, 272))
_SMALL = {"BM": 128, "BN": 64, "STAGES": 3}
_FP8 = ("sm_90a", "sm_100a")  # and 8.9
_SCALE_BLOCK = 128


def _scales(rng: np.random.Generator, dtype: str, shape: tuple[int, ...]):
    return holding(dtype, np.exp2(rng.uniform(-4, 1, shape)))


def _integers(rng: np.random.Generator, shape: tuple[int, ...]):
    return holding("i8", rng.integers(-128, 128, shape))


def _row_scaled(dtype: str):
    def calls(rng):
        make = _integers if dtype == "i8" else lambda rng, shape: normal(rng, dtype, shape)
        for m, n, k in _SHAPES:
            a, b = make(rng, (m, k)), make(rng, (n, k))
            rows, columns = _scales(rng, "f32", (m,)), _scales(rng, "f32", (n,))
            exact = dot(a.view, b.view.astype(np.float64).T, dtype)
            exact = Real(exact.value, exact.error + 2.0**-24 * np.abs(exact.value))  # i32 to f32
            exact = exact * rows.view[:, None] * columns.view
            yield Call(f"{m}x{n}x{k}", [a, b, rows, columns, surrounded("bf16", (m, n))], {4: exact})

    return calls


def _block_scaled(rng):
    for m, n, k in _SHAPES:
        blocks, columns = -(-k // _SCALE_BLOCK), -(-n // _SCALE_BLOCK)
        a, b = normal(rng, "e4m3", (m, k)), normal(rng, "e4m3", (n, k))
        of_a, of_b = _scales(rng, "f32", (blocks, m)), _scales(rng, "f32", (columns, blocks))
        each_b = np.repeat(of_b.view, _SCALE_BLOCK, axis=0)[:n]
        exact = real(np.zeros((m, n)))
        for block in range(blocks):
            part = slice(block * _SCALE_BLOCK, (block + 1) * _SCALE_BLOCK)
            product = dot(a.view[:, part], b.view[:, part].astype(np.float64).T, "e4m3")
            exact = exact + product * (real(of_a.view[block][:, None]) * each_b[:, block])
        yield Call(f"{m}x{n}x{k}", [a, b, of_a, of_b, surrounded("bf16", (m, n))], {4: exact})


def _dequantized(weights: np.ndarray, scales: np.ndarray, group: int, dtype: str) -> Real:
    """weights [N, K] times scales [groups, N], rounded to `dtype` as the kernel's operand is."""
    each = np.repeat(np.asarray(scales, np.float64), group, axis=0)[: weights.shape[1]].T
    return real(weights.astype(np.float64) * each).rounded_to(dtype)


def _int8_weights(rng):
    group = 64
    for m, n, k in _SHAPES:
        a, w = normal(rng, "bf16", (m, k)), _integers(rng, (n, k))
        scales = _scales(rng, "bf16", (-(-k // group), n))
        exact = dot(a.view, _dequantized(w.view, scales.view, group, "bf16").swapped(), "bf16")
        yield Call(f"{m}x{n}x{k}", [a, w, scales, surrounded("bf16", (m, n))], {3: exact})


def pack(weights: np.ndarray, half: int) -> np.ndarray:
    """4-bit weights [N, K] as bytes: of each 2 * half weights the first half low, the second half high."""
    rows, count = weights.shape
    groups = -(-count // (2 * half))
    padded = np.zeros((rows, groups * 2 * half), np.int8)
    padded[:, :count] = weights
    low, high = np.moveaxis(padded.reshape(rows, groups, 2, half), 2, 0)
    return ((high << 4) | (low & 0xF)).reshape(rows, groups * half).astype(np.int8)


def _int4_weights(half: int):
    def calls(rng):
        for m, n, k in _SHAPES:
            a, w = normal(rng, "bf16", (m, k)), rng.integers(-8, 8, (n, k))
            packed = holding("i8", pack(w, half))
            scales = _scales(rng, "bf16", (-(-k // (2 * half)), n))
            exact = dot(a.view, _dequantized(w, scales.view, 2 * half, "bf16").swapped(), "bf16")
            yield Call(f"{m}x{n}x{k}", [a, packed, scales, surrounded("bf16", (m, n))], {3: exact})

    return calls


def e2m1(codes: np.ndarray) -> np.ndarray:
    """What 4-bit codes mean: three bits of magnitude below the sign."""
    return np.where(codes & 8, -1.0, 1.0) * np.array([0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0])[codes & 7]


def in_pairs(codes: np.ndarray) -> np.ndarray:
    """4-bit codes as bytes, the even one low."""
    return (codes[:, ::2] | codes[:, 1::2] << 4).astype(np.uint8).view(np.int8)


def _microscaled(numbers: str, block: int):
    """Operands of `numbers` ("e2m1" in pairs), with exponents as scales of 32, or factors of e4m3 of 16."""

    def operand(rng, rows: int, k: int):
        """The array, its scales, and what both mean."""
        if numbers == "e2m1":
            codes = rng.integers(0, 16, (rows, k))
            array, values = holding("i8", in_pairs(codes)), e2m1(codes)
        else:
            array = normal(rng, numbers, (rows, k))
            values = array.view.astype(np.float64)
        if block == 16:
            scales = _scales(rng, "e4m3", (rows, k // block))
            factors = scales.view.astype(np.float64)
        else:
            exponents = rng.integers(115, 135, (rows, k // block))
            scales = holding("i8", exponents.astype(np.uint8).view(np.int8))
            factors = np.exp2(exponents - 127.0)
        return array, scales, values * np.repeat(factors, block, axis=1)

    def calls(rng):
        for m, n, k in ((129, 200, 416), (1, 8, 32), (65, 72, 0), (63, 130, 160), (130, 16, 288)):
            (a, of_a, a_value), (b, of_b, b_value) = operand(rng, m, k), operand(rng, n, k)
            exact = dot(real(a_value), real(b_value).swapped(), "bf16")
            yield Call(f"{m}x{n}x{k}", [a, of_a, b, of_b, surrounded("bf16", (m, n))], {4: exact})

    return calls


def variants() -> Iterator[Variant]:
    yield Variant("gemm_int8_scaled", _row_scaled("i8"), {"BK": 64, **_SMALL})
    yield Variant("gemm_int8_scaled", _row_scaled("i8"), {}, "large", in_quick=False)
    yield Variant("gemm_fp8_row_scaled", _row_scaled("e4m3"), {"BK": 64, **_SMALL}, targets=_FP8)
    yield Variant("gemm_fp8_row_scaled", _row_scaled("e4m3"), {}, "large", targets=_FP8, in_quick=False)
    yield Variant("gemm_fp8_block_scaled", _block_scaled, {"STAGES": 2}, targets=_FP8)
    yield Variant("gemm_fp8_block_scaled", _block_scaled, {"BM": 64}, "rows-64", targets=_FP8, in_quick=False)
    e4m3, e5m2 = ({"T": name, "COLUMNS": 64} for name in ("f8E4M3FN", "f8E5M2"))
    nvfp4 = {"S": "f8E4M3FN", "SCALES": 4, "BM": 64, "BN": 64}
    yield Variant("gemm_microscaled", _microscaled("e2m1", 32))
    yield Variant("gemm_microscaled", _microscaled("e2m1", 16), nvfp4, "nvfp4", targets=_FP8)
    yield Variant("gemm_microscaled", _microscaled("e4m3", 32), e4m3, "e4m3", targets=_FP8)
    yield Variant("gemm_microscaled", _microscaled("e5m2", 32), e5m2, "e5m2", targets=_FP8, in_quick=False)
    yield Variant("gemm_int8_weights", _int8_weights, _SMALL)
    yield Variant("gemm_int8_weights", _int8_weights, {}, "large", in_quick=False)
    yield Variant("gemm_int4_weights", _int4_weights(16), {"H": 16, "BM": 64, "BN": 128, "STAGES": 3})
    yield Variant("gemm_int4_weights", _int4_weights(32), {}, "large", in_quick=False)
