"""What a program says: asserts that fail, and the lines of tile.print, as the GPU writes them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from headrace.interpreter.errors import InterpreterError
from headrace.interpreter.parser import Operation
from headrace.interpreter.rounding import signed, wide
from headrace.interpreter.types import is_float

#: Digits that tell any two values apart, by the bytes of a float; bf16 needs fewer than f16.
_DIGITS = {8: 17, 4: 9, 2: 5}


def check(op: Operation, args: list[np.ndarray], program: tuple[int, int, int]) -> list[np.ndarray]:
    """Raises InterpreterError unless all elements hold."""
    if not np.all(args[0]):
        raise InterpreterError(f"assert failed in program {program}: {op.attributes['message']}", op.line)
    return []


def print_lines(op: Operation, args: list[np.ndarray], program: tuple[int, int, int]) -> list[np.ndarray]:
    """Elements in row-major order."""
    for line in lines_of(str(op.attributes["text"]), args, program):
        print(line)
    return []


def lines_of(text: str, args: list[np.ndarray], program: tuple[int, int, int]) -> Iterator[str]:
    """One line for each element of the tiles, or one."""
    shape = next((value.shape for value in args if value.ndim), ())
    for place in np.ndindex(shape):
        at = f" [{', '.join(map(str, place))}]" if shape else ""
        values = ", ".join(_spelled(value[place] if value.ndim else value[()]) for value in args)
        yield f"{program} {text}{at}" + (f": {values}" if args else "")


def _spelled(value: np.generic) -> str:
    if value.dtype == np.bool_:
        return str(int(value))
    if not is_float(value.dtype):
        return str(int(signed(np.asarray(value))))
    digits = 4 if value.dtype.name == "bfloat16" else _DIGITS[value.dtype.itemsize]
    return f"{float(wide(np.asarray(value))):.{digits}g}"
