"""What a kernel is specialised on: of arrays dtype, rank, which stride is 1, alignment, extents; of numbers the type.

Facts come from a signature (`hr.bf16[:, ::1]`, `hr.i32`) or are observed of the arguments of a call.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from headrace.language.api.types import constexpr
from headrace.language.dtypes import BY_NAME, ArrayType, DType, f32, i1, index
from headrace.language.errors import CompileError
from headrace.language.functions import InlineFunction
from headrace.language.source import source_of
from headrace.runtime.dtypes import BY_NAME as FOREIGN_DTYPES
from headrace.runtime.dtypes import accepts

#: Extents, integer arguments and byte strides are specialised on being multiples of this.
DIVISOR = 16


@dataclass(frozen=True)
class ScalarType:
    """A number that the call brings; `multiple` promises of an integer that it is a multiple of it."""

    dtype: DType
    multiple: int = 1


Fact = ArrayType | ScalarType | Any


@dataclass(frozen=True)
class Parameter:
    """A parameter of a kernel. `declared` is its annotation: an ArrayType, a DType, or None."""

    name: str
    constant: bool
    declared: ArrayType | DType | None
    default: Any


def parameters_of(function: Callable) -> tuple[Parameter, ...]:
    """The parameters of a kernel. Raises CompileError for annotations and kinds that kernels do not have."""
    source = source_of(function)
    arguments = source.node.args
    if arguments.vararg or arguments.kwarg:
        wrong = arguments.vararg or arguments.kwarg
        raise CompileError("expected named parameters of a kernel, got '*': name each array", source.place(wrong))
    try:
        annotations = inspect.get_annotations(function, eval_str=True)
    except Exception as error:
        raise CompileError(f"an annotation of '{function.__name__}' cannot be evaluated: {error}",
                           source.place(source.node)) from None  # fmt: skip
    result = []
    for node in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
        annotation = annotations.get(node.arg)
        constant = annotation is constexpr
        declared = (
            index if annotation is int else f32 if annotation is float else i1 if annotation is bool else annotation
        )
        if not constant and declared is not None and not isinstance(declared, (ArrayType, DType)):
            raise CompileError(
                "expected hr.constexpr, an array type such as hr.bf16[:, ::1] or a dtype as annotation of "
                f"'{node.arg}'",
                source.place(node),
            )
        default = inspect.signature(function).parameters[node.arg].default
        result.append(Parameter(node.arg, constant, None if constant else declared, default))
    return tuple(result)


class RefusedError(Exception):
    """An argument that a kernel cannot be called with. `parameter` is its name, "" if it is about all."""

    def __init__(self, message: str, parameter: str = ""):
        super().__init__(message)
        self.parameter = parameter


def bind(name: str, parameters: tuple[Parameter, ...], args: tuple, kwargs: dict[str, Any]) -> dict[str, Any]:
    """Arguments by name, in the parameters' order, with defaults. Raises RefusedError if they do not fit."""
    if len(args) > len(parameters):
        raise RefusedError(
            f"expected at most {len(parameters)} arguments of {_shown(name, parameters)}, got {len(args)}"
        )
    values = dict(zip((parameter.name for parameter in parameters), args, strict=False))
    if kwargs:
        known = {parameter.name for parameter in parameters}
        for key, value in kwargs.items():
            if key not in known:
                raise RefusedError(f"expected a parameter of {_shown(name, parameters)}, got '{key}'")
            if key in values:
                raise RefusedError(f"expected one value for '{key}' of {_shown(name, parameters)}, got two", key)
            values[key] = value
    result = {}
    for parameter in parameters:
        value = values.get(parameter.name, parameter.default)
        if value is inspect.Parameter.empty:
            raise RefusedError(
                f"expected a value for '{parameter.name}' of {_shown(name, parameters)}, got none", parameter.name
            )
        result[parameter.name] = value
    return result


def _shown(name: str, parameters: tuple[Parameter, ...]) -> str:
    return f"{name}({', '.join(parameter.name for parameter in parameters)})"


def fact_of(parameter: Parameter, value: Any) -> Fact:
    """What a kernel is compiled for when `value` is passed, or stands in a signature. Raises RefusedError."""
    if parameter.constant:
        return _constant(parameter.name, value)
    if value is None and None in (parameter.declared, parameter.default):
        return None
    described = describe_array(value)
    if described is not None:
        return _observed(parameter.name, parameter.declared, *described)
    if isinstance(value, (ArrayType, ScalarType)):
        return value
    if isinstance(value, DType):
        return ScalarType(value)
    if value is int or value is float or value is bool:
        return ScalarType({int: index, float: f32, bool: i1}[value])
    scalar = _scalar(value)
    if scalar is None:
        raise RefusedError(
            f"expected an array, a number or a type for '{parameter.name}', got {type(value).__name__}: annotate the "
            "parameter with hr.constexpr if it is a compile-time constant",
            parameter.name,
        )
    if isinstance(parameter.declared, ArrayType):
        raise RefusedError(
            f"expected an array {parameter.declared} for '{parameter.name}', got {value!r}", parameter.name
        )
    if isinstance(parameter.declared, DType):
        return scalar if parameter.declared is scalar.dtype else ScalarType(parameter.declared)
    return scalar


