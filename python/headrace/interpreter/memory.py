"""Accesses to arrays: elements outside are read as a fill and not written.

Arrays are numpy views, whose strides may be any. A position along a dimension is a number, from which on the elements
of the tile lie in a row, or (gather and scatter) an array of places.
"""

from __future__ import annotations

import numpy as np

from headrace.interpreter.arithmetic import larger, smaller
from headrace.interpreter.parser import Operation
from headrace.interpreter.rounding import narrow, signed, wide, wrap, zero_of
from headrace.interpreter.types import is_float

_FLOAT_COMBINE = {"add": np.add, "min": smaller, "max": larger}
_INTEGER_COMBINE = {"add": np.add, "min": np.minimum, "max": np.maximum}
_AT = {"add": np.add, "min": np.minimum, "max": np.maximum}


def _window(array: np.ndarray, offsets: list[np.ndarray], shape: tuple[int, ...]):
    """The part of a tile that lies inside the array: (part of the array, slices of the tile), or None.

    A tile of fewer dimensions than the array lies along the last ones; the offsets before are plain indices.
    """
    starts = [int(offset) for offset in offsets]
    leading = len(starts) - len(shape)
    for start, extent in zip(starts[:leading], array.shape, strict=False):
        if not 0 <= start < extent:
            return None
    inside, within = list(starts[:leading]), []
    for start, extent, size in zip(starts[leading:], array.shape[leading:], shape, strict=True):
        first, last = max(start, 0), min(start + size, extent)
        if first >= last:
            return None
        inside.append(slice(first, last))
        within.append(slice(first - start, last - start))
    return array[tuple(inside)], tuple(within)


def load(op: Operation, args: list[np.ndarray]) -> np.ndarray:
    array, *offsets = args
    tile = np.full(op.result_types[0].shape, _fill(op, array.dtype))
    if window := _window(array, offsets, tile.shape):
        tile[window[1]] = window[0]
    return tile


def store(op: Operation, args: list[np.ndarray]) -> None:
    tile, array, *offsets = args
    if window := _window(array, offsets, tile.shape):
        window[0][...] = tile[window[1]]


def reduce_store(op: Operation, args: list[np.ndarray]) -> None:
    tile, array, *offsets = args
    if window := _window(array, offsets, tile.shape):
        window[0][...] = _combined(_combine_name(op), window[0], tile[window[1]])


def load_scalar(op: Operation, args: list[np.ndarray]) -> np.ndarray:
    array, *offsets = args
    window = _window(array, offsets, ())
    return np.array(window[0]) if window else zero_of(array.dtype)


def store_scalar(op: Operation, args: list[np.ndarray]) -> None:
    value, array, *offsets = args
    if _window(array, offsets, ()):
        array[tuple(int(offset) for offset in offsets)] = value


def gather(op: Operation, args: list[np.ndarray]) -> np.ndarray:
    array, *positions = args
    shape = op.result_types[0].shape
    places, inside = _places(array, positions, shape)
    fill = _fill(op, array.dtype)
    return np.where(inside, array[places], fill) if array.size else np.full(shape, fill)


def scatter(op: Operation, args: list[np.ndarray]) -> None:
    """Of several elements in one place, without `combine`, the last one stays."""
    tile, array, *positions = args
    places, inside = _places(array, positions, tile.shape)
    where = tuple(place[inside] for place in places)
    if "combine" not in op.attributes:
        array[where] = tile[inside]
        return
    function = _AT[_combine_name(op)]
    if is_float(array.dtype):
        total = wide(array)
        function.at(total, where, wide(tile[inside]))
        array[where] = narrow(total, array.dtype)[where]
    else:
        total = signed(array)
        function.at(total, where, signed(tile[inside]))
        array[where] = wrap(total, array.dtype)[where]


def _places(
    array: np.ndarray, positions: list[np.ndarray], shape: tuple[int, ...]
) -> tuple[tuple[np.ndarray, ...], np.ndarray]:
    """For each dimension of the array the places of all elements, outside ones as 0, and which elements are inside."""
    leading = len(positions) - len(shape)
    places, inside = [], np.ones(shape, np.bool_)
    for dim, (position, extent) in enumerate(zip(positions, array.shape, strict=True)):
        place = np.asarray(position).astype(np.int64)
        axis = dim - leading
        if place.ndim == 0 and axis >= 0:
            place = place + np.arange(shape[axis])
        if place.ndim == 1:
            place = place.reshape([-1 if other == axis else 1 for other in range(len(shape))])
        place = np.broadcast_to(place, shape)
        legal = (place >= 0) & (place < extent)
        inside &= legal
        places.append(np.where(legal, place, 0))
    return tuple(places), inside


def _fill(op: Operation, dtype: np.dtype) -> np.ndarray:
    fill = op.attributes.get("fill")
    if isinstance(fill, bool):
        return np.array(fill)
    return fill.value if fill else zero_of(dtype)


def _combine_name(op: Operation) -> str:
    return op.attributes["combine"].text


def _combined(name: str, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    if is_float(x.dtype):
        return narrow(_FLOAT_COMBINE[name](wide(x), wide(y)), x.dtype)
    return wrap(_INTEGER_COMBINE[name](signed(x), signed(y)), x.dtype)


READERS = {"tile.load": load, "tile.load_scalar": load_scalar, "tile.gather": gather}
WRITERS = {
    "tile.store": store,
    "tile.store_scalar": store_scalar,
    "tile.reduce_store": reduce_store,
    "tile.scatter": scatter,
}
