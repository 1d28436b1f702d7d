"""Making tiles, reading and writing arrays."""

# mypy: disable-error-code="empty-body"

from __future__ import annotations

from headrace.language.api.builtin import builtin
from headrace.language.api.elementwise import V
from headrace.language.api.types import Scalar, Tile
from headrace.language.dtypes import DType, f32, i32


@builtin
def load(part: Tile, *, fill: float | None = None, cache: str | None = None) -> Tile:
    """Loads a part of an array, as ``A[m:m+BM, k:k+BK]`` alone does, with options.

    `part` is written as a subscript of an array: slices of constant length, single positions, or tiles of places.
    `fill` is what elements outside of the array read as (default 0; float("-inf") for a maximum). `cache` is "ca",
    "cg", "evict_first" or "evict_last". Result: a tile of the slices' lengths and the array's dtype.

    Refused: a part that is no subscript of an array, a slice of unknown length, a fill that the dtype does not hold.

    ```python
    x = hr.load(X[row:row + 1, 0:BN], fill=float("-inf"), cache="evict_first")
    ```
    """


@builtin
def store(part: Tile, value: Tile | float, *, cache: str | None = None) -> None:
    """Stores a tile to a part of an array, as ``C[m:m+BM, n:n+BN] = value`` does, with a cache hint.

    `value` has the array's dtype and a shape that broadcasts to the part's, or is a number. Elements outside of the
    array are not written. `cache` is "ca", "cg", "evict_first" or "evict_last".

    ```python
    hr.store(C[m:m + BM, n:n + BN], tile, cache="evict_first")
    ```
    """


@builtin
def atomic_add(part: Tile, value: Tile | float) -> None:
    """Adds a tile to a part of an array, each element atomically. No value is returned.

    `part` is written as a subscript of an array of i32, i64, f16, bf16, f32 or f64; with a tile of places it scatters.
    `value` has the array's dtype and broadcasts to the part. Sums of floats depend on the order of programs.

    ```python
    hr.atomic_add(C[m:m + BM, n:n + BN], partial)
    hr.atomic_add(histogram[bins], hr.full((BN,), 1, hr.i32))
    ```
    """


@builtin
def atomic_min(part: Tile, value: Tile | float) -> None:
    """Lowers a part of an array to a tile, each element atomically. As `hr.atomic_add` otherwise.

    ```python
    hr.atomic_min(nearest[m:m + BM], distance)
    ```
    """


@builtin
def atomic_max(part: Tile, value: Tile | float) -> None:
    """Raises a part of an array to a tile, each element atomically. As `hr.atomic_add` otherwise.

    ```python
    hr.atomic_max(largest[m:m + BM], x.max(axis=1))
    ```
    """


@builtin
def zeros(shape: tuple[int, ...] | int, dtype: DType = f32) -> Tile:
    """A tile of zeros: `shape` of 1 to 4 constants (or one number).

    ```python
    acc = hr.zeros((BM, BN), hr.f32)
    ```
    """


@builtin
def full(shape: tuple[int, ...] | int, value: float | Scalar, dtype: DType = f32) -> Tile:
    """A tile of one value, a number or a scalar: `shape` of 1 to 4 constants (or one number).

    ```python
    best = hr.full((BM,), float("-inf"), hr.f32)
    ```
    """


@builtin
def arange(start: int, stop: int | None = None, dtype: DType = i32) -> Tile:
    """A tile of one dimension with the integers from `start` (default 0) to below `stop`, both constants.

    Refused: bounds known only at run time (write ``m + hr.arange(BM)``), an empty range, a dtype that is no integer.

    ```python
    rows = m + hr.arange(BM)
    inside = rows[:, None] >= (n + hr.arange(BN))[None, :]
    ```
    """


@builtin
def iota(shape: tuple[int, ...], axis: int, dtype: DType = i32) -> Tile:
    """A tile whose elements are their own coordinates along `axis`: `shape` and `axis` are constants.

    ``hr.arange(n)[:, None]`` broadcasts to the same where it meets other tiles.

    ```python
    behind = hr.iota((BM, BN), 1) > hr.iota((BM, BN), 0)
    ```
    """


