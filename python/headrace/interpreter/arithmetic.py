"""The arith dialect on numbers and tiles: one function for each kind of operation.

Each function takes the operation, its operands as numpy arrays (of no dimensions for numbers) and the numpy type of the
result. Poison (a shift beyond the width, a float that no integer holds) is zero or the nearest integer.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from headrace.interpreter.errors import InterpreterError
from headrace.interpreter.parser import Operation
from headrace.interpreter.rounding import (
    convert,
    from_integer,
    integer_limits,
    narrow,
    signed,
    to_integer,
    unsigned,
    wide,
    wrap,
)
from headrace.interpreter.types import is_float

Evaluator = Callable[[Operation, list[np.ndarray], np.dtype], np.ndarray]

#: Names of the predicates of arith.cmpi and arith.cmpf, by their numbers.
INTEGER_PREDICATES = ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge")
FLOAT_PREDICATES = ("false", "oeq", "ogt", "oge", "olt", "ole", "one", "ord")
FLOAT_PREDICATES += ("ueq", "ugt", "uge", "ult", "ule", "une", "uno", "true")
_RELATIONS = {
    "eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal,
}  # fmt: skip


def _floor_parts(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    quotient = x // y
    return quotient, x - quotient * y


def _divide_toward_zero(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    quotient, rest = _floor_parts(x, y)
    return quotient + ((rest != 0) & ((x < 0) != (y < 0)))


def _ceil_divide(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    quotient, rest = _floor_parts(x, y)
    return quotient + (rest != 0).astype(x.dtype)


def _shift(function) -> Callable[[np.ndarray, np.ndarray, int], np.ndarray]:
    """A shift of 64-bit integers by less than `bits`."""

    def shift(x: np.ndarray, y: np.ndarray, bits: int) -> np.ndarray:
        count = y.astype(np.uint64)
        legal = count < bits
        return np.where(legal, function(x, np.where(legal, count, 0).astype(x.dtype)), x.dtype.type(0))

    return shift


#: Wrapping operations, on which signs have no effect but for the way operands are extended.
_SIGNED = {
    "addi": np.add, "subi": np.subtract, "muli": np.multiply, "andi": np.bitwise_and, "ori": np.bitwise_or,
    "xori": np.bitwise_xor, "maxsi": np.maximum, "minsi": np.minimum,
}  # fmt: skip
_UNSIGNED = {"maxui": np.maximum, "minui": np.minimum}
_SIGNED_DIVISIONS = {
    "divsi": _divide_toward_zero, "remsi": lambda x, y: x - _divide_toward_zero(x, y) * y,
    "floordivsi": np.floor_divide, "ceildivsi": _ceil_divide,
}  # fmt: skip
_UNSIGNED_DIVISIONS = {"divui": np.floor_divide, "remui": np.remainder, "ceildivui": _ceil_divide}
_SIGNED_SHIFTS = {"shli": _shift(np.left_shift), "shrsi": _shift(np.right_shift)}
_UNSIGNED_SHIFTS = {"shrui": _shift(np.right_shift)}


def larger(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The larger float; NaN if either is, and +0 is larger than -0."""
    return np.where((x == 0) & (y == 0), x + y, np.maximum(x, y))


