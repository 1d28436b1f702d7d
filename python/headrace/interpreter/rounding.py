"""Numbers in wider types and back: one rounding, to nearest even, whatever the widths.

A value that is rounded twice may go wrong by a unit: 1 + 2^-8 + 2^-40 rounds to 1 + 2^-8 in float32, a tie that
bfloat16 rounds down. Rounding to odd in between (inexact results get an odd last bit) keeps what is needed.
"""

from __future__ import annotations

import ml_dtypes
import numpy as np

_BOOL = np.dtype(np.bool_)
_LARGEST = {
    np.dtype(ml_dtypes.float8_e4m3fn): 448.0,
    np.dtype(ml_dtypes.float8_e5m2): 57344.0,
}


def signed(x: np.ndarray) -> np.ndarray:
    """Integers as int64; an i1 is 0 or -1."""
    return -x.astype(np.int64) if x.dtype == _BOOL else x.astype(np.int64)


def unsigned(x: np.ndarray) -> np.ndarray:
    """Integers as uint64."""
    return x.astype(np.uint64) if x.dtype == _BOOL else x.view(f"u{x.dtype.itemsize}").astype(np.uint64)


def wrap(x: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """The lowest bits of 64-bit integers."""
    return (x & x.dtype.type(1)) != 0 if dtype == _BOOL else x.astype(dtype)


def wide(x: np.ndarray) -> np.ndarray:
    """Floats as float64, exactly."""
    return x.astype(np.float64)


def narrow(x: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """float64 rounded once to `dtype`. 8-bit floats saturate: beyond the largest number there is that number."""
    if dtype in (np.float64, np.float32, np.float16):
        return x.astype(dtype)
    if dtype in _LARGEST:
        x = np.clip(x, -_LARGEST[dtype], _LARGEST[dtype])
    return _to_odd_float32(x).astype(dtype)


def add_to_odd(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """x + y of float64, rounded to odd: a further rounding to at most 51 bits gives what one rounding gives."""
    total, error = two_sum(x, y)
    return make_odd(total, error)


def two_sum(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(s, e) with s = x + y rounded to nearest and s + e = x + y exactly (Knuth)."""
    total = x + y
    part = total - x
    return total, (x - (total - part)) + (y - part)


def two_product(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(p, e) with p = x * y rounded to nearest and p + e = x * y exactly (Dekker), barring overflow."""
    product = x * y
    x_high, x_low = _halves(x)
    y_high, y_low = _halves(y)
    return product, ((x_high * y_high - product) + x_high * y_low + x_low * y_high) + x_low * y_low


def make_odd(value: np.ndarray, error: np.ndarray) -> np.ndarray:
    """`value` + `error` rounded to odd, where `value` is that sum rounded to nearest."""
    even = (value.view(f"u{value.dtype.itemsize}") & 1) == 0
    inexact = (error != 0) & np.isfinite(value) & np.isfinite(error)
    toward = np.where(error > 0, np.inf, -np.inf).astype(value.dtype)
    return np.where(even & inexact, np.nextafter(value, toward), value)


def from_integer(x: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """int64 or uint64 rounded once to a float."""
    if dtype in (np.float32, np.float64):
        return x.astype(dtype)
    high = x >> x.dtype.type(32) << x.dtype.type(32)
    return narrow(add_to_odd(high.astype(np.float64), (x - high).astype(np.float64)), dtype)


def to_integer(x: np.ndarray, low: int, high: int) -> np.ndarray:
    """float64 cut to an integer from `low` to `high`, as int64 or uint64; out of range saturates, NaN gives 0."""
    kind = np.uint64 if low == 0 else np.int64
    inside = np.where((x > low - 1.0) & (x < high + 1.0), x, 0)
    result = np.clip(np.trunc(inside), low, float(high) if high < 2**53 else np.nextafter(float(high), 0)).astype(kind)
    result = np.where(x >= high + 1.0, kind(high), result)
    return np.where(x <= low - 1.0, kind(low), result)


def convert(x: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Floats in another type of float."""
    return x if x.dtype == dtype else narrow(wide(x), dtype)


def integer_limits(dtype: np.dtype, is_signed: bool) -> tuple[int, int]:
    """Smallest and largest value of an integer type."""
    bits = 1 if dtype == _BOOL else 8 * dtype.itemsize
    return (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if is_signed else (0, (1 << bits) - 1)


def zero_of(dtype: np.dtype) -> np.ndarray:
    """Zero, without dimensions."""
    return np.zeros((), dtype)


def _to_odd_float32(x: np.ndarray) -> np.ndarray:
    nearest = x.astype(np.float32)
    error = x - nearest.astype(np.float64)
    return make_odd(nearest, np.where(np.isnan(error), 0, error))


def _halves(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    scaled = x * (2.0**27 + 1)
    high = scaled - (scaled - x)
    return high, x - high
