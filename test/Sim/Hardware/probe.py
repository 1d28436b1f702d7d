"""What a probe is: a program that settles one question about the hardware, on a GPU or on the simulator."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np


@dataclass(frozen=True)
class Array:
    """An array. `data` holds its bits: float16 and float32 as themselves, bf16 and fp8 as unsigned integers."""

    dtype: str
    data: np.ndarray


@dataclass(frozen=True)
class Probe:
    """One question.

    `facts` turns the arrays that the program left (all of `outputs`) into what is printed and compared: a dict of
    numbers, strings and lists. It is given `outputs` only, so that it can be applied to stored results.
    """

    name: str
    question: str
    ptx: str
    record: dict
    arguments: dict[str, Array | int]
    outputs: tuple[str, ...]
    facts: Callable[[dict[str, np.ndarray]], dict] = field(repr=False)


def hex_words(values) -> list[str]:
    """Values as hexadecimal numbers of their own width."""
    array = np.asarray(values)
    unsigned = array.view(f"u{array.itemsize}").ravel()
    return [f"0x{int(value):0{2 * array.itemsize}x}" for value in unsigned]


def poisoned(dtype: str, *shape: int) -> Array:
    """An output array whose bytes are all 0xee."""
    storage = {"i8": "i1", "i16": "i2", "i32": "i4", "i64": "i8", "f32": "f4", "f16": "f2", "bf16": "u2"}[dtype]
    array = np.empty(shape, storage)
    array.view(np.uint8).fill(0xEE)
    return Array(dtype, array)