def smaller(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The smaller float; NaN if either is, and -0 is smaller than +0."""
    return -larger(-x, -y)


def _ignoring_nan(function):
    return lambda x, y: np.where(np.isnan(x), y, np.where(np.isnan(y), x, function(x, y)))


_FLOAT = {
    "addf": np.add, "subf": np.subtract, "mulf": np.multiply, "divf": np.divide, "remf": np.fmod, "negf": np.negative,
    "maximumf": larger, "minimumf": smaller, "maxnumf": _ignoring_nan(larger), "minnumf": _ignoring_nan(smaller),
}  # fmt: skip


def _on_integers(function, extend) -> Evaluator:
    return lambda op, args, dtype: wrap(function(*map(extend, args)), dtype)


def _division(function, extend) -> Evaluator:
    def evaluate(op: Operation, args: list[np.ndarray], dtype: np.dtype) -> np.ndarray:
        if not np.all(args[1]):
            raise InterpreterError(f"{op.name} by zero", op.line)
        return wrap(function(*map(extend, args)), dtype)

    return evaluate


def _shifted(function, extend) -> Evaluator:
    def evaluate(op: Operation, args: list[np.ndarray], dtype: np.dtype) -> np.ndarray:
        bits = 1 if dtype == np.bool_ else 8 * dtype.itemsize
        return wrap(function(extend(args[0]), unsigned(args[1]), bits), dtype)

    return evaluate


def _on_floats(function) -> Evaluator:
    """Rounds once: float64 holds twice the digits of the narrower types, so that the second rounding does no harm."""

    def evaluate(op: Operation, args: list[np.ndarray], dtype: np.dtype) -> np.ndarray:
        return narrow(function(*map(wide, args)), dtype)

    return evaluate


def _compare_integers(op: Operation, args: list[np.ndarray], dtype: np.dtype) -> np.ndarray:
    name = INTEGER_PREDICATES[int(op.attributes["predicate"].value)]
    extend = unsigned if name.startswith("u") else signed
    return _RELATIONS[name[-2:]](*map(extend, args))


def _compare_floats(op: Operation, args: list[np.ndarray], dtype: np.dtype) -> np.ndarray:
    x, y = map(wide, args)
    name = FLOAT_PREDICATES[int(op.attributes["predicate"].value)]
    unordered = np.isnan(x) | np.isnan(y)
    if name in ("false", "true"):
        return np.full(np.shape(x), name == "true")
    if name in ("ord", "uno"):
        return unordered if name == "uno" else ~unordered
    holds = _RELATIONS[name[1:]](x, y)
    return holds | unordered if name[0] == "u" else holds & ~unordered


def _select(op: Operation, args: list[np.ndarray], dtype: np.dtype) -> np.ndarray:
    return np.where(args[0], args[1], args[2])


def _convert_float(op: Operation, args: list[np.ndarray], dtype: np.dtype) -> np.ndarray:
    if op.attributes.get("roundingmode") is not None:
        raise InterpreterError(f"{op.name} with a rounding mode is not supported", op.line)
    return convert(args[0], dtype)


def _to_integer(is_signed: bool) -> Evaluator:
    def evaluate(op: Operation, args: list[np.ndarray], dtype: np.dtype) -> np.ndarray:
        return wrap(to_integer(wide(args[0]), *integer_limits(dtype, is_signed)), dtype)

    return evaluate


def _bitcast(op: Operation, args: list[np.ndarray], dtype: np.dtype) -> np.ndarray:
    return args[0].view(dtype)


def _constant(op: Operation, args: list[np.ndarray], dtype: np.dtype) -> np.ndarray:
    value = op.attributes["value"]
    if isinstance(value, bool):
        return np.array(value)
    number = value.value
    if is_float(number.dtype):
        number = convert(number, dtype)
    return np.full(getattr(op.result_types[0], "shape", ()), number)


EVALUATORS: dict[str, Evaluator] = {
    **{name: _on_integers(function, signed) for name, function in _SIGNED.items()},
    **{name: _on_integers(function, unsigned) for name, function in _UNSIGNED.items()},
    **{name: _division(function, signed) for name, function in _SIGNED_DIVISIONS.items()},
    **{name: _division(function, unsigned) for name, function in _UNSIGNED_DIVISIONS.items()},
    **{name: _shifted(function, signed) for name, function in _SIGNED_SHIFTS.items()},
    **{name: _shifted(function, unsigned) for name, function in _UNSIGNED_SHIFTS.items()},
    **{name: _on_floats(function) for name, function in _FLOAT.items()},
    "cmpi": _compare_integers,
    "cmpf": _compare_floats,
    "select": _select,
    "extf": _convert_float,
    "truncf": _convert_float,
    "extsi": _on_integers(lambda x: x, signed),
    "extui": _on_integers(lambda x: x, unsigned),
    "trunci": _on_integers(lambda x: x, signed),
    "index_cast": _on_integers(lambda x: x, signed),
    "index_castui": _on_integers(lambda x: x, unsigned),
    "sitofp": lambda op, args, dtype: from_integer(signed(args[0]), dtype),
    "uitofp": lambda op, args, dtype: from_integer(unsigned(args[0]), dtype),
    "fptosi": _to_integer(True),
    "fptoui": _to_integer(False),
    "bitcast": _bitcast,
    "constant": _constant,
}
