"""Operations on whole tiles: shapes, products, reductions and scans."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from headrace.interpreter.errors import InterpreterError
from headrace.interpreter.parser import Operation
from headrace.interpreter.rounding import convert, narrow, signed, wide, wrap
from headrace.interpreter.types import ELEMENTS, dtype_of, is_float

#: Combines two lists of partial results, one array for each source.
Combine = Callable[[list[np.ndarray], list[np.ndarray]], list[np.ndarray]]


def _expand_dims(op: Operation, args: list[np.ndarray]) -> np.ndarray:
    return np.expand_dims(args[0], int(op.attributes["axis"].value))


def _broadcast(op: Operation, args: list[np.ndarray]) -> np.ndarray:
    return np.broadcast_to(args[0], op.result_types[0].shape)


def _splat(op: Operation, args: list[np.ndarray]) -> np.ndarray:
    return np.full(op.result_types[0].shape, args[0])


def _iota(op: Operation, args: list[np.ndarray]) -> np.ndarray:
    type_, axis = op.result_types[0], int(op.attributes["axis"].value)
    shape = [1] * len(type_.shape)
    shape[axis] = -1
    coordinates = wrap(np.arange(type_.shape[axis], dtype=np.int64), dtype_of(type_))
    return np.broadcast_to(coordinates.reshape(shape), type_.shape)


def _transpose(op: Operation, args: list[np.ndarray]) -> np.ndarray:
    return np.transpose(args[0], op.attributes["permutation"])


def _reshape(op: Operation, args: list[np.ndarray]) -> np.ndarray:
    return np.reshape(args[0], op.result_types[0].shape)


def _join(op: Operation, args: list[np.ndarray]) -> np.ndarray:
    return np.stack(args, axis=-1)


def split(source: np.ndarray) -> list[np.ndarray]:
    """Both results of tile.split."""
    return [source[..., 0], source[..., 1]]


def _dot(op: Operation, args: list[np.ndarray]) -> np.ndarray:
    """Sums in float64, which is exact for the products of 8-bit integers too, and rounds once."""
    a, b, acc = args
    a = a.T if "transpose_a" in op.attributes else a
    b = b.T if "transpose_b" in op.attributes else b
    if is_float(acc.dtype):
        return narrow(wide(acc) + wide(a) @ wide(b), acc.dtype)
    return wrap(signed(acc) + (wide(a) @ wide(b)).astype(np.int64), acc.dtype)


#: The magnitudes of e2m1.
_E2M1 = np.array([0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0])


def _scaled(numbers: np.ndarray, scales: np.ndarray) -> np.ndarray:
    """The numbers of an operand of tile.dot_scaled times their scales, as bf16 holds them, in float64."""
    if numbers.dtype == np.int8:
        pairs = numbers.view(np.uint8)
        nibbles = np.stack([pairs & 15, pairs >> 4], axis=-1).reshape(len(pairs), -1)
        values = np.where(nibbles & 8, -1.0, 1.0) * _E2M1[nibbles & 7]
    else:
        values = wide(numbers)
    if scales.dtype == np.int8:
        exponents = scales.view(np.uint8).astype(np.int64)
        factors = np.where(exponents == 255, np.nan, np.ldexp(1.0, exponents - 127))
    else:
        factors = wide(scales)
    products = values * np.repeat(factors, values.shape[1] // factors.shape[1], axis=1)
    return wide(narrow(products, ELEMENTS["bf16"]))


def _dot_scaled(op: Operation, args: list[np.ndarray]) -> np.ndarray:
    """As tile.dot: sums in float64 and rounds once."""
    a, a_scale, b, b_scale, acc = args
    return narrow(wide(acc) + _scaled(a, a_scale) @ _scaled(b, b_scale).T, acc.dtype)


EVALUATORS = {
    "tile.expand_dims": _expand_dims,
    "tile.broadcast": _broadcast,
    "tile.iota": _iota,
    "tile.transpose": _transpose,
    "tile.reshape": _reshape,
    "tile.join": _join,
    "tile.dot": _dot,
    "tile.dot_scaled": _dot_scaled,
    "tensor.splat": _splat,
}


def can_widen(op: Operation) -> bool:
    """Whether the combining region may be evaluated in float64: a bitcast needs the type's own bits."""
    return all(inner.name != "arith.bitcast" for block in op.regions[0] for inner in block.operations)


def reduce(op: Operation, sources: list[np.ndarray], combine: Combine) -> list[np.ndarray]:
    """Neighbours are combined until one slice is left, in float64 where the region allows it."""
    partial = _along_axis(op, sources)
    while (length := len(partial[0])) > 1:
        pairs = length // 2 * 2
        combined = combine([p[0:pairs:2] for p in partial], [p[1:pairs:2] for p in partial])
        partial = [np.concatenate([c, p[pairs:]]) for c, p in zip(combined, partial, strict=True)]
    return [_rounded(p[0], type_) for p, type_ in zip(partial, op.result_types, strict=True)]


def scan(op: Operation, sources: list[np.ndarray], combine: Combine) -> list[np.ndarray]:
    """Slice by slice, with `reverse` from the last one on. Of two partial results the one at lower places is first."""
    slices = _along_axis(op, sources)
    reverse = "reverse" in op.attributes
    if reverse:
        slices = [s[::-1] for s in slices]
    partial = [s[0] for s in slices]
    collected = [[p] for p in partial]
    for i in range(1, len(slices[0])):
        following = [s[i] for s in slices]
        partial = combine(following, partial) if reverse else combine(partial, following)
        for done, p in zip(collected, partial, strict=True):
            done.append(p)
    results = [np.stack(done) for done in collected]
    if reverse:
        results = [r[::-1] for r in results]
    axis = int(op.attributes["axis"].value)
    return [_rounded(np.moveaxis(r, 0, axis), type_) for r, type_ in zip(results, op.result_types, strict=True)]


def _along_axis(op: Operation, sources: list[np.ndarray]) -> list[np.ndarray]:
    axis = int(op.attributes["axis"].value)
    widen = can_widen(op)
    moved = [np.moveaxis(s, axis, 0) for s in sources]
    return [wide(s) if widen and is_float(s.dtype) else s for s in moved]


def _rounded(value: np.ndarray, type_) -> np.ndarray:
    dtype = dtype_of(type_)
    return convert(value, dtype) if is_float(dtype) else value


def check_regions(op: Operation) -> None:
    """Every region that is evaluated has one block."""
    for region in op.regions:
        if len(region) > 1:
            raise InterpreterError(f"{op.name}: expected regions of one block", op.line)
