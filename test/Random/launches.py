"""Arguments of a random program, and what the interpreter makes of them."""

from __future__ import annotations

import random
import sys
from dataclasses import dataclass
from pathlib import Path

import ml_dtypes
import numpy as np
from program_tree import ArrayArgument, Program

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))

from headrace import interpreter  # noqa: E402

_NUMPY = {
    "bf16": ml_dtypes.bfloat16, "f16": np.float16, "f32": np.float32, "f64": np.float64, "i8": np.int8,
    "i16": np.int16, "i32": np.int32, "i64": np.int64, "f8E4M3FN": ml_dtypes.float8_e4m3fn,
    "f8E5M2": ml_dtypes.float8_e5m2,
}  # fmt: skip
_RAW = {"bf16": np.uint16, "f8E4M3FN": np.uint8, "f8E5M2": np.uint8}
_BITS = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}
_GUARD_ROWS = 2
_MAX_TRIPS = 100_000


@dataclass
class Storage:
    """An array inside a larger one that is poison: NaN, or the lowest integer but one.

    The larger one is row-major: of a column-major array the last two dimensions have changed places in it.
    """

    argument: ArrayArgument
    whole: np.ndarray
    slices: tuple[slice, ...]

    @property
    def view(self) -> np.ndarray:
        return self.part_of(self.whole)

    def part_of(self, whole: np.ndarray) -> np.ndarray:
        """What is the array of another whole one."""
        return _turned(whole[self.slices]) if self.argument.columns else whole[self.slices]

    def copy(self) -> Storage:
        return Storage(self.argument, self.whole.copy(), self.slices)

    def raw(self) -> np.ndarray:
        """The whole array as .npy files have it."""
        return self.whole.view(_RAW.get(self.argument.element, self.whole.dtype))

    def described(self, path: Path) -> str:
        parts = ",".join(f"{part.start}:{part.stop}" for part in self.slices)
        return f"{path}[{parts}]"


@dataclass
class Launch:
    """Arrays and numbers by name, before a run."""

    arrays: dict[str, Storage]
    scalars: dict[str, int]

    def outputs(self) -> list[Storage]:
        return [s for s in self.arrays.values() if s.argument.role != "in"]


def make_launch(program: Program, rng: random.Random, *, largest: bool) -> Launch:
    """Fresh inputs. With `largest` every number is the first of its choices."""
    numbers = np.random.default_rng(rng.getrandbits(64))
    scalars = {s.name: s.choices[0] if largest else rng.choice(s.choices) for s in program.scalars}
    return Launch({a.name: _storage(a, numbers) for a in program.arrays}, scalars)


def _storage(argument: ArrayArgument, rng: np.random.Generator) -> Storage:
    kind = np.dtype(_NUMPY[argument.element])
    step = max((argument.align or kind.itemsize) // kind.itemsize, 1)
    *rows, columns = _turned(np.empty(argument.shape)).shape if argument.columns else argument.shape
    stride = -(-(columns + step + 1) // step) * step
    if not argument.align and stride % 2 == 0:
        stride += 1  # no better aligned than promised
    guard = -(-64 // step) * step if not rows else step
    whole_shape = [extent + 2 * _GUARD_ROWS for extent in rows] + [stride if rows else columns + 2 * guard]
    slices = (*(slice(_GUARD_ROWS, _GUARD_ROWS + extent) for extent in rows), slice(guard, guard + columns))
    is_float = argument.element in ("bf16", "f16", "f32", "f64") or argument.element.startswith("f8")
    poison = np.nan if is_float else np.iinfo(kind).min + 1
    storage = Storage(argument, np.full(whole_shape, poison).astype(kind), slices)
    if argument.role != "out":
        storage.view[...] = rng.integers(argument.low, argument.high, argument.shape, endpoint=True).astype(kind)
    return storage


def expected_outputs(kernel: interpreter.Program, launch: Launch) -> dict[str, Storage]:
    """The outputs after the interpreter has run the kernel on copies."""
    arrays = {name: storage.copy() for name, storage in launch.arrays.items()}
    kernel.run({**{name: storage.view for name, storage in arrays.items()}, **launch.scalars}, max_trips=_MAX_TRIPS)
    return {name: storage for name, storage in arrays.items() if storage.argument.role != "in"}


def difference(expected: Storage, got: np.ndarray, slack: float = 0.0) -> str:
    """What is wrong with the whole array `got`, or an empty string. `slack` is allowed on top of the tolerance,
    relative to the largest number."""
    got = got.view(expected.whole.dtype)
    outside = np.ones(got.shape, np.bool_)
    outside[expected.slices] = False
    differs = _bits(got) != _bits(expected.whole)
    if (differs & outside).any():
        return f"{int((differs & outside).sum())} elements written outside"
    want, have = _wide(expected.view), _wide(expected.part_of(got))
    wrong = expected.part_of(differs) & ~((want == 0) & (have == 0))
    tolerance = expected.argument.tolerance
    if slack and np.isfinite(want).any():
        tolerance += slack * float(np.abs(want[np.isfinite(want)]).max())
    if tolerance:
        wrong &= ~(np.abs(want - have) <= tolerance)
    if not wrong.any():
        return ""
    places = np.argwhere(wrong)
    first = tuple(int(i) for i in places[0])
    low, high = (tuple(int(i) for i in f(places, axis=0)) for f in (np.min, np.max))
    count = f"{len(places)} of {wrong.size} wrong, within {low}..{high}"
    return f"{count}; at {first} expected {want[first]}, got {have[first]}"


def _turned(array: np.ndarray) -> np.ndarray:
    return np.swapaxes(array, -1, -2)


def _bits(array: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(array).view(_BITS[array.dtype.itemsize])


def _wide(array: np.ndarray) -> np.ndarray:
    return array.astype(np.float64) if array.dtype.kind not in "iu" else array.astype(np.int64)
