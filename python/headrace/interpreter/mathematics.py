"""The math dialect on numbers and tiles: computed in float64 and rounded once."""

from __future__ import annotations

import numpy as np

from headrace.interpreter.arithmetic import Evaluator
from headrace.interpreter.parser import Operation
from headrace.interpreter.rounding import (
    add_to_odd,
    make_odd,
    narrow,
    signed,
    two_product,
    two_sum,
    unsigned,
    wide,
    wrap,
)

_FLOAT = {
    "absf": np.abs, "ceil": np.ceil, "floor": np.floor, "trunc": np.trunc, "roundeven": np.rint,
    "copysign": np.copysign, "exp": np.exp, "exp2": np.exp2, "log": np.log, "log2": np.log2, "sqrt": np.sqrt,
    "rsqrt": lambda x: 1 / np.sqrt(x), "tanh": np.tanh,
}  # fmt: skip


def _on_floats(function) -> Evaluator:
    return lambda op, args, dtype: narrow(function(*map(wide, args)), dtype)


def _fma(op: Operation, args: list[np.ndarray], dtype: np.dtype) -> np.ndarray:
    """x * y + z rounded once (Boldo and Melquiond: add the parts of the exact product to odd, then round)."""
    x, y, z = map(wide, args)
    product, product_error = two_product(x, y)
    low, low_error = two_sum(z, product_error)
    high, high_error = two_sum(product, low)
    rest = add_to_odd(low_error, high_error)
    total, error = two_sum(high, rest)
    # Where a step overflowed, or an operand is not finite:
    plain = np.where(np.isfinite(x) & np.isfinite(y) & ~np.isfinite(z), z, x * y + z)
    exact = np.isfinite(total) & np.isfinite(error)
    if dtype == np.float64:
        return np.where(exact, total, plain)
    return narrow(np.where(exact, make_odd(total, error), plain), dtype)


def _absolute(op: Operation, args: list[np.ndarray], dtype: np.dtype) -> np.ndarray:
    return wrap(np.abs(signed(args[0])), dtype)


def _count_ones(op: Operation, args: list[np.ndarray], dtype: np.dtype) -> np.ndarray:
    return wrap(np.bitwise_count(unsigned(args[0])).astype(np.int64), dtype)


def _count_leading_zeros(op: Operation, args: list[np.ndarray], dtype: np.dtype) -> np.ndarray:
    x = unsigned(args[0])
    bits = 1 if dtype == np.bool_ else 8 * dtype.itemsize
    for distance in (1, 2, 4, 8, 16, 32):  # every bit below the highest one becomes one
        x = x | (x >> np.uint64(distance))
    return wrap(bits - np.bitwise_count(x).astype(np.int64), dtype)


EVALUATORS: dict[str, Evaluator] = {
    **{name: _on_floats(function) for name, function in _FLOAT.items()},
    "fma": _fma,
    "absi": _absolute,
    "ctpop": _count_ones,
    "ctlz": _count_leading_zeros,
}
