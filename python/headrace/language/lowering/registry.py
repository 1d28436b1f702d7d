"""The table from built-in functions to what emits them, and checks of arguments that many share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from headrace.language.dtypes import DType
from headrace.language.emitter import Emitter
from headrace.language.values import Tile, describe, is_constant

#: Dimensions of a tile, at most.
MAX_RANK = 4

#: From a built-in function to its lowering, which takes the emitter and the arguments by name.
LOWERINGS: dict[Callable, Callable] = {}


def lowers(builtin: Callable) -> Callable[[Callable], Callable]:
    """Makes the decorated function the lowering of `builtin`, whose parameters it has after the emitter."""

    def register(function: Callable) -> Callable:
        LOWERINGS[builtin] = function
        return function

    return register


def want_constant(em: Emitter, value: Any, what: str) -> Any:
    """`value`, refused if it is known at run time only. `what` names it."""
    if not is_constant(value):
        em.fail(
            f"expected a constant for {what}, got {describe(value)}: make it an hr.constexpr parameter, or a global "
            "number"
        )
    return value


def want_int(em: Emitter, value: Any, what: str) -> int:
    want_constant(em, value, what)
    if not isinstance(value, int) or isinstance(value, bool):
        em.fail(f"expected a whole number for {what}, got {describe(value)}")
    return value


def want_tile(em: Emitter, value: Any, what: str) -> Tile:
    if not isinstance(value, Tile):
        em.fail(f"expected a tile for {what}, got {describe(value)}")
    return value


def want_dtype(em: Emitter, value: Any, what: str) -> DType:
    if not isinstance(value, DType) or value.kind == "index":
        em.fail(f"expected a dtype such as hr.f32 for {what}, got {describe(value)}")
    return value


def want_shape(em: Emitter, value: Any, what: str) -> tuple[int, ...]:
    """A shape of constants; one number is a shape of rank 1."""
    shape = value if isinstance(value, tuple) else (value,)
    for extent in shape:
        if not is_constant(extent):
            em.fail(f"expected constants in the shape of {what}, got {describe(extent)}: the extents of a tile are "
                    "part of its type, make it an hr.constexpr parameter")  # fmt: skip
        if not isinstance(extent, int) or isinstance(extent, bool) or extent < 1:
            em.fail(f"expected positive whole numbers in the shape of {what}, got {describe(extent)}")
    if not 1 <= len(shape) <= MAX_RANK:
        em.fail(f"expected a shape of 1 to {MAX_RANK} extents for {what}, got {len(shape)}")
    return shape


def want_axis(em: Emitter, value: Any, rank: int, what: str) -> int:
    """An axis of a tile of `rank`; negative ones count from the end."""
    axis = want_int(em, value, f"the axis of {what}")
    if not -rank <= axis < rank:
        em.fail(
            f"expected an axis of {-rank} to {rank - 1} for {what}, got {axis}: the tile has {rank} "
            f"dimension{'s' * (rank > 1)}"
        )
    return axis % rank
