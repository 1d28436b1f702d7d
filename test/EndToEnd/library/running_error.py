"""Float64 references that carry a bound on the error of the kernel they stand for: the one rule for tolerances.

A kernel computes in f32 what its reference computes in float64, so each operation errs, and errors propagate:

- An input has no error: the reference sees it as rounded to its type.
- An f32 operation errs by a unit 2^-24 of its result; exp2, log2, rsqrt, tanh and a quotient by 2^-21 (their
  instructions are approximations), and numbers below 2^-126 may be flushed.
- A sum of n numbers errs like a random walk, by (4 sqrt(n) + 8) units of the sum of absolute values.
- A dot errs as sim_reference.Problem says, from the accumulator of its operands' type.
- A value rounded to a narrower type errs by that type's unit, and by its smallest number.
- Errors of operands pass through an operation to first order, with their worst signs; through a dot, whose operands'
  elements are rounded independently, as six standard deviations of their sum at most.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sim_reference import DTYPES, Problem

_UNIT = DTYPES["f32"].unit
_APPROXIMATION = 2.0**-21
_FLUSHED = 2.0**-126
_LOG2E = 1.4426950408889634


@dataclass
class Real:
    """Float64 numbers and how far from each the kernel's may be."""

    value: np.ndarray
    error: np.ndarray

    # numpy must leave `array * Real` to Real.
    __array_ufunc__ = None

    def __add__(self, other) -> Real:
        other = real(other)
        return _rounded(self.value + other.value, self.error + other.error)

    def __sub__(self, other) -> Real:
        return self + -real(other)

    def __neg__(self) -> Real:
        return Real(-self.value, self.error)

    def __mul__(self, other) -> Real:
        other = real(other)
        error = np.abs(self.value) * other.error + np.abs(other.value) * self.error + self.error * other.error
        return _rounded(self.value * other.value, error)

    def __truediv__(self, other) -> Real:
        other = real(other)
        value = self.value / other.value
        error = (self.error + np.abs(value) * other.error) / np.maximum(np.abs(other.value) - other.error, _FLUSHED)
        return _rounded(value, error, _APPROXIMATION)

    __radd__, __rmul__ = __add__, __mul__

    def __rsub__(self, other) -> Real:
        return real(other) - self

    def __rtruediv__(self, other) -> Real:
        return real(other) / self

    def __getitem__(self, index) -> Real:
        return Real(self.value[index], self.error[index])

    def swapped(self) -> Real:
        """The last two dimensions exchanged."""
        return Real(np.swapaxes(self.value, -1, -2), np.swapaxes(self.error, -1, -2))

    def exp2(self) -> Real:
        return _rounded(np.exp2(self.value), np.exp2(self.value) * np.expm1(self.error / _LOG2E), _APPROXIMATION)

    def exp(self) -> Real:
        return (self * _LOG2E).exp2()

    def log(self) -> Real:
        value = np.log(self.value)
        error = self.error / np.maximum(self.value - self.error, _FLUSHED)
        return Real(value, error + _APPROXIMATION * np.maximum(np.abs(value), 1))

    def rsqrt(self) -> Real:
        value = self.value**-0.5
        return _rounded(value, value * 0.5 * self.error / np.maximum(self.value - self.error, _FLUSHED), _APPROXIMATION)

    def tanh(self) -> Real:
        value = np.tanh(self.value)
        return _rounded(value, np.minimum((1 - value * value) * self.error + self.error**2, 2), _APPROXIMATION)

    def sigmoid(self) -> Real:
        return 1.0 / (1.0 + (-self).exp())

    def maximum(self, other) -> Real:
        other = real(other)
        return Real(np.maximum(self.value, other.value), np.maximum(self.error, other.error))

    def max(self, axis: int) -> Real:
        """The maximum along `axis`, which stays with extent 1; of nothing, minus infinity."""
        value = self.value.max(axis, keepdims=True, initial=-np.inf)
        return Real(value, self.error.max(axis, keepdims=True, initial=0.0))

    def sum(self, axis: int) -> Real:
        """The sum along `axis`, which stays with extent 1, in any order."""
        walk = (4 * np.sqrt(self.value.shape[axis]) + 8) * _UNIT * np.abs(self.value).sum(axis, keepdims=True)
        return Real(self.value.sum(axis, keepdims=True), self.error.sum(axis, keepdims=True) + walk)

    def cumsum(self, axis: int) -> Real:
        walk = (4 * np.sqrt(self.value.shape[axis]) + 8) * _UNIT * np.abs(self.value).cumsum(axis)
        return Real(self.value.cumsum(axis), self.error.cumsum(axis) + walk)

    def where(self, mask, other) -> Real:
        """This where `mask`, else `other`."""
        other = real(other)
        return Real(np.where(mask, self.value, other.value), np.where(mask, self.error, other.error))

    def rounded_to(self, dtype: str) -> Real:
        """Converted to `dtype` and back, as an operand of a dot is."""
        kind = DTYPES[dtype]
        return Real(self.value, self.error + kind.unit * (np.abs(self.value) + self.error) + kind.tiny)


def real(x) -> Real:
    """Exact numbers of any type, or a Real as it is."""
    if isinstance(x, Real):
        return x
    value = np.asarray(x).astype(np.float64)
    return Real(value, np.zeros_like(value))


def _rounded(value: np.ndarray, error: np.ndarray, unit: float = _UNIT) -> Real:
    # Infinities (masks) and their errors stay exact.
    error = np.where(np.isfinite(value), error + unit * np.abs(value) + _FLUSHED, 0.0)
    return Real(value, error)


def dot(a, b, dtype: str, precision: str = "ieee") -> Real:
    """a @ b (the last two dimensions) of operands of `dtype`; exact for integers."""
    a, b = real(a), real(b)
    value = a.value @ b.value
    if dtype == "i8":
        return real(value)
    scale = np.sqrt(a.value**2 @ b.value**2)
    arithmetic = Problem("TN", dtype, "f32", precision).tolerance(a.value.shape[-1], value, scale)
    worst = np.abs(a.value) @ b.error + a.error @ np.abs(b.value)
    walk = 6 * np.sqrt(a.value**2 @ b.error**2 + a.error**2 @ b.value**2)
    return Real(value, arithmetic + np.minimum(worst, walk) + a.error @ b.error)
