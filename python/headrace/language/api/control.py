"""The grid, loops, and facts about numbers."""

# mypy: disable-error-code="empty-body"

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, overload

from headrace.language.api.builtin import builtin, builtin_anywhere
from headrace.language.api.types import Scalar


@overload
def grid(x: int | Scalar, /, *, persistent: bool = False) -> Scalar: ...
@overload
def grid(x: int | Scalar, y: int | Scalar, /, *, persistent: bool = False) -> tuple[Scalar, Scalar]: ...
@overload
def grid(
    x: int | Scalar, y: int | Scalar, z: int | Scalar, /, *, persistent: bool = False
) -> tuple[Scalar, Scalar, Scalar]: ...
@builtin
def grid(*sizes: int | Scalar, persistent: bool = False) -> Any:
    """Says how many programs the kernel wants along x, y, z, and gives this program's place: one int for each size.

    Sizes are computed from extents, integer arguments and constants; the launcher computes them again. Said once, at
    the kernel's top level. A kernel without it, or `hr.persistent`, is launched as ``kernel[grid](...)``.

    With `persistent` no more programs are launched along x than the GPU runs at once: the kernel shares out the work
    itself, by `hr.num_programs`, where `hr.persistent` would not do.

    ```python
    m, n = hr.grid(hr.cdiv(C.shape[0], BM), hr.cdiv(C.shape[1], BN))
    ```
    """


@builtin
def persistent(
    *sizes: int | Scalar,
    group: int = 1,
    trips: int | None = None,
    stages: int | str | None = None,
    specialize: bool | str | None = None,
    consumers: int | str | None = None,
    order: str | None = None,
) -> Iterator[Any]:
    """A loop over all tiles by as many programs as the GPU runs at once; the loads of the next tile run early.

    With one size the loop's variable is a number from 0 on. With two sizes it is (row, column), in an order that keeps
    rows of `group` tiles in the L2 cache. Sizes as in `hr.grid`, which this replaces; said once, at the top level.

    With `trips`, more programs are launched where each would have more tiles than that: where memory is the limit, the
    later ones even out what it serves unevenly; 4 to 8 are enough for what a program does once. `stages` and the other
    options of `hr.pipelined` are for a loop whose own loads are to run ahead: a kernel that has a tile for each trip,
    with no loop inside.

    ```python
    for m, n in hr.persistent(hr.cdiv(M, BM), hr.cdiv(N, BN), group=16): ...
    ```
    """


@builtin
def pipelined(
    start: int | Scalar,
    stop: int | Scalar | None = None,
    step: int | Scalar = 1,
    *,
    stages: int | str = "auto",
    specialize: bool | str = "auto",
    consumers: int | str = "auto",
    order: str = "auto",
) -> Iterator[Scalar]:
    """A loop as `range(start, stop, step)` whose loads run ahead of its arithmetic. `step` is positive.

    `stages`: trips in flight, "auto" for as many as fit, 0 or 1 for none. `specialize`: True gives the copies warps of
    their own. `consumers`: groups of compute warps. `order`: "cooperative" groups share a tile; "pingpong" ones, which
    take turns, are refused: they are not there yet.

    ```python
    for k in hr.pipelined(0, K, BK, stages=4):
        acc = hr.dot(A[m:m + BM, k:k + BK], B[n:n + BN, k:k + BK].T, acc)
    ```
    """


@builtin
def unroll(start: int, stop: int | None = None, step: int = 1) -> Iterator[int]:
    """A loop as `range` whose body is written out for each value: the variable is a constant. At most 1024 trips.

    ```python
    for i in hr.unroll(4):
        acc = hr.dot(A[m:m + BM, i * BK:i * BK + BK], w[i], acc)
    ```
    """


@builtin
def program_id(axis: int) -> Scalar:
    """The place of this program along `axis` (0, 1 or 2) of the grid, an int.

    ```python
    m = hr.program_id(0) * BM
    ```
    """


@builtin
def num_programs(axis: int) -> Scalar:
    """The number of programs along `axis` (0, 1 or 2) of the grid, an int.

    ```python
    for t in range(hr.program_id(0), tiles, hr.num_programs(0)): ...
    ```
    """


@builtin
def tile_index(
    number: int | Scalar, shape: tuple[int | Scalar, int | Scalar], *, group: int = 1
) -> tuple[Scalar, Scalar]:
    """Row and column of tile `number` among `shape` (rows, columns), down columns of `group` rows at a time.

    Programs that run together then share rows and columns of the operands in L2. `group` is a positive constant.

    ```python
    m, n = hr.tile_index(hr.grid(rows * columns), (rows, columns), group=8)
    ```
    """


@overload
def cdiv(a: int, b: int) -> int: ...
@overload
def cdiv(a: Scalar, b: int | Scalar) -> Scalar: ...
@overload
def cdiv(a: int, b: Scalar) -> Scalar: ...
@builtin_anywhere
def cdiv(a: Any, b: Any) -> Any:
    """`a` divided by `b`, rounded up: the number of tiles of `b` that cover `a`. Integers; `b` is not 0.

    Outside of kernels it computes the same of Python's integers.

    ```python
    rows = hr.cdiv(C.shape[0], BM)
    ```
    """
    return -(-a // b)


@builtin
def assume(value: Scalar, *, multiple_of: int = 1, at_least: int | None = None) -> Scalar:
    """`value`, an integer that the compiler may take for a multiple of a constant, or for at least a constant.

    Of an extent or an integer argument the launcher checks the multiple; all else is the writer's promise. What is not
    negative divides faster: `//` and `%` need not look at signs.

    ```python
    K = hr.assume(A.shape[1], multiple_of=64)
    ```
    """


@builtin
def static_assert(condition: bool, message: str = "") -> None:
    """Refuses the kernel with `message` unless a compile-time `condition` holds. A constant `assert` does the same.

    ```python
    hr.static_assert(BK % 16 == 0, "BK must be whole steps of the tensor core")
    ```
    """
