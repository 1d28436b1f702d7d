"""Parts of arrays, ``A[m:m+BM, k]``: what the subscript names, and reading and writing it."""

from __future__ import annotations

import ast
from typing import Any

from headrace.language.dtypes import DType
from headrace.language.emitter import Emitter
from headrace.language.mlir import Block, literal, tensor
from headrace.language.operands import (
    as_index,
    as_scalar,
    as_tile,
    broadcast_shape,
    expand,
    number_as,
    reshape,
    shape_text,
)
from headrace.language.pending import written
from headrace.language.values import Array, Part, Range, Scalar, Tile, describe

CACHES = ("ca", "cg", "evict_first", "evict_last")
_LARGEST_TILE = 1 << 24


def make_part(em: Emitter, array: Array, subscript: ast.expr) -> Part:
    """The part of `array` that `subscript` names."""
    nodes = subscript.elts if isinstance(subscript, ast.Tuple) else [subscript]
    if len(nodes) != array.type.rank:
        example = ", ".join(f"{name}:{name}+B{name.upper()}" for name in "ijklm"[: array.type.rank])
        em.fail(f"expected one position for each of the {array.type.rank} dimensions of '{array.parameter}', got "
                f"{len(nodes)}: write {array.parameter}[{example}]", subscript)  # fmt: skip
    positions = []
    for dim, node in enumerate(nodes):
        with em.at(node):
            if isinstance(node, ast.Slice):
                positions.append(_make_range(em, array, dim, node))
            else:
                positions.append(_make_position(em, array, em.evaluate(node)))
    return Part(array, tuple(positions), em.place())


def _make_position(em: Emitter, array: Array, value: Any) -> Scalar | Tile | int:
    if isinstance(value, Tile):
        if not value.dtype.is_int or value.dtype.bits < 32:
            em.fail(
                f"expected places of i32 or i64 in '{array.parameter}[...]', got {describe(value)}: write .to(hr.i32)"
            )
        return value
    if isinstance(value, slice) or value is None or value is Ellipsis:
        em.fail(f"expected a slice, an integer or a tile of places in '{array.parameter}[...]', got {value}")
    return as_index(em, value, f"a position in '{array.parameter}[...]'")


def _make_range(em: Emitter, array: Array, dim: int, node: ast.Slice) -> Range:
    """`lower:upper`, whose length is known now although its ends may not be."""
    name = f"'{array.parameter}[...]'"
    if node.step is not None and em.evaluate(node.step) != 1:
        em.fail(f"expected slices of step 1 in {name}: pass an array with that stride, or places, "
                f"{array.parameter}[hr.arange(BM) * 2 + m, ...]", node.step)  # fmt: skip
    lower = as_index(em, em.evaluate(node.lower) if node.lower else 0, f"the start of a slice in {name}")
    if node.upper is None:
        start = ast.unparse(node.lower) if node.lower else "0"
        em.fail(f"expected a slice of known length in {name}: write {start}:{'' if start == '0' else start + '+'}BM "
                "with a constant BM; what lies outside the array reads as the fill and is not written")  # fmt: skip
    # The end is needed for the length only: what computes it is dropped.
    with em.inside(Block()):
        upper = as_index(em, em.evaluate(node.upper), f"the end of a slice in {name}")
    length = upper.affine - lower.affine if upper.affine and lower.affine else None
    if length is None or not length.is_constant:
        start = ast.unparse(node.lower) if node.lower else "0"
        em.fail(f"expected a slice of known length in {name}, got {ast.unparse(node)}: the length must be a "
                "constant, write "
                f"{start}:{start}+BM with BM: hr.constexpr, and leave what lies outside the array to the "
                "fill")  # fmt: skip
    if not 1 <= length.constant <= _LARGEST_TILE:
        em.fail(
            f"expected a slice of 1 to {_LARGEST_TILE} elements in {name}, got {length.constant} from "
            f"{ast.unparse(node)}: write {ast.unparse(node.lower) if node.lower else 0} + BM as its end"
        )
    return Range(lower, length.constant)


def _is_element(part: Part) -> bool:
    return all(isinstance(position, Scalar) for position in part.positions)


def _names(part: Part) -> str:
    return ", ".join((p.start if isinstance(p, Range) else p).name for p in part.positions)


# ---- shapes: the tile that moves has one dimension for each of the array's; the program's drops those of one position


def _moved_shape(part: Part) -> tuple[int, ...]:
    """The extents that a load or store moves: leading single positions are left out, later ones are of extent 1."""
    extents = [position.extent if isinstance(position, Range) else 1 for position in part.positions]
    first = next(i for i, position in enumerate(part.positions) if isinstance(position, Range))
    return tuple(extents[first:])


