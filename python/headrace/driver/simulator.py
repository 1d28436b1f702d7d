"""Runs a kernel on headrace-sim with numpy arrays: anywhere, and with races and deadlocks looked for."""

from __future__ import annotations

import itertools
import json
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headrace.driver.compiled import Compiled
from headrace.driver.tools import find_tool
from headrace.errors import HeadraceError, LaunchError
from headrace.language.dtypes import ArrayType
from headrace.language.errors import InternalError, Note, Place
from headrace.language.program import Program

if TYPE_CHECKING:
    from headrace.language.kernel import KernelFunction

_SOURCE = re.compile(r"\bfrom (?P<file>\S.*?):(?P<line>\d+):(?P<column>\d+)")
_FINDING = re.compile(r"^\S*?:\d+: error: (?P<text>.*)$", re.MULTILINE)


class SimulationError(HeadraceError):
    """The simulator found a fault: a race, a deadlock, an access outside of an array. `report` is all that it says.

    `place` is the line of the kernel that the first finding comes from.
    """

    def __init__(self, message: str, report: str, place: Place | None):
        super().__init__(message)
        self.message = message
        self.report = report
        self.place = place

    def __str__(self) -> str:
        where = f"{self.place}: " if self.place else ""
        excerpt = self.place.excerpt() if self.place else ""
        return f"{where}error: {self.message}\n{excerpt}{Note(self.report.strip())}".rstrip("\n")


@dataclass(frozen=True)
class Simulation:
    """A run without findings. `compiled` is the kernel that ran, `runs` how many orders of operations were tried.

    Of an interpreted kernel `runs` is 0: nothing was looked for.
    """

    compiled: Compiled
    runs: int


def simulate(
    kernel: KernelFunction, where: str, args: tuple, kwargs: dict, target: str, grid: Any, seeds: int
) -> Simulation:
    """See `KernelFunction.run_on`."""
    if where != "sim":
        raise LaunchError(f"expected 'sim' as the place to run on, got {where!r}: call the kernel to run it on a GPU")
    if seeds < 1:
        raise LaunchError(f"expected seeds of at least 1, got {seeds}")
    values, facts = kernel.facts(args, kwargs)
    compiled = Compiled(kernel.program(facts), target)
    entry = compiled.entry("ptx")
    with tempfile.TemporaryDirectory(prefix="headrace-") as name:
        folder = Path(name)
        (folder / "kernel.ptx").write_bytes(entry.code)
        (folder / "kernel.json").write_text(json.dumps({**entry.record, "ptx": "kernel.ptx"}), encoding="utf-8")
        command = [str(find_tool("headrace-sim")), str(folder / "kernel.json"), f"--seeds={seeds}"]
        arrays = {
            n: _Stored(n, values[n], folder) for n in compiled.program.arguments if isinstance(facts[n], ArrayType)
        }
        for argument in compiled.program.arguments:
            stored = arrays.get(argument)
            command += ["--arg", f"{argument}={stored.spelling if stored else _number(values[argument])}"]
        outputs = [arrays[name] for name in sorted(compiled.program.written)]
        for stored in outputs:
            command += ["--out", f"{stored.name}=whole:{stored.result}"]
        command += _grid(compiled.program, grid)
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
        # What the kernel printed comes in any case: it may tell why.
        sys.stdout.write(done.stdout)
        _check(done, compiled.program, folder)
        for stored in outputs:
            stored.take_back()
    return Simulation(compiled, seeds)


def interpreted(kernel: KernelFunction, where: str, args: tuple, kwargs: dict, target: str, grid: Any) -> Simulation:
    """What `simulate` does with HEADRACE_INTERPRET: the kernel's own Python function runs in this process."""
    from headrace.eager import interpret

    if where != "sim":
        raise LaunchError(f"expected 'sim' as the place to run on, got {where!r}: call the kernel to run it")
    return Simulation(Compiled(interpret(kernel, args, kwargs, grid).program, target), 0)


def _number(value: Any) -> str:
    return str(int(value)) if isinstance(value, bool) else str(value)


