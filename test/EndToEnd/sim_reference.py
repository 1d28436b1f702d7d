"""Inputs, float64 references and error bounds of kernels that run on headrace-sim: gemm_reference's rules in numpy.

Every array lies in a larger one whose other elements are poison: rows are padded to a stride beyond their length, and
further rows and an offset surround them. A kernel that reads outside an input computes NaN (or a wrong integer), one
that writes outside its output, or leaves an element of it unwritten, is found by its poison.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import ml_dtypes
import numpy as np


@dataclass(frozen=True)
class Dtype:
    """`unit` is half the distance from 1 to the next number, `tiny` half the smallest distance between numbers.

    `exact_limit` bounds the integer inputs whose sums stay exact in the accumulator. `raw` is the type in .npy files.
    """

    numpy: type
    raw: type
    unit: float
    tiny: float
    exact_limit: int


DTYPES = {
    "bf16": Dtype(ml_dtypes.bfloat16, np.uint16, 2.0**-8, 2.0**-134, 4),
    "f16": Dtype(np.float16, np.float16, 2.0**-11, 2.0**-25, 4),
    "f32": Dtype(np.float32, np.float32, 2.0**-24, 2.0**-150, 16),
    "f64": Dtype(np.float64, np.float64, 2.0**-53, 0.0, 1000),
    "e4m3": Dtype(ml_dtypes.float8_e4m3fn, np.uint8, 2.0**-4, 2.0**-10, 2),
    "e5m2": Dtype(ml_dtypes.float8_e5m2, np.uint8, 2.0**-3, 2.0**-17, 2),
    "i8": Dtype(np.int8, np.int8, 0.0, 0.0, 128),
    "i32": Dtype(np.int32, np.int32, 0.0, 0.0, 128),
}

#: Relative error of one accumulation. Tensor cores truncate; on sm_90 they keep 14 bits of the sum of 8-bit floats.
_ACCUMULATOR_UNIT = {"f32": 2.0**-23, "f64": 2.0**-53, "fp8": 2.0**-13}
#: Products that a tensor core adds in one accumulation, at least.
_PRODUCTS_PER_STEP = {1: 32, 2: 8, 4: 4, 8: 1}
#: Poison of integers; floats get NaN.
_POISON = {"i8": 0x7F, "i32": -(2**31)}
_BITS = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}
_GUARD_ROWS = 2
_GUARD_ELEMENTS = 64  # before and after a one-dimensional array; a multiple of 16 bytes of every type


def bits(array: np.ndarray) -> np.ndarray:
    """`array` as integers of the same width, so that NaNs compare equal."""
    return np.ascontiguousarray(array).view(_BITS[array.dtype.itemsize])


@dataclass
class Array:
    """The part `slices` of `storage`, whose remaining elements are poison."""

    dtype: str
    storage: np.ndarray
    slices: tuple[slice, ...]

    @property
    def view(self) -> np.ndarray:
        return self.storage[self.slices]

    def outside(self) -> np.ndarray:
        """Bits of the storage, with zeros for the part."""
        result = bits(self.storage).copy()
        result[self.slices] = 0
        return result


@dataclass(frozen=True)
class Verdict:
    """`status` is "ok", "wrong", "unwritten" or "guard"; `ratio` the largest error over its tolerance."""

    status: str
    detail: str = ""
    ratio: float = 0.0


def row_stride(columns: int, size: int, align: int) -> int:
    """The smallest stride in elements of `size` bytes that is longer than a row and a multiple of `align` bytes, and of
    no larger power of two when `align` is below 16."""
    step = max(align // size, 1)
    stride = (columns // step + 1) * step
    if align < 16 and (stride // step) % 2 == 0:
        stride += step
    return stride


def poisoned(dtype: str, shape: tuple[int, ...], align: int = 16) -> Array:
    """An array of that shape in poison, it too poison. Its start and row stride are aligned to `align` bytes, and no
    better if that is below 16."""
    kind = DTYPES[dtype].numpy
    size = np.dtype(kind).itemsize
    step = max(align // size, 1)
    if len(shape) == 1:
        whole, slices = (shape[0] + 2 * _GUARD_ELEMENTS,), (slice(_GUARD_ELEMENTS, _GUARD_ELEMENTS + shape[0]),)
    else:
        rows, columns = shape
        stride = row_stride(columns + step, size, align)  # holds the offset of a step too
        whole = (rows + 2 * _GUARD_ROWS, stride)
        slices = (slice(_GUARD_ROWS, _GUARD_ROWS + rows), slice(step, step + columns))
    return Array(dtype, np.full(whole, _POISON.get(dtype, math.nan)).astype(kind), slices)


def embedded(dtype: str, values: np.ndarray, align: int = 16) -> Array:
    """`values`, rounded to the type, in poison."""
    array = poisoned(dtype, values.shape, align)
    array.storage[array.slices] = values.astype(DTYPES[dtype].numpy)
    return array


def judge_exact(before: Array, after: np.ndarray, expected: np.ndarray) -> Verdict:
    """Compares an output's storage: `expected` in its part (+0 and -0 are one), poison as before around it."""
    got = Array(before.dtype, after, before.slices)
    guard = _guard_verdict(before, got)
    if guard is not None:
        return guard
    wanted = expected.astype(DTYPES[before.dtype].numpy)
    wrong = (bits(got.view) != bits(wanted)) & ~((got.view == 0) & (wanted == 0))
    return _value_verdict(before, got, wrong, wanted, 0.0)


