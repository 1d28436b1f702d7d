"""Element types of tiles, arrays and scalars, and the types of arrays made of them.

``hr.bf16`` is a dtype. ``hr.bf16[:, ::1]`` is an array of rank 2 whose last dimension is contiguous: ``::1`` marks the
stride 1, as in numba and Cython.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from headrace.errors import HeadraceError
from headrace.language.interpretation import CURRENT

#: The alignment, in bytes, that ``hr.bf16[:, ::1]`` promises; the launcher checks it.
DEFAULT_ALIGN = 16

_MAX_RANK = 5


@dataclass(frozen=True)
class DType:
    """An element type. `name` is Headrace's, `mlir` MLIR's; `bits` its width; `kind` is float, int, bool or index.

    ```python
    hr.f32.bits       # 32
    hr.bf16[:, ::1]   # the type of a row-major matrix, for signatures and annotations
    x.to(hr.f32)      # in a kernel: a cast
    ```
    """

    name: str
    mlir: str
    bits: int
    kind: str

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"hr.{self.name}"

    @property
    def is_float(self) -> bool:
        return self.kind == "float"

    @property
    def is_int(self) -> bool:
        """Whether this is a sized integer (bool and the index of loops and extents are not)."""
        return self.kind == "int"

    def __call__(self, value: Any) -> Any:
        """In a kernel, the number or scalar `value` cast to this dtype."""
        if (interpretation := CURRENT.get()) is not None:
            return interpretation.cast(value, self)
        raise HeadraceError(f"hr.{self.name}(...) is for kernels: call it in a function decorated with @hr.kernel")

    def __getitem__(self, dimensions) -> ArrayType:
        """The array type with one slice for each dimension: `:` any stride, `::1` stride 1.

        The array's address and its strides are promised to be multiples of 16 bytes; `.aligned(n)` changes that.
        Raises TypeError for anything but 1 to 5 slices `:` or `::1`.
        """
        if not isinstance(dimensions, tuple):
            dimensions = (dimensions,)
        strides = []
        for part in dimensions:
            if not isinstance(part, slice) or part.start is not None or part.stop is not None:
                raise TypeError(f"expected hr.{self.name}[:, ::1], one ':' or '::1' for each dimension, got {part!r}")
            if part.step not in (None, 1):
                raise TypeError(f"expected a stride of ':' (any) or '::1', got '::{part.step}'")
            strides.append(part.step)
        return ArrayType(self, len(strides), tuple(strides), DEFAULT_ALIGN)


@dataclass(frozen=True)
class ArrayType:
    """What is known of an array when a kernel is compiled.

    `strides` are in elements, None where only the call knows; `align` promises that the address and all unknown strides
    are multiples of so many bytes (a power of two up to 1024); `multiples` promises that each extent is a multiple of a
    number (1: nothing). The launcher checks every promise.
    """

    dtype: DType
    rank: int
    strides: tuple[int | None, ...]
    align: int = 1
    multiples: tuple[int, ...] = ()

    def __post_init__(self):
        if not 1 <= self.rank <= _MAX_RANK or len(self.strides) != self.rank:
            raise TypeError(
                f"expected a rank of 1 to {_MAX_RANK} and as many strides, got {self.rank} and {self.strides}"
            )
        if self.dtype.kind == "index" or not isinstance(self.dtype, DType):
            raise TypeError(f"expected a dtype with a size in memory, got {self.dtype!r}")
        if self.align < 1 or self.align & (self.align - 1) or self.align > 1024:
            raise TypeError(f"expected an alignment of a power of two up to 1024, got {self.align}")
        object.__setattr__(self, "multiples", tuple(self.multiples) or (1,) * self.rank)
        if len(self.multiples) != self.rank or any(m < 1 for m in self.multiples):
            raise TypeError(f"expected {self.rank} positive multiples, got {self.multiples}")

    def aligned(self, align: int) -> ArrayType:
        """The same type with another alignment in bytes; 1 promises nothing."""
        return ArrayType(self.dtype, self.rank, self.strides, align, self.multiples)

    def extents(self, *multiples: int) -> ArrayType:
        """The same type whose extents are multiples of `multiples`, one number for each dimension (1: no promise)."""
        return ArrayType(self.dtype, self.rank, self.strides, self.align, multiples)

    @property
    def mlir(self) -> str:
        strides = ", ".join("?" if stride is None else str(stride) for stride in self.strides)
        return f"memref<{'?x' * self.rank}{self.dtype.mlir}, strided<[{strides}]>>"

    def __str__(self) -> str:
        parts = ", ".join(":" if stride is None else f"::{stride}" for stride in self.strides)
        return f"{self.dtype}[{parts}]"

    def __repr__(self) -> str:
        return f"hr.{self}.aligned({self.align})"


bf16 = DType("bf16", "bf16", 16, "float")
f16 = DType("f16", "f16", 16, "float")
f32 = DType("f32", "f32", 32, "float")
f64 = DType("f64", "f64", 64, "float")
e4m3 = DType("e4m3", "f8E4M3FN", 8, "float")
e5m2 = DType("e5m2", "f8E5M2", 8, "float")
i1 = DType("i1", "i1", 1, "bool")
i8 = DType("i8", "i8", 8, "int")
i16 = DType("i16", "i16", 16, "int")
i32 = DType("i32", "i32", 32, "int")
i64 = DType("i64", "i64", 64, "int")

#: The type of Python integers at run time: extents, loop variables, program ids, integer arguments. 32 bits in kernels.
index = DType("index", "index", 32, "index")

BY_NAME: dict[str, DType] = {
    dtype.name: dtype for dtype in (bf16, f16, f32, f64, e4m3, e5m2, i1, i8, i16, i32, i64, index)
}

#: Names that other libraries give these types, for hints.
FOREIGN_NAMES = {
    "float32": "f32", "float16": "f16", "float64": "f64", "bfloat16": "bf16", "half": "f16", "float": "f32",
    "double": "f64", "int1": "i1", "bool": "i1", "bool_": "i1", "int8": "i8", "int16": "i16", "int32": "i32",
    "int64": "i64", "float8e4nv": "e4m3", "float8_e4m3fn": "e4m3", "float8e5": "e5m2", "float8_e5m2": "e5m2",
    "uint8": "i8", "uint16": "i16", "uint32": "i32", "uint64": "i64", "fp32": "f32", "fp16": "f16",
}  # fmt: skip


def array(
    dtype: DType, rank: int, strides: tuple[int | None, ...] | None = None, align: int = DEFAULT_ALIGN
) -> ArrayType:
    """The type of an array, for signatures: the long form of ``dtype[:, ::1]``.

    `strides` are in elements, None for what the call brings (default: row-major, the last one 1); `align` is in bytes.
    Raises TypeError for a rank outside 1 to 5, or an alignment that is no power of two.

    ```python
    hr.array(hr.f32, 3)                     # hr.f32[:, :, ::1]
    hr.array(hr.f32, 2, strides=(1, None))  # column-major
    ```
    """
    if strides is None:
        strides = (None,) * (rank - 1) + (1,)
    return ArrayType(dtype, rank, tuple(strides), align)
