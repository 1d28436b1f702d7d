"""What a launch record holds: the argument list, the kernel's parameters, tensor maps, grid and contract.

Shapes and strides are in elements, None where they are known only at run time. Sizes of shared memory, multiples of
pointers and strides are in bytes. Boxes of tensor maps are in elements, innermost first.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from headrace.errors import LaunchError

#: An integer, ("dim", arg, d), ("scalar", arg), or (op, expr, expr).
Expr = int | tuple

OPERATORS: dict[str, Callable[[int, int], int]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "ceildiv": lambda a, b: -(-a // b),
    "floordiv": lambda a, b: a // b,
    "mod": lambda a, b: a % b,
    "min": min,
    "max": max,
}


#: Bytes per element of the data types of tensor maps.
TENSOR_MAP_SIZES = {
    "u8": 1, "u16": 2, "u32": 4, "i32": 4, "i64": 8, "f16": 2, "f32": 4, "f64": 8, "bf16": 2, "tf32": 4,
}  # fmt: skip


@dataclass(frozen=True)
class Arg:
    """One argument of the call: an array (with shape and strides, None entries are free) or a scalar."""

    name: str
    kind: str
    dtype: str
    shape: tuple[int | None, ...] = ()
    strides: tuple[int | None, ...] = ()


@dataclass(frozen=True)
class Param:
    """One parameter of the kernel. `index` is an argument's, or a tensor map's if kind is "tensor_map"."""

    kind: str
    index: int
    dim: int = 0
    type: str = ""


@dataclass(frozen=True)
class TensorMap:
    """A tensor map of array `arg`: dimensions and box (elements), innermost first; swizzle, l2_promotion in bytes."""

    arg: int
    dtype: str
    dims: tuple[int, ...]
    box: tuple[int, ...]
    swizzle: int
    l2_promotion: int

    @property
    def element_bytes(self) -> int:
        return TENSOR_MAP_SIZES[self.dtype]


@dataclass(frozen=True)
class Requirement:
    """What must hold at run time: a pointer or stride is a multiple of `of` bytes, a dim or scalar one of `of`."""

    what: str
    arg: int
    of: int
    because: str
    dim: int = 0


@dataclass(frozen=True)
class Grid:
    """Numbers of programs along x, y, z; of a `persistent` grid the resident ones, or more of at most `trips` tiles."""

    x: Expr
    y: Expr
    z: Expr
    persistent: bool
    trips: int | None = None


@dataclass(frozen=True)
class Record:
    """A whole launch record. `threads` per program, `shared_bytes` of dynamic shared memory per program."""

    kernel: str
    target: str
    threads: int
    cluster: tuple[int, int, int]
    shared_bytes: int
    min_ctas_per_sm: int
    grid: Grid
    args: tuple[Arg, ...]
    params: tuple[Param, ...]
    tensor_maps: tuple[TensorMap, ...]
    contract: tuple[Requirement, ...]


def evaluate(expr: Expr, dim: Callable[[int, int], int], scalar: Callable[[int], int]) -> int:
    """The value of `expr`, where dim(arg, d) and scalar(arg) give the run-time values.

    Divisions round toward minus infinity (ceildiv toward plus infinity). Raises LaunchError on a divisor below 1.
    """
    if isinstance(expr, int):
        return expr
    if expr[0] == "dim":
        return dim(expr[1], expr[2])
    if expr[0] == "scalar":
        return scalar(expr[1])
    left, right = (evaluate(operand, dim, scalar) for operand in expr[1:])
    if expr[0] in ("ceildiv", "floordiv", "mod") and right < 1:
        raise LaunchError(f"launch grid: expected a divisor of at least 1 in {expr[0]}, got {right}")
    return OPERATORS[expr[0]](left, right)