def _grid(program: Program, grid: Any) -> list[str]:
    if grid is None:
        if not program.has_grid:
            raise LaunchError(f"kernel '{program.name}': expected a grid, since the kernel says none: pass grid=, "
                              "or write hr.grid(...) in it")  # fmt: skip
        return []
    sizes = tuple(grid) if isinstance(grid, (tuple, list)) else (grid,)
    return [f"--grid={','.join(map(str, sizes + (1,) * (3 - len(sizes))))}"]


def _check(done: subprocess.CompletedProcess, program: Program, folder: Path) -> None:
    """Raises unless the run was fine. Files of `folder`, which is about to go, are called by their names."""
    if done.returncode == 0:
        return
    text = done.stderr.replace(f"{folder}/", "")
    finding = _FINDING.search(text)
    if finding is not None:
        source = _SOURCE.search(text)
        place = Place(source["file"], int(source["line"]), int(source["column"]) - 1) if source else None
        raise SimulationError(finding["text"], text, place)
    if done.returncode == 1:
        raise LaunchError(f"kernel '{program.name}': {text.strip().removeprefix('error: ')}")
    raise InternalError(f"headrace-sim ended with code {done.returncode} on kernel '{program.name}': {text.strip()}")


class _Stored:
    """A numpy array in a file: with rows as far apart as they are in memory, so that the kernel sees its strides."""

    def __init__(self, name: str, array: Any, folder: Path):
        import numpy as np

        self.name = name
        self.result = folder / f"{name}.out.npy"
        self._array = array
        if not hasattr(array, "__array_interface__"):
            raise LaunchError(
                f"argument '{name}': expected a numpy array to run on the simulator, got {type(array).__name__}"
            )
        self._slices, whole = self._embed(array, np)
        self._dtype = whole.dtype
        path = folder / f"{name}.npy"
        np.save(path, whole.view(_raw(whole.dtype, np)))
        self.spelling = f"{path}{self._spell()}"

    def _embed(self, array: Any, np: Any) -> tuple[tuple[slice, ...] | None, Any]:
        """The slices of a row-major array that has `array`'s strides, and that array; None for all of it."""
        if array.flags.c_contiguous or array.size == 0:
            return None, np.ascontiguousarray(array)
        steps = [stride // array.itemsize for stride in array.strides]
        rows = [*steps[:-1], 1]
        last = (array.shape[-1] - 1) * steps[-1] + 1
        slices = (*(slice(0, extent, 1) for extent in array.shape[:-1]), slice(0, last, steps[-1]))
        # Dimension d of the storage has as many elements as a step along dimension d - 1 jumps over.
        jumps = [outer // inner if inner > 0 else 0 for outer, inner in itertools.pairwise(rows)]
        extents = [array.shape[0] if len(rows) > 1 else last, *jumps]
        exact = all(inner > 0 and outer % inner == 0 for outer, inner in itertools.pairwise(rows))
        if steps[-1] < 1 or not exact or any(part.stop > extent for part, extent in zip(slices, extents, strict=True)):
            raise LaunchError(f"argument '{self.name}': expected an array in row-major order to run on the "
                              f"simulator, got strides {tuple(steps)}: pass np.ascontiguousarray(x)")  # fmt: skip
        whole = np.zeros(extents, array.dtype)
        whole[slices] = array
        return slices, whole

    def _spell(self) -> str:
        if self._slices is None:
            return ""
        parts = [
            f"{part.start}:{part.stop}" + (f":{part.step}" if part.step not in (None, 1) else "")
            for part in self._slices
        ]
        return f"[{','.join(parts)}]"

    def take_back(self) -> None:
        """Copies what the kernel wrote to the caller's array."""
        import numpy as np

        whole = np.load(self.result).view(self._dtype)
        self._array[...] = whole if self._slices is None else whole[self._slices]


def _raw(dtype: Any, np: Any) -> Any:
    """The type that travels in .npy files: numpy's own, or unsigned integers for those it does not know."""
    if dtype.isbuiltin == 1:
        return dtype
    return np.dtype(f"u{dtype.itemsize}")