def part_shape(part: Part) -> tuple[int, ...]:
    """The shape that a part without index tiles has in the program."""
    return tuple(position.extent for position in part.positions if isinstance(position, Range))


def _places(em: Emitter, part: Part) -> tuple[list[Scalar | Tile], tuple[int, ...], tuple[int, ...]]:
    """Positions as tile.gather takes them, the extents it moves, and the part's shape in the program.

    One tile of rank 1 beside slices names slices of the array. Several tiles broadcast together, as in numpy, and name
    elements; then there are no slices.
    """
    tiles = [p for p in part.positions if isinstance(p, Tile)]
    name = f"'{part.array.parameter}[...]'"
    alone = len(tiles) == 1 and len(tiles[0].shape) == 1
    if alone and not any(isinstance(position, Scalar) for position in part.positions):
        moved = tuple(p.extent if isinstance(p, Range) else p.shape[0] for p in part.positions)
        return [p.start if isinstance(p, Range) else written(em, p) for p in part.positions], moved, moved
    if any(isinstance(p, Range) for p in part.positions):
        em.fail(f"expected one tile of rank 1 beside slices in {name}, or a tile for each dimension: write "
                "k + hr.arange(BK)[None, :] for a slice")  # fmt: skip
    shape: tuple[int, ...] = ()
    for tile in tiles:
        shape = broadcast_shape(em, shape, tile.shape, name)
    rank = len(part.positions)
    if len(shape) > rank:
        em.fail(f"expected places of at most {rank} dimensions in {name}, got {shape_text(shape)}")
    moved = shape + (1,) * (rank - len(shape))
    dtype = tiles[0].dtype
    positions = []
    for position in part.positions:
        if isinstance(position, Tile) and position.dtype is not dtype:
            em.fail(f"expected places of one dtype in {name}, got {dtype} and {position.dtype}")
        places = as_tile(em, position, shape, dtype, "places")
        positions.append(reshape(em, places, moved))
    return positions, moved, shape


# ---- reading


def load(em: Emitter, part: Part, fill: Any = None, cache: str | None = None) -> Scalar | Tile:
    """What `part` holds; outside of the array `fill` (default 0)."""
    array = part.array
    if _is_element(part):
        if fill is not None or cache is not None:
            em.fail("expected a tile for fill and cache, got a single element: outside of the array it reads as 0")
        text = f"tile.load_scalar {array.name}[{_names(part)}] : {array.type.mlir} -> {array.type.dtype.mlir}"
        return em.as_scalar(em.value(text, array.parameter.lower(), pure=False), array.type.dtype)
    attributes = _load_attributes(em, array.type.dtype, fill, cache)
    if any(isinstance(position, Tile) for position in part.positions):
        positions, moved, shape = _places(em, part)
        names = ", ".join(position.name for position in positions)
        types = ", ".join(position.mlir for position in positions)
        text = f"tile.gather {array.name}[{names}]{attributes} : {array.type.mlir}, ({types}) -> "
    else:
        moved, shape = _moved_shape(part), part_shape(part)
        text = f"tile.load {array.name}[{_names(part)}]{attributes} : {array.type.mlir} -> "
    check_tile(em, moved)
    tile = em.tile(text + tensor(moved, array.type.dtype), moved, array.type.dtype, array.parameter.lower(), pure=False)
    return reshape(em, tile, shape)


def check_tile(em: Emitter, shape: tuple[int, ...]) -> None:
    """Refuses a tile that has too many elements."""
    elements = 1
    for extent in shape:
        elements *= extent
    if elements > _LARGEST_TILE:
        em.fail(
            f"expected a tile of at most {_LARGEST_TILE} elements, got {shape_text(shape)}, {elements} "
            "elements: write a loop over smaller ones"
        )


def _load_attributes(em: Emitter, dtype: DType, fill: Any, cache: str | None) -> str:
    attributes = []
    if cache is not None:
        attributes.append(f"cache = {cache_attribute(em, cache)}")
    if fill is not None:
        if not isinstance(fill, (bool, int, float)):
            em.fail(f"expected a constant number as fill, got {describe(fill)}")
        text = literal(number_as(em, fill, dtype), dtype)
        attributes.append(f"fill = {text}" if dtype.kind == "bool" else f"fill = {text} : {dtype.mlir}")
    return f" {{{', '.join(attributes)}}}" if attributes else ""


def cache_attribute(em: Emitter, cache: Any) -> str:
    if cache not in CACHES:
        em.fail(f"expected cache to be one of {', '.join(map(repr, CACHES))}, got {describe(cache)}")
    return f"#tile.cache<{cache}>"


# ---- writing


