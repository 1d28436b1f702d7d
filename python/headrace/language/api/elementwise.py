"""Functions of each element. They take tiles and scalars; results have the operand's shape and dtype."""

from __future__ import annotations

from headrace.language.api.builtin import builtin
from headrace.language.api.types import Scalar, Tile

Value = Tile | Scalar


@builtin
def where(condition: Value, x: Value, y: Value) -> Value:
    """`x` where `condition` (i1), else `y`. Shapes broadcast; one of `x` and `y` may be a number.

    ```python
    s = hr.where(rows[:, None] >= columns[None, :], s, float("-inf"))
    ```
    """


@builtin
def minimum(x: Value, y: Value) -> Value:
    """The smaller of both, element by element; NaN wins. Shapes broadcast, dtypes agree.

    ```python
    x = hr.minimum(x, 6.0)
    ```
    """


@builtin
def maximum(x: Value, y: Value) -> Value:
    """The larger of both, element by element; NaN wins. Shapes broadcast, dtypes agree.

    ```python
    relu = hr.maximum(x, 0.0)
    ```
    """


@builtin
def exp(x: Value) -> Value:
    """e to the power of `x`; f32, f16 or bf16.

    ```python
    p = hr.exp(x - x.max(axis=1)[:, None])
    ```
    """


@builtin
def exp2(x: Value) -> Value:
    """2 to the power of `x`; f32, f16 or bf16. One instruction, faster than `hr.exp`.

    ```python
    p = hr.exp2((x - m) * LOG2E)
    ```
    """


@builtin
def log(x: Value) -> Value:
    """The natural logarithm; f32, f16 or bf16.

    ```python
    lse = m + hr.log(total)
    ```
    """


@builtin
def log2(x: Value) -> Value:
    """The logarithm to base 2; f32, f16 or bf16.

    ```python
    lse = m + hr.log2(total)
    ```
    """


@builtin
def sqrt(x: Value) -> Value:
    """The square root; f64, f32, f16 or bf16. ``x ** 0.5`` is the same.

    ```python
    norm = hr.sqrt(hr.sum(x * x, axis=1))
    ```
    """


@builtin
def rsqrt(x: Value) -> Value:
    """1 over the square root; f32, f16 or bf16.

    ```python
    y = x * hr.rsqrt(hr.sum(x * x) / BN + 1e-6)
    ```
    """


@builtin
def tanh(x: Value) -> Value:
    """The hyperbolic tangent; f32, f16 or bf16.

    ```python
    y = 30.0 * hr.tanh(x / 30.0)
    ```
    """


@builtin
def sigmoid(x: Value) -> Value:
    """1 / (1 + exp(-x)); f32, f16 or bf16.

    ```python
    silu = x * hr.sigmoid(x)
    ```
    """


@builtin
def abs(x: Value) -> Value:
    """The absolute value, of floats and integers. Python's `abs` is the same.

    ```python
    largest = hr.max(hr.abs(x))
    ```
    """


@builtin
def floor(x: Value) -> Value:
    """The largest whole number not above `x`; floats.

    ```python
    q = hr.floor(x / y)
    ```
    """


@builtin
def ceil(x: Value) -> Value:
    """The smallest whole number not below `x`; floats.

    ```python
    q = hr.ceil(x / y)
    ```
    """


@builtin
def trunc(x: Value) -> Value:
    """`x` without its fraction; floats.

    ```python
    whole = hr.trunc(x)
    ```
    """


@builtin
def round(x: Value) -> Value:
    """The nearest whole number, halves to the even one; floats.

    ```python
    q = hr.round(x / scale).to(hr.i8)
    ```
    """


@builtin
def fma(x: Value, y: Value, z: Value) -> Value:
    """x * y + z, rounded once; floats. Shapes broadcast, dtypes agree.

    ```python
    y = hr.fma(x, scale, bias)
    ```
    """


@builtin
def copysign(x: Value, y: Value) -> Value:
    """`x` with the sign of `y`; floats.

    ```python
    y = hr.copysign(1.0, x)
    ```
    """


@builtin
def popcount(x: Value) -> Value:
    """The number of ones among the bits; integers.

    ```python
    ones = hr.popcount(mask)
    ```
    """


@builtin
def clz(x: Value) -> Value:
    """The number of zeros before the first one among the bits; integers.

    ```python
    log2 = 31 - hr.clz(x)
    ```
    """