def _guard_verdict(before: Array, got: Array) -> Verdict | None:
    touched = np.argwhere(got.outside() != before.outside())
    if not len(touched):
        return None
    start = tuple(part.start for part in got.slices)
    place = tuple(int(at - first) for at, first in zip(touched[0], start, strict=True))
    return Verdict("guard", f"{len(touched)} elements written outside the output, first at {place}", math.inf)


def _value_verdict(before: Array, got: Array, wrong: np.ndarray, expected: np.ndarray, ratio: float) -> Verdict:
    if not wrong.any():
        return Verdict("ok", ratio=ratio)
    where = np.argwhere(wrong)
    first, lowest, highest = (tuple(int(i) for i in at) for at in (where[0], where.min(axis=0), where.max(axis=0)))
    missing = int((wrong & (bits(got.view) == bits(before.view))).sum())
    detail = (
        f"{len(where)} of {wrong.size} wrong ({missing} as before), within {lowest}..{highest}; at {first} expected "
        f"{float(expected[first]):.8g}, got {float(got.view[first]):.8g}"
    )
    return Verdict("unwritten" if missing == len(where) else "wrong", detail, ratio or math.inf)


@dataclass(frozen=True)
class Problem:
    """C = A * B with A of M x K and B of K x N, each stored as its letter of the orientation says (BLAS style).

    A: T stored [M, K], N stored [K, M]; B: N stored [N, K], T stored [K, N]. `align` is the alignment, in bytes, of
    pointers and row strides. `precision` is "ieee" or "tf32", of f32 inputs.
    """

    orientation: str
    dtype: str
    out: str
    precision: str = "ieee"
    align: int = 16

    def logical(self, a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Stored A and B as an M x K and a K x N view."""
        return (a if self.orientation[0] == "T" else a.T), (b.T if self.orientation[1] == "N" else b)

    def inputs(self, m: int, n: int, k: int, integers: bool, rng: np.random.Generator) -> tuple[Array, Array]:
        """A and B from integers that give exact sums, or from a normal distribution."""
        a, b = self.logical(np.empty((m, k)), np.empty((k, n)))
        shapes = a.shape, b.shape
        return tuple(embedded(self.dtype, self._values(shape, integers, rng), self.align) for shape in shapes)

    def _values(self, shape: tuple[int, int], integers: bool, rng: np.random.Generator) -> np.ndarray:
        limit = DTYPES[self.dtype].exact_limit
        if self.dtype == "i8":
            return rng.integers(-limit, limit, shape)
        return rng.integers(-limit, limit + 1, shape).astype(np.float64) if integers else rng.standard_normal(shape)

    def judge(self, a: Array, b: Array, c: Array, after: np.ndarray, integers: bool) -> Verdict:
        """Compares `after`, the storage of C as a kernel left it, with the float64 product (exact for integers)."""
        wide_a, wide_b = (x.astype(np.float64) for x in self.logical(a.view, b.view))
        exact = wide_a @ wide_b
        if integers or self.dtype == "i8":
            return judge_exact(c, after, exact)
        got = Array(c.dtype, after, c.slices)
        guard = _guard_verdict(c, got)
        if guard is not None:
            return guard
        scale = np.sqrt((wide_a * wide_a) @ (wide_b * wide_b))
        bound = self.tolerance(wide_a.shape[1], exact, scale)
        error = np.abs(got.view.astype(np.float64) - exact)
        with np.errstate(divide="ignore", invalid="ignore"):  # a bound may be zero
            relative = np.where(error == 0, 0.0, np.where(np.isnan(error), math.inf, error / bound))
        return _value_verdict(c, got, relative > 1, exact, float(relative.max(initial=0.0)))

    def tolerance(self, k: int, exact: np.ndarray, scale: np.ndarray) -> np.ndarray:
        """The largest admissible |C - exact|, element-wise. `scale` is sqrt(sum of squared products).

        Partial sums of independent products stay below 6 * scale; each accumulation errs by a unit of that.
        """
        dtype, out = DTYPES[self.dtype], DTYPES[self.out]
        if self.dtype in ("f32", "f64") and self.precision == "ieee":
            # Rounded to nearest at every step: errors add like a random walk.
            bound = (4 * math.sqrt(k) + 8) * dtype.unit * 6 * scale
        else:
            unit = _ACCUMULATOR_UNIT["fp8" if self.dtype in ("e4m3", "e5m2") else "f32"]
            steps = k / _PRODUCTS_PER_STEP[np.dtype(dtype.numpy).itemsize] + 4
            bound = steps * unit * 6 * scale
        if self.dtype == "f32" and self.precision == "tf32":
            # Inputs cut to 11 bits: up to 2^-10 each, of one sign on average.
            bound = bound + 2.0**-9 * np.abs(exact) + 6 * 2.0**-10 * scale
        return bound + out.unit * (np.abs(exact) + bound) + out.tiny
