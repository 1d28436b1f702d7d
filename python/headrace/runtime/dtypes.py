"""Element types of arrays and scalars: sizes in bytes, spellings of other libraries, and bit patterns of scalars."""

from __future__ import annotations

import ctypes
import math

from headrace.errors import LaunchError

#: Bytes per element. The u* types are not kernel dtypes: they hold raw bits, see `accepts`.
SIZES = {
    "bf16": 2, "f16": 2, "f32": 4, "f64": 8, "e4m3": 1, "e5m2": 1,
    "i1": 1, "i8": 1, "i16": 2, "i32": 4, "i64": 8, "u8": 1, "u16": 2,
}  # fmt: skip

KERNEL_DTYPES = frozenset(SIZES) - {"u8", "u16"}

#: Names of dtypes as torch, numpy and ml_dtypes print them.
BY_NAME = {
    "bfloat16": "bf16", "float16": "f16", "float32": "f32", "float64": "f64",
    "float8_e4m3fn": "e4m3", "float8_e5m2": "e5m2", "bool": "i1",
    "int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64", "uint8": "u8", "uint16": "u16",
}  # fmt: skip

#: Types without a name of their own in numpy travel as unsigned integers of the same width.
_RAW_BITS = {"bf16": "u16", "e4m3": "u8", "e5m2": "u8"}

_INTEGER_BITS = {"i8": 8, "i16": 16, "i32": 32, "i64": 64}
_C_TYPES = {
    "i1": ctypes.c_uint8, "i8": ctypes.c_int8, "i16": ctypes.c_int16, "i32": ctypes.c_int32, "i64": ctypes.c_int64,
    "bf16": ctypes.c_uint16, "f16": ctypes.c_uint16, "e4m3": ctypes.c_uint8, "e5m2": ctypes.c_uint8,
    "f32": ctypes.c_float, "f64": ctypes.c_double,
}  # fmt: skip

#: name -> (exponent bits, stored mantissa bits, largest finite value, bit pattern of overflow, of NaN)
_SMALL_FLOATS = {
    "bf16": (8, 7, float.fromhex("0x1.fep127"), 0x7F80, 0x7FC0),
    "f16": (5, 10, 65504.0, 0x7C00, 0x7E00),
    "e5m2": (5, 2, 57344.0, 0x7C, 0x7E),
    "e4m3": (4, 3, 448.0, 0x7F, 0x7F),
}


def accepts(expected: str, given: str) -> bool:
    """Whether an array of dtype `given` can be passed where the kernel wants `expected` (raw bits included)."""
    return given == expected or _RAW_BITS.get(expected) == given


def is_integer(dtype: str) -> bool:
    """Whether scalars of `dtype` are Python integers (i1 counts: False and True are 0 and 1)."""
    return dtype == "i1" or dtype in _INTEGER_BITS


def integer_range(dtype: str) -> tuple[int, int]:
    """Smallest and largest value of the integer type `dtype`."""
    if dtype == "i1":
        return 0, 1
    bits = _INTEGER_BITS[dtype]
    return -(1 << (bits - 1)), (1 << (bits - 1)) - 1


def float_bits(value: float, dtype: str) -> int:
    """Bit pattern of `value` rounded to nearest, ties to even, in bf16, f16, e5m2 or e4m3 (which has no infinity)."""
    exponent_bits, mantissa_bits, largest, overflow, nan = _SMALL_FLOATS[dtype]
    sign = (math.copysign(1.0, value) < 0) << (exponent_bits + mantissa_bits)
    magnitude = abs(value)
    if math.isnan(magnitude):
        return sign | nan
    if magnitude == 0:
        return sign
    if math.isinf(magnitude):
        return sign | overflow
    bias = (1 << (exponent_bits - 1)) - 1
    # frexp's mantissa is in [0.5, 1); values below 2^(1 - bias) share the subnormals' exponent.
    exponent = max(math.frexp(magnitude)[1] - 1, 1 - bias)
    units = round(math.ldexp(magnitude, mantissa_bits - exponent))
    if math.ldexp(units, exponent - mantissa_bits) > largest:
        return sign | overflow
    # A carry out of the mantissa lands in the exponent field, which is the next binade's first value.
    return sign | (units + ((exponent + bias - 1) << mantissa_bits))


def scalar_to_ctypes(value, dtype: str, name: str):
    """`value` as a ctypes object with the layout of a kernel parameter of type `dtype`.

    Raises LaunchError, naming the argument, when the value has the wrong kind or does not fit.
    """
    if is_integer(dtype):
        return _C_TYPES[dtype](checked_integer(value, dtype, name))
    try:
        number = float(value)
    except OverflowError:
        number = math.inf if value > 0 else -math.inf
    except (TypeError, ValueError):
        raise LaunchError(f"argument '{name}': expected {dtype}, got {type(value).__name__}") from None
    return _C_TYPES[dtype](float_bits(number, dtype) if dtype in _SMALL_FLOATS else number)


def checked_integer(value, dtype: str, name: str) -> int:
    """`value` as a Python int inside the range of `dtype`; raises LaunchError naming the argument otherwise."""
    try:
        number = value.__index__()
    except AttributeError:
        raise LaunchError(f"argument '{name}': expected {dtype}, got {type(value).__name__}") from None
    low, high = integer_range(dtype)
    if not low <= number <= high:
        raise LaunchError(f"argument '{name}': expected a value of {dtype}, {low} to {high}, got {number}")
    return number
