"""Small floating-point formats on arrays of bits: values of bits, and bits of values rounded to nearest even."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Format:
    """A binary format: stored mantissa bits, exponent bits, bytes it travels in. `finite`: has NaN, no infinity."""

    mantissa: int
    exponent: int
    bytes: int
    finite: bool = False

    @property
    def bias(self) -> int:
        return (1 << (self.exponent - 1)) - 1

    @property
    def sign(self) -> int:
        return 1 << (self.mantissa + self.exponent)

    @property
    def infinity(self) -> int:
        """Bits of infinity; of the one NaN if the format has none."""
        return self.sign - 1 if self.finite else ((1 << self.exponent) - 1) << self.mantissa

    @property
    def max_exponent(self) -> int:
        """Of the largest finite number."""
        return self.bias + (1 if self.finite else 0)

    @property
    def min_exponent(self) -> int:
        """Of the smallest normal number."""
        return 1 - self.bias


FORMATS = {
    "f32": Format(23, 8, 4),
    "tf32": Format(10, 8, 4),
    "bf16": Format(7, 8, 2),
    "f16": Format(10, 5, 2),
    "e5m2": Format(2, 5, 1),
    "e4m3": Format(3, 4, 1, finite=True),
}


def decode(bits, dtype: str) -> np.ndarray:
    """Values, as float64, of bits in `dtype` (tf32: the format's own 19 bits)."""
    form = FORMATS[dtype]
    bits = np.asarray(bits, np.int64)
    magnitude = bits & (form.sign - 1)
    exponent = magnitude >> form.mantissa
    fraction = magnitude & ((1 << form.mantissa) - 1)
    normal = exponent > 0
    scale = np.where(normal, exponent, 1) - form.bias - form.mantissa
    value = np.ldexp((fraction + (normal.astype(np.int64) << form.mantissa)).astype(np.float64), scale)
    if form.finite:
        value = np.where(magnitude == form.infinity, np.nan, value)
    else:
        value = np.where(magnitude == form.infinity, np.inf, np.where(magnitude > form.infinity, np.nan, value))
    return np.where(bits & form.sign, -value, value)


def exponent_of(values: np.ndarray) -> np.ndarray:
    """floor(log2(x)) of positive normal float64 numbers, as int64: from their bits."""
    return (values.view(np.int64) >> 52) - 1023


def encode(values, dtype: str):
    """Bits, as int64, of float64 values rounded to nearest even; too large ones become infinity (or the NaN)."""
    form = FORMATS[dtype]
    values = np.asarray(values, np.float64)
    sign = np.where(np.signbit(values), form.sign, 0)
    size = np.abs(values)
    with np.errstate(all="ignore"):
        regular = np.where(np.isfinite(size) & (size > 0), size, 2.0**form.min_exponent)
        exponent = np.maximum(exponent_of(regular), form.min_exponent)
        units = np.rint(np.ldexp(np.where(np.isfinite(size), size, 0.0), form.mantissa - exponent)).astype(np.int64)
    bits = units + ((exponent - form.min_exponent) << form.mantissa)
    bits = np.where((bits >= form.infinity) | np.isinf(size), form.infinity, bits)
    bits = np.where(np.isnan(values), form.infinity if form.finite else form.infinity | 1 << (form.mantissa - 1), bits)
    result = sign | bits
    return int(result) if result.ndim == 0 else result
