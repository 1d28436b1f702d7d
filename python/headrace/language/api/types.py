"""The types that annotations and editors see: tiles, arrays, run-time numbers, compile-time constants.

No object of these classes exists. Inside a kernel `A[m:m+BM, k:k+BK]` is a Tile, `A.shape[0]` a Scalar.
"""

# mypy: disable-error-code="empty-body"

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from headrace.language.dtypes import DType

if TYPE_CHECKING:
    #: To a type checker a constant is whatever the kernel does with it.
    constexpr: TypeAlias = Any
else:

    class constexpr:  # noqa: N801 - reads as a keyword
        """Annotation of a parameter that is known at compile time: a number, a string, a dtype, an `@hr.inline`
        function, None or a tuple of such.

        ```python
        @hr.kernel
        def scale(X, Y, BLOCK: hr.constexpr = 1024): ...
        ```
        """


class _Operators:
    """What Python's operators are of: a tile and a number, or another tile, make a tile."""

    def __add__(self, other: Any) -> Any: ...
    def __radd__(self, other: Any) -> Any: ...
    def __sub__(self, other: Any) -> Any: ...
    def __rsub__(self, other: Any) -> Any: ...
    def __mul__(self, other: Any) -> Any: ...
    def __rmul__(self, other: Any) -> Any: ...
    def __truediv__(self, other: Any) -> Any: ...
    def __rtruediv__(self, other: Any) -> Any: ...
    def __floordiv__(self, other: Any) -> Any: ...
    def __rfloordiv__(self, other: Any) -> Any: ...
    def __mod__(self, other: Any) -> Any: ...
    def __rmod__(self, other: Any) -> Any: ...
    def __pow__(self, other: Any) -> Any: ...
    def __rpow__(self, other: Any) -> Any: ...
    def __lshift__(self, other: Any) -> Any: ...
    def __rshift__(self, other: Any) -> Any: ...
    def __and__(self, other: Any) -> Any: ...
    def __rand__(self, other: Any) -> Any: ...
    def __or__(self, other: Any) -> Any: ...
    def __ror__(self, other: Any) -> Any: ...
    def __xor__(self, other: Any) -> Any: ...
    def __rxor__(self, other: Any) -> Any: ...
    def __neg__(self) -> Any: ...
    def __pos__(self) -> Any: ...
    def __invert__(self) -> Any: ...
    def __abs__(self) -> Any: ...
    def __lt__(self, other: Any) -> Any: ...
    def __le__(self, other: Any) -> Any: ...
    def __gt__(self, other: Any) -> Any: ...
    def __ge__(self, other: Any) -> Any: ...
    def __eq__(self, other: Any) -> Any: ...
    def __ne__(self, other: Any) -> Any: ...


class Scalar(_Operators):
    """A number known at run time. Integers of extents, loops and program ids are `int`; others have a dtype.

    `+ - * // % ** << >> & | ^ ~`, comparisons (chained too), `and or not` and ``x if c else y`` mean what they mean in
    Python. A Python constant takes the scalar's dtype. `/` is for floats.
    """

    dtype: DType

    def __int__(self) -> int:
        """This number cast to the integers of extents and loops."""

    def __float__(self) -> float:
        """This number cast to f32."""

    def __index__(self) -> int:
        """Integers are places in arrays."""

    def to(self, dtype: DType) -> Scalar:
        """This number cast to `dtype`: floats round to nearest, to integers they are cut."""


class Tile(_Operators):
    """A tile: extents known at compile time, elements of one dtype. Operators work element by element and broadcast.

    Shapes broadcast from the right as in numpy; ``x[:, None]`` inserts an axis. Python numbers and run-time ints take
    the tile's dtype; two tiles have one dtype or are refused. Comparisons give tiles of i1, for `& | ~` and `hr.where`.
    """

    shape: tuple[int, ...]
    dtype: DType
    ndim: int

    @property
    def T(self) -> Tile:  # noqa: N802 - numpy's name
        """The transpose of a tile [M, N]. As an operand of a dot it costs nothing."""

    def __matmul__(self, other: Tile) -> Tile:
        """The matrix product, as ``hr.dot(a, b)``."""

    def to(self, dtype: DType) -> Tile:
        """The elements cast to `dtype`: floats round to nearest, to integers they are cut, to i1 it is ``!= 0``."""

    def reshape(self, *shape: int) -> Tile:
        """The elements in row-major order in another shape; one extent may be -1."""

    def sum(self, axis: int | None = None, keepdims: bool = False) -> Any:
        """See `hr.sum`."""

    def max(self, axis: int | None = None, keepdims: bool = False) -> Any:
        """See `hr.max`."""

    def min(self, axis: int | None = None, keepdims: bool = False) -> Any:
        """See `hr.min`."""

    def __getitem__(self, item: Any) -> Tile:
        """``x[:, None]``: the tile with axes of extent 1."""


class Array:
    """An array argument. Slices of constant length are tiles; what lies outside reads as 0 and is not written.

    ```python
    a = A[m:m+BM, k:k+BK]         # load a tile [BM, BK]
    row = A[b, m:m+BM, 0:D]       # of an array of rank 3, a tile [BM, D]
    C[m:m+BM, n:n+BN] = tile      # store
    n = lengths[b]                # a scalar
    rows = table[ids, 0:D]        # gather: ids is a tile of i32
    ```
    """

    shape: tuple[Scalar, ...]
    dtype: DType
    ndim: int

    def __getitem__(self, item: Any) -> Any:
        """Loads a tile, or a scalar if all positions are single."""

    def __setitem__(self, item: Any, value: Any) -> None:
        """Stores a tile, or a scalar."""
