"""Combining the elements of a tile along an axis. Repeated runs give the same bits.

To a type checker, results are Any: a scalar if no axis is left, else a tile.
"""

# mypy: disable-error-code="empty-body"

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from headrace.language.api.builtin import builtin
from headrace.language.api.types import Tile


@builtin
def sum(x: Tile, axis: int | None = None, keepdims: bool = False) -> Any:
    """The sum along `axis` (a constant; None: of all elements), of `x`'s dtype.

    f16 and bf16 are summed in f32 and rounded once; i1 counts in i32. With `keepdims` the axis stays, of extent 1.

    ```python
    mean = hr.sum(x, axis=1) / BN
    ```
    """


@builtin
def max(x: Tile, axis: int | None = None, keepdims: bool = False) -> Any:
    """The largest element along `axis` (None: of all); NaN wins, as in numpy.

    ```python
    m = hr.max(s, axis=1, keepdims=True)
    ```
    """


@builtin
def min(x: Tile, axis: int | None = None, keepdims: bool = False) -> Any:
    """The smallest element along `axis` (None: of all); NaN wins, as in numpy.

    ```python
    low = hr.min(x, axis=1)
    ```
    """


@builtin
def prod(x: Tile, axis: int | None = None, keepdims: bool = False) -> Any:
    """The product along `axis` (None: of all elements), of `x`'s dtype.

    ```python
    p = hr.prod(x, axis=1)
    ```
    """


@builtin
def any(x: Tile, axis: int | None = None, keepdims: bool = False) -> Any:
    """Whether one element along `axis` (None: of all) is not 0: i1.

    ```python
    if hr.any(x != x): ...
    ```
    """


@builtin
def all(x: Tile, axis: int | None = None, keepdims: bool = False) -> Any:
    """Whether all elements along `axis` (None: of all) are not 0: i1.

    ```python
    if hr.all(mask): ...
    ```
    """


@builtin
def argmax(x: Tile, axis: int, keepdims: bool = False) -> Any:
    """The place (i32) of the largest element along `axis`: the first of equals, the first NaN if there is one.

    ```python
    expert = hr.argmax(logits, axis=1)
    ```
    """


@builtin
def argmin(x: Tile, axis: int, keepdims: bool = False) -> Any:
    """The place (i32) of the smallest element along `axis`: the first of equals, the first NaN if there is one.

    ```python
    nearest = hr.argmin(distances, axis=1)
    ```
    """


@builtin
def reduce(x: Tile | tuple[Tile, ...], axis: int, combine: Callable, keepdims: bool = False) -> Any:
    """All elements along `axis` combined by a function, which is associative and commutative.

    `combine` is an `@hr.inline` function or a lambda: of two scalars for one tile; for a tuple of tiles of one shape,
    of that many scalars of one part and then of the other, and it returns a tuple. It may only compute.

    ```python
    biggest = hr.reduce(x, 1, lambda a, b: hr.maximum(hr.abs(a), hr.abs(b)))
    ```
    """


@builtin
def scan(x: Tile | tuple[Tile, ...], axis: int, combine: Callable, reverse: bool = False) -> Any:
    """Each element combined with all before it along `axis` (`reverse`: after it), itself included.

    `combine` as in `hr.reduce`, the earlier part first; it need not be commutative.

    ```python
    running = hr.scan(x, 0, lambda a, b: hr.maximum(a, b))
    ```
    """


@builtin
def cumsum(x: Tile, axis: int = 0, reverse: bool = False) -> Tile:
    """The sum of each element and all before it along `axis` (`reverse`: after it), of `x`'s dtype.

    ```python
    ends = hr.cumsum(lengths)
    ```
    """


@builtin
def cumprod(x: Tile, axis: int = 0, reverse: bool = False) -> Tile:
    """The product of each element and all before it along `axis` (`reverse`: after it), of `x`'s dtype.

    ```python
    decay = hr.cumprod(gates, axis=0)
    ```
    """
