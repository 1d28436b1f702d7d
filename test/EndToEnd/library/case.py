"""What a kernel of the library is called with and must leave, whichever machine runs it."""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from sim_reference import Array, Verdict, bits

from library.arrays import judge
from library.running_error import Real

FOLDER = Path(__file__).resolve().parent
TARGETS = ("sm_80", "sm_90a", "sm_100a")
#: Calls of a variant in a quick check.
QUICK_CALLS = 2


@dataclass(frozen=True)
class Call:
    """One launch: arguments in order, and what some must hold afterwards, within the error of a Real, or exactly.

    All other arrays must stay as they are. `ordered` is false if sums depend on the order of programs, so that repeated
    launches may differ in their last bits.
    """

    label: str
    args: list[Array | int | float]
    expected: dict[int, Real | np.ndarray]
    ordered: bool = True

    def arrays(self) -> list[int]:
        """Which arguments are arrays."""
        return [index for index, arg in enumerate(self.args) if isinstance(arg, Array)]

    def judge(self, after: dict[int, np.ndarray]) -> Verdict:
        """The first fault among the outputs' storages, or the largest error over its tolerance."""
        ratio = 0.0
        for index in self.arrays():
            if index not in self.expected and (bits(after[index]) != bits(self.args[index].storage)).any():
                return Verdict("guard", f"argument {index}, an input, was written to", math.inf)
        for index, expected in self.expected.items():
            verdict = judge(self.args[index], after[index], expected)
            if verdict.status != "ok":
                detail = f"argument {index}: {verdict.detail}" if len(self.expected) > 1 else verdict.detail
                return Verdict(verdict.status, detail, verdict.ratio)
            ratio = max(ratio, verdict.ratio)
        return Verdict("ok", ratio=ratio)


@dataclass(frozen=True)
class Variant:
    """A source of this folder with values of its parameters. `calls(rng)` makes fresh launches. `targets` have the
    instructions that it needs. A quick check leaves out what is not `in_quick`."""

    source: str
    calls: Callable[[np.random.Generator], Iterator[Call]]
    settings: dict[str, object] = field(default_factory=dict)
    label: str = ""
    targets: tuple[str, ...] = TARGETS
    in_quick: bool = True

    @property
    def name(self) -> str:
        return f"{self.source}-{self.label}" if self.label else self.source

    @property
    def path(self) -> Path:
        return FOLDER / f"{self.source}.mlir"

    @property
    def options(self) -> tuple[str, ...]:
        """Of headrace-compile."""
        values = ",".join(f"{name}={value}" for name, value in self.settings.items())
        return (f"--set={values}",) if values else ()

    def launches(self, seed: int) -> Iterator[Call]:
        """The calls of one seed, the same in every process."""
        return self.calls(np.random.default_rng([seed, zlib.crc32(self.name.encode())]))
