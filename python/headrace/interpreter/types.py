"""Types of the generic form, and the numpy type of each element type."""

from __future__ import annotations

from dataclasses import dataclass

import ml_dtypes
import numpy as np

#: numpy types by MLIR's element types. Index arithmetic is 32 bits wide, as the compiler has it.
ELEMENTS = {
    "i1": np.dtype(np.bool_),
    "i8": np.dtype(np.int8),
    "i16": np.dtype(np.int16),
    "i32": np.dtype(np.int32),
    "i64": np.dtype(np.int64),
    "index": np.dtype(np.int32),
    "bf16": np.dtype(ml_dtypes.bfloat16),
    "f16": np.dtype(np.float16),
    "f32": np.dtype(np.float32),
    "f64": np.dtype(np.float64),
    "f8E4M3FN": np.dtype(ml_dtypes.float8_e4m3fn),
    "f8E5M2": np.dtype(ml_dtypes.float8_e5m2),
}

#: Types that numpy's files have no name for: they travel as unsigned integers of the same width.
RAW = {"bf16": np.dtype(np.uint16), "f8E4M3FN": np.dtype(np.uint8), "f8E5M2": np.dtype(np.uint8)}

FLOATS = frozenset(ELEMENTS[name] for name in ("bf16", "f16", "f32", "f64", "f8E4M3FN", "f8E5M2"))


@dataclass(frozen=True)
class Scalar:
    """A number."""

    element: str

    def __str__(self) -> str:
        return self.element


@dataclass(frozen=True)
class Tile:
    """A tensor of static extents."""

    shape: tuple[int, ...]
    element: str

    def __str__(self) -> str:
        return f"tensor<{'x'.join(map(str, (*self.shape, self.element)))}>"


@dataclass(frozen=True)
class Array:
    """A memref; None stands for a dynamic extent or stride."""

    shape: tuple[int | None, ...]
    element: str
    strides: tuple[int | None, ...]

    def __str__(self) -> str:
        return f"memref<{'x'.join('?' if e is None else str(e) for e in self.shape)}x{self.element}>"


@dataclass(frozen=True)
class Function:
    """A function's type."""

    inputs: tuple[Type, ...]
    results: tuple[Type, ...]


Type = Scalar | Tile | Array | Function


def dtype_of(type_: Type) -> np.dtype:
    """The numpy type of a number, or of the elements of a tile or an array."""
    return ELEMENTS[type_.element]


def is_float(dtype: np.dtype) -> bool:
    """Whether `dtype` is a floating-point type, those without a numpy name included."""
    return dtype in FLOATS