def _constant(name: str, value: Any) -> Any:
    if hasattr(value, "item") and getattr(value, "ndim", 1) == 0:
        value = value.item()
    plain = value is None or isinstance(value, (bool, int, float, str, DType, InlineFunction))
    if not plain and not (isinstance(value, tuple) and all(_constant(name, item) is item for item in value)):
        raise RefusedError(
            "expected a number, a string, a dtype, an @hr.inline function, None or a tuple of such for the constexpr "
            f"'{name}', got {type(value).__name__}",
            name,
        )
    return value


def _scalar(value: Any) -> ScalarType | None:
    if isinstance(value, bool):
        return ScalarType(i1)
    if isinstance(value, int):
        return ScalarType(index, DIVISOR if value % DIVISOR == 0 else 1)
    if isinstance(value, float):
        return ScalarType(f32)
    name = FOREIGN_DTYPES.get(str(getattr(value, "dtype", "")).removeprefix("torch."))
    if name in BY_NAME and getattr(value, "ndim", 1) == 0:
        return ScalarType(BY_NAME[name])
    return None


#: Names of dtypes, by numpy's objects, which are slow to print.
_NAMES: dict[Any, str] = {}


def describe_array(value: Any) -> tuple[tuple[int, ...], tuple[int, ...], str, int] | None:
    """Extents, strides in elements, dtype's name and address modulo 16 of an array; None if `value` is no array.

    Arrays are those of numpy, and whatever `headrace.runtime.arrays.adapt` takes.
    """
    if isinstance(value, (bool, int, float, str, tuple, ArrayType, DType)) or value is None:
        return None
    if hasattr(value, "__array_interface__"):
        if value.ndim == 0:
            return None
        dtype = _NAMES.get(value.dtype)
        if dtype is None:
            dtype = _NAMES[value.dtype] = FOREIGN_DTYPES.get(str(value.dtype), str(value.dtype))
        size = value.itemsize
        # The simulator puts arrays where it likes, at multiples of more than 16 bytes.
        return value.shape, tuple(stride // size for stride in value.strides), dtype, 0
    from headrace.runtime.arrays import DeviceArray, adapt

    if not isinstance(value, DeviceArray):
        if getattr(value, "ndim", 1) == 0 or not any(hasattr(value, name) for name in _PROTOCOLS):
            return None
        value = adapt(value, "array")
    return value.shape, value.strides, value.dtype, value.ptr % DIVISOR


_PROTOCOLS = ("__cuda_array_interface__", "__dlpack__", "data_ptr")


@functools.lru_cache(maxsize=4096)
def _observed(
    name: str,
    declared: ArrayType | DType | None,
    shape: tuple[int, ...],
    strides: tuple[int, ...],
    dtype_name: str,
    offset: int,
) -> ArrayType:
    """The type of an array as a call brings it, within what its annotation declares."""
    if isinstance(declared, DType):
        raise RefusedError(f"expected a number of {declared} for '{name}', got an array", name)
    if isinstance(declared, ArrayType):
        if len(shape) != declared.rank or not accepts(declared.dtype.name, dtype_name):
            raise RefusedError(
                f"expected an array {declared} for '{name}', got {dtype_name} of rank {len(shape)}", name
            )
        for dim, stride in enumerate(declared.strides):
            if stride is not None and strides[dim] != stride and shape[dim] > 1:
                raise RefusedError(
                    f"expected an array {declared} for '{name}', got stride {strides[dim]} in dimension {dim}", name
                )
        dtype = declared.dtype
    elif dtype_name in BY_NAME:
        dtype = BY_NAME[dtype_name]
    else:
        raise RefusedError(
            f"expected elements of {', '.join(known for known in BY_NAME if known != 'index')} in '{name}', got "
            f"{dtype_name}: annotate the parameter, such as hr.bf16[:, ::1], to say what raw bits are",
            name,
        )
    if not 1 <= len(shape) <= 5:
        raise RefusedError(f"expected an array of rank 1 to 5 for '{name}', got {len(shape)}", name)
    known = _unit_stride(shape, strides)
    size = dtype.bits // 8 or 1
    bits = offset | DIVISOR
    for extent, stride, one in zip(shape, strides, known, strict=True):
        if one is None and extent > 1:
            bits |= stride * size
    multiples = tuple(DIVISOR if extent % DIVISOR == 0 else 1 for extent in shape)
    return ArrayType(dtype, len(shape), known, bits & -bits, multiples)


def _unit_stride(shape: tuple[int, ...], strides: tuple[int, ...]) -> tuple[int | None, ...]:
    """The one stride that is known to be 1: the last if it can be; a dimension of one element has any stride."""
    rank = len(shape)
    for dim in reversed(range(rank)):
        if strides[dim] == 1 or (shape[dim] <= 1 and dim == rank - 1):
            return tuple(1 if other == dim else None for other in range(rank))
    return (None,) * rank