@builtin
def reshape(x: Tile, shape: tuple[int, ...]) -> Tile:
    """The elements of `x` in row-major order in another shape of as many elements; one extent may be -1.

    ```python
    flat = hr.reshape(x, (BM * BN,))
    ```
    """


@builtin
def split(x: Tile) -> tuple[Tile, Tile]:
    """The two halves of `x` along its last dimension, which has the extent 2. `hr.join` is the inverse.

    After ``x.reshape(M, N // 2, 2)`` the halves are the even and the odd columns; nothing moves between threads.

    Refused: a last extent other than 2, a tile of rank 1.

    ```python
    even, odd = hr.split(x.reshape(BM, BN // 2, 2))
    ```
    """


@builtin
def join(a: Tile, b: Tile) -> Tile:
    """`a` and `b` side by side along a new last dimension of extent 2. They have one dtype, and broadcast.

    Refused: tiles of rank 4, two scalars.

    ```python
    interleaved = hr.join(even, odd).reshape(BM, BN)
    ```
    """


@builtin
def transpose(x: Tile) -> Tile:
    """The transpose of a tile [M, N], as ``x.T``. As an operand of a dot it costs nothing.

    ```python
    s = hr.dot(q, hr.transpose(k))
    ```
    """


@builtin
def broadcast_to(x: Tile, shape: tuple[int, ...]) -> Tile:
    """`x` repeated to `shape`, by numpy's rule: from the right, extents are equal or 1.

    ```python
    bias = hr.broadcast_to(b, (BM, BN))
    ```
    """


@builtin
def bitcast(x: V, dtype: DType) -> V:
    """The bits of `x` taken for another dtype of the same width.

    ```python
    bits = hr.bitcast(x, hr.i32)
    ```
    """


@builtin
def dot(a: Tile, b: Tile, acc: Tile | float | None = None, *, precision: str | None = None) -> Tile:
    """The matrix product of `a` [M, K] and `b` [K, N], added to `acc` [M, N] if it is given.

    ``b.T`` for a tile loaded as [N, K] (and ``a.T``) costs nothing. dtypes: f16, bf16, f32 or 8-bit float pairs sum in
    f32, i8 in i32, f64 in f64: that is the result's dtype. Products of f32 are exact to f32 unless `precision` is
    "tf32". ``acc += hr.dot(a, b)`` and ``acc += a @ b`` mean the same as ``acc = hr.dot(a, b, acc)``.

    Refused: other pairs of dtypes (cast one), different K (transpose one), an accumulator of another shape or dtype.

    ```python
    acc = hr.dot(a, b.T, acc)
    ```
    """


@builtin
def dot_scaled(a: Tile, a_scale: Tile, b: Tile, b_scale: Tile, acc: Tile | float | None = None) -> Tile:
    """The product of `a` and ``b.T`` whose blocks along K have scales, added to `acc` [M, N] of f32 if it is given.

    `a` is [M, K] and `b` [N, K] of e4m3 or e5m2 (mxfp8), or of i8 with two e2m1 numbers in each, [M, K / 2] and
    [N, K / 2], the even one in the low half (mxfp4, nvfp4). Scales are [M, K / 32] and [N, K / 32] of i8, exponents of
    two with a bias of 127 (OCP microscaling), or for e2m1 also e4m3, one for 16 numbers: [M, K / 16] and [N, K / 16].
    8-bit floats need sm_89. No target's own scaled products are used yet: numbers take their scales as bf16, which
    holds them exactly unless they are beyond its range.

    Refused: other dtypes, different K, scales of another shape, a K that is no whole number of blocks.

    ```python
    acc = hr.dot_scaled(A[m:m + BM, k:k + 64], SA[m:m + BM, s:s + 2], B[n:n + BN, k:k + 64], SB[n:n + BN, s:s + 2], acc)
    ```
    """