def _outgoing(em: Emitter, value: Any, shape: tuple[int, ...], moved: tuple[int, ...], array: Array) -> Tile:
    """`value` as the tile to write: of the part's shape and the array's dtype, with the dimensions that move."""
    what = f"a tile for '{array.parameter}[...]'"
    if isinstance(value, Tile) and value.dtype is not array.type.dtype:
        em.fail(f"expected a tile of '{array.parameter}', {array.type.dtype}, got {describe(value)}: write "
                f".to({array.parameter}.dtype)",
                notes=em.note(f"the tile of {value.dtype} is made here", value))  # fmt: skip
    return reshape(em, as_tile(em, value, shape, array.type.dtype, what), moved)


def store(em: Emitter, part: Part, value: Any, cache: str | None = None) -> None:
    """Writes `value` to `part`; nothing outside of the array."""
    array = part.array
    em.written.add(array.parameter)
    if _is_element(part):
        if isinstance(value, Tile):
            em.fail(f"expected a scalar for a single element of '{array.parameter}', got {describe(value)}: write a "
                    "slice, "
                    "n:n+BN", notes=em.note("the tile is made here", value))  # fmt: skip
        scalar = as_scalar(em, value, array.type.dtype, f"an element of '{array.parameter}'")
        em.op(f"tile.store_scalar {scalar.name}, {array.name}[{_names(part)}] : {scalar.mlir}, {array.type.mlir}")
        return
    if any(isinstance(position, Tile) for position in part.positions):
        if cache is not None:
            em.fail("expected no cache hint for places that a tile names")
        _scatter(em, part, value, "")
        return
    moved = _moved_shape(part)
    tile = _outgoing(em, value, part_shape(part), moved, array)
    hint = f" {{cache = {cache_attribute(em, cache)}}}" if cache is not None else ""
    em.op(f"tile.store {tile.name}, {array.name}[{_names(part)}]{hint} : {tile.mlir}, {array.type.mlir}")


def _scatter(em: Emitter, part: Part, value: Any, combine: str) -> None:
    array = part.array
    positions, moved, shape = _places(em, part)
    tile = _outgoing(em, value, shape, moved, array)
    names = ", ".join(position.name for position in positions)
    types = ", ".join(position.mlir for position in positions)
    em.op(f"tile.scatter {combine}{tile.name}, {array.name}[{names}] : {tile.mlir}, {array.type.mlir}, ({types})")


def combine(em: Emitter, part: Part, value: Any, how: str) -> None:
    """Combines `value` with `part` atomically, element by element; `how` is add, min or max."""
    array = part.array
    em.written.add(array.parameter)
    if array.type.dtype.name not in ("i32", "i64", "f16", "bf16", "f32", "f64"):
        em.fail(
            f"expected an array of i32, i64, f16, bf16, f32 or f64 to combine atomically, got {array.type.dtype}: "
            "keep the result in a wider array"
        )
    if any(isinstance(position, Tile) for position in part.positions):
        _scatter(em, part, value, f"combine #tile.combine<{how}> ")
        return
    if _is_element(part):
        shape, moved = (), (1,) if len(part.positions) == 1 else (1, 1)
        if isinstance(value, Tile):
            em.fail(f"expected a scalar for a single element of '{array.parameter}', got {describe(value)}")
        tile = as_tile(em, as_scalar(em, value, array.type.dtype, "the value"), moved, array.type.dtype)
    else:
        shape, moved = part_shape(part), _moved_shape(part)
        tile = _outgoing(em, value, shape, moved, array)
    em.op(
        f"tile.reduce_store #tile.combine<{how}> {tile.name}, {array.name}[{_names(part)}] : {tile.mlir}, "
        f"{array.type.mlir}"
    )


# ---- subscripts of tiles


def subscript_tile(em: Emitter, tile: Tile, items: tuple[Any, ...]) -> Tile:
    """``x[:, None]``: new axes of extent 1. Anything that would take a part of the tile is refused."""
    if Ellipsis in items:
        at = items.index(Ellipsis)
        missing = len(tile.shape) - sum(item is not None for item in items if item is not Ellipsis)
        items = (*items[:at], *(slice(None),) * missing, *items[at + 1 :])
    for item in items:
        if item is not None and item != slice(None):
            em.fail("expected only ':', '...' and None in the subscript of a tile: a tile has no parts, load the part "
                    f"from its array, or pick by hr.where and reduce; this one is {tile}",
                    notes=em.note("the tile is made here", tile))  # fmt: skip
    given = sum(item is not None for item in items)
    if given > len(tile.shape):
        em.fail(f"expected at most {len(tile.shape)} dimensions in the subscript of {describe(tile)}, got {given}")
    for axis, item in enumerate(items):
        if item is None:
            tile = expand(em, tile, axis)
    return tile
