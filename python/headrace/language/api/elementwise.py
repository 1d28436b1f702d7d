"""Functions of each element. They take tiles and scalars; results have the operand's shape and dtype.

To a type checker, what several operands make is Any: a tile if one of them is a tile, else a scalar.
"""

# mypy: disable-error-code="empty-body"

from __future__ import annotations

from typing import Any, TypeVar

from headrace.language.api.builtin import builtin
from headrace.language.api.types import Scalar, Tile

V = TypeVar("V", bound=Tile | Scalar)
Value = Tile | Scalar
Operand = Tile | Scalar | float


@builtin
def where(condition: Value, x: Operand, y: Operand) -> Any:
    """`x` where `condition` (i1), else `y`. Shapes broadcast; one of `x` and `y` may be a number.

    ```python
    s = hr.where(rows[:, None] >= columns[None, :], s, float("-inf"))
    ```
    """


@builtin
def minimum(x: Operand, y: Operand) -> Any:
    """The smaller of both, element by element; NaN wins. Shapes broadcast, dtypes agree.

    ```python
    x = hr.minimum(x, 6.0)
    ```
    """


@builtin
def maximum(x: Operand, y: Operand) -> Any:
    """The larger of both, element by element; NaN wins. Shapes broadcast, dtypes agree.

    ```python
    relu = hr.maximum(x, 0.0)
    ```
    """


@builtin
def exp(x: V) -> V:
    """e to the power of `x`; f32, f16 or bf16.

    ```python
    p = hr.exp(x - x.max(axis=1)[:, None])
    ```
    """


@builtin
def exp2(x: V) -> V:
    """2 to the power of `x`; f32, f16 or bf16. One instruction, faster than `hr.exp`.

    ```python
    p = hr.exp2((x - m) * LOG2E)
    ```
    """


@builtin
def log(x: V) -> V:
    """The natural logarithm; f32, f16 or bf16.

    ```python
    lse = m + hr.log(total)
    ```
    """


@builtin
def log2(x: V) -> V:
    """The logarithm to base 2; f32, f16 or bf16.

    ```python
    lse = m + hr.log2(total)
    ```
    """


@builtin
def sqrt(x: V) -> V:
    """The square root; f64, f32, f16 or bf16. ``x ** 0.5`` is the same.

    ```python
    norm = hr.sqrt(hr.sum(x * x, axis=1))
    ```
    """


@builtin
def rsqrt(x: V) -> V:
    """1 over the square root; f32, f16 or bf16.

    ```python
    y = x * hr.rsqrt(hr.sum(x * x) / BN + 1e-6)
    ```
    """


@builtin
def tanh(x: V) -> V:
    """The hyperbolic tangent; f32, f16 or bf16.

    ```python
    y = 30.0 * hr.tanh(x / 30.0)
    ```
    """


@builtin
def sigmoid(x: V) -> V:
    """1 / (1 + exp(-x)); f32, f16 or bf16.

    ```python
    silu = x * hr.sigmoid(x)
    ```
    """


@builtin
def abs(x: V) -> V:
    """The absolute value, of floats and integers. Python's `abs` is the same.

    ```python
    largest = hr.max(hr.abs(x))
    ```
    """


@builtin
def floor(x: V) -> V:
    """The largest whole number not above `x`; floats.

    ```python
    q = hr.floor(x / y)
    ```
    """


@builtin
def ceil(x: V) -> V:
    """The smallest whole number not below `x`; floats.

    ```python
    q = hr.ceil(x / y)
    ```
    """


@builtin
def trunc(x: V) -> V:
    """`x` without its fraction; floats.

    ```python
    whole = hr.trunc(x)
    ```
    """


@builtin
def round(x: V) -> V:
    """The nearest whole number, halves to the even one; floats.

    ```python
    q = hr.round(x / scale).to(hr.i8)
    ```
    """


@builtin
def fma(x: Operand, y: Operand, z: Operand) -> Any:
    """x * y + z, rounded once; floats. Shapes broadcast, dtypes agree.

    ```python
    y = hr.fma(x, scale, bias)
    ```
    """


@builtin
def copysign(x: Operand, y: Operand) -> Any:
    """`x` with the sign of `y`; floats.

    ```python
    y = hr.copysign(1.0, x)
    ```
    """


@builtin
def popcount(x: V) -> V:
    """The number of ones among the bits; integers.

    ```python
    ones = hr.popcount(mask)
    ```
    """


@builtin
def clz(x: V) -> V:
    """The number of zeros before the first one among the bits; integers.

    ```python
    log2 = 31 - hr.clz(x)
    ```
    """
