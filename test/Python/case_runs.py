"""Sources of test/Cases on headrace-sim: compiled once, launched as often as a test likes, judged by numpy.

Arrays lie in larger ones of poison, and outputs are poison before a run, so that a read or a write outside shows. Every
run looks for races and deadlocks, with asynchronous operations early, late and in reverse order. See case_runs_gpu.py
for the same on a GPU.
"""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from case_runs_gpu import REPEATS, OnGpu
from case_runs_gpu import TARGETS as GPU_TARGETS

ROOT = Path(__file__).resolve().parents[2]
CASES = ROOT / "test" / "Cases"
LIBRARY = ROOT / "test" / "EndToEnd" / "library"
PRODUCT = ROOT / "test" / "Pipelines" / "Inputs" / "product.mlir"
TOOLS = Path(os.environ.get("HEADRACE_TOOLS", ROOT / "build" / "bin"))
TARGETS = ("sm_75", "sm_80", "sm_90a", "sm_100a", "sm_120a")

needs_tools = pytest.mark.skipif(not (TOOLS / "headrace-sim").exists(), reason=f"no headrace-sim in {TOOLS}")

_SECONDS = 120
_ORDERS = 3
_TRAVELS_AS = {np.dtype(ml_dtypes.bfloat16): np.uint16, np.dtype(ml_dtypes.float8_e4m3fn): np.uint8,
               np.dtype(ml_dtypes.float8_e5m2): np.uint8}  # fmt: skip


def is_float(dtype: np.dtype) -> bool:
    """Whether a numpy type, or one of ml_dtypes, has NaN."""
    return dtype in _TRAVELS_AS or dtype.kind == "f"


@dataclass
class Placed:
    """An array inside a larger one of poison, `slices` of it: one slice more on each side of outer dimensions, and
    `guard` elements around each row, whose distance is a multiple of 64 elements unless it is `dense`."""

    values: np.ndarray
    guard: int = 64
    step: int = 1
    dense: bool = False
    #: Slices of poison before and after along outer dimensions.
    around: int = 1

    def __post_init__(self) -> None:
        *outer, columns = self.values.shape
        length = max((columns - 1) * self.step + 1, 0)
        guard = 0 if self.dense else self.guard
        row = columns if self.dense else -(-length // 64) * 64 + 2 * guard
        dtype = self.values.dtype
        poison = np.nan if is_float(dtype) else np.iinfo(dtype).max - 1
        self.whole = np.full([extent + 2 * self.around for extent in outer] + [row], poison).astype(dtype)
        self.slices = tuple(slice(self.around, self.around + extent) for extent in outer)
        self.slices += (slice(guard, guard + length, self.step),)
        self.whole[self.slices] = self.values


def fresh(shape, dtype, value: float | None = None) -> np.ndarray:
    """What an output holds before a run: NaN or the largest number, or `value`."""
    dtype = np.dtype(dtype)
    poison = np.nan if is_float(dtype) else np.iinfo(dtype).max
    return np.full(shape, poison if value is None else value).astype(dtype)


class Program:
    """A kernel of a source, compiled for a target with some parameters. `ptx`, `record` and `report` are what the
    compiler wrote, `remarks` what it said."""

    def __init__(self, source: Path, target: str, folder: Path, kernel: str | None = None, **settings):
        self.source, self.folder = source, folder
        self.command = _compile_command(source, target, kernel, settings)
        ptx, report = folder / "k.ptx", folder / "k.report.json"
        result = _run([*self.command, "--emit=ptx", "-o", ptx, f"--report={report}"])
        if result.returncode:
            pytest.fail(f"{_shown(result)}\n{result.stderr}")
        self.remarks = result.stderr
        self.ptx = ptx.read_text(encoding="utf-8")
        self.record = json.loads((folder / "k.json").read_text(encoding="utf-8"))
        self.report = json.loads(report.read_text(encoding="utf-8"))
        on_gpu = REPEATS and target in GPU_TARGETS
        self.gpu = OnGpu(self.command, self.record, folder) if on_gpu else None

    def run(self, arrays, outputs, scalars=None, before=None, near=None, orders=_ORDERS, options=()) -> None:
        """One launch. `arrays` and `outputs` by name, as numpy arrays or Placed; an output starts as poison, or as
        `before` has it. Must leave `outputs` bit for bit, or within (relative, absolute) of `near`, and all else."""
        before, near = before or {}, near or {}
        placed = {name: value if isinstance(value, Placed) else Placed(value) for name, value in arrays.items()}
        wanted = {}
        for name, value in outputs.items():
            value = value if isinstance(value, Placed) else Placed(value)
            wanted[name] = value
            clean = before.get(name)
            if clean is None:
                has_nan = is_float(value.values.dtype) and np.isnan(value.values.astype(np.float64)).any()
                clean = fresh(value.values.shape, value.values.dtype, 7 if has_nan else None)
            placed[name] = Placed(clean, value.guard, value.step, value.dense, value.around)
        result = _run(self._simulate(placed, scalars or {}, orders, options))
        if result.returncode:
            pytest.fail(f"{self._said(result)}\n{result.stdout}{result.stderr}")
        for name, array in placed.items():
            after = np.load(self.folder / f"{name}.after.npy").view(array.whole.dtype)
            after = after.reshape(array.whole.shape)
            self._judge(name, after, wanted.get(name, array), near.get(name), self._said(result))
        for name, after in (self.gpu.run(placed, scalars or {}) if self.gpu else {}).items():
            array = wanted.get(name, placed[name])
            after = after.reshape(array.whole.shape)
            self._judge(name, after, array, near.get(name), f"on a GPU: {self._said(result)}")

    def refused_run(self, arrays, scalars=None) -> str:
        """What the launch is refused with."""
        placed = {name: value if isinstance(value, Placed) else Placed(value) for name, value in arrays.items()}
        result = _run(self._simulate(placed, scalars or {}, 1, ()))
        assert result.returncode == 1, f"{self._said(result)} ended with {result.returncode}\n{result.stderr}"
        return result.stderr

    def _simulate(self, placed, scalars, orders, options) -> list:
        command = [TOOLS / "headrace-sim", self.folder / "k.json", f"--seeds={orders}", "--jobs=1"]
        command += [f"--time-limit={_SECONDS}", *options]
        for name, array in placed.items():
            dtype = array.whole.dtype
            np.save(self.folder / f"{name}.npy", array.whole.view(_TRAVELS_AS.get(dtype, dtype)))
            command += ["--arg", f"{name}={self.folder / name}.npy[{','.join(map(_part, array.slices))}]"]
            command += ["--out", f"{name}=whole:{self.folder / name}.after.npy"]
        for name, value in scalars.items():
            command += ["--arg", f"{name}={value}"]
        return command

    def _said(self, result) -> str:
        return f"{' '.join(map(str, self.command))}\n{_shown(result)}"

    @staticmethod
    def _judge(name, after, wanted: Placed, near, said) -> None:
        expected = wanted.whole
        wrong = after.view(f"u{after.itemsize}") != expected.view(f"u{after.itemsize}")
        if is_float(after.dtype):
            wide, right = after.astype(np.float64), expected.astype(np.float64)
            wrong &= ~((wide == right) | (np.isnan(wide) & np.isnan(right)))
            if near:
                wrong &= ~np.isclose(wide, right, *near)
        if not wrong.any():
            return
        places = np.argwhere(wrong)
        at = tuple(places[0])
        inside = int(wrong[wanted.slices].sum())
        starts = [s.start for s in wanted.slices]
        pytest.fail(
            f"{name}: {inside} of {wrong[wanted.slices].size} wrong, {len(places) - inside} written around it; at "
            f"{tuple(int(i) for i in np.subtract(at, starts))} expected {expected[at]}, got {after[at]}\n{said}"
        )


def refused(source: Path, target: str, folder: Path, kernel: str | None = None, **settings) -> str:
    """What the compiler refuses a program with: exit code 1, one error, and nothing written."""
    ptx = folder / "refused.ptx"
    result = _run([*_compile_command(source, target, kernel, settings), "--emit=ptx", "-o", ptx])
    assert result.returncode == 1, f"{_shown(result)} ended with {result.returncode}\n{result.stderr}"
    assert result.stderr.count("error:") == 1, result.stderr
    assert not ptx.exists()
    return result.stderr


def _compile_command(source: Path, target: str, kernel: str | None, settings: dict) -> list:
    command = [TOOLS / "headrace-compile", source, f"--target={target}"]
    command += [f"--kernel={kernel}"] if kernel else []
    values = ",".join(f"{name}={value}" for name, value in settings.items())
    return command + ([f"--set={values}"] if values else [])


def _part(along: slice) -> str:
    step = f":{along.step}" if along.step not in (None, 1) else ""
    return f"{along.start}:{along.stop}{step}"


def _run(command: list) -> subprocess.CompletedProcess:
    return subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=_SECONDS + 30)


def _shown(result) -> str:
    return " ".join(result.args)


def small(rng: np.random.Generator, shape, dtype=np.float32, most: int = 4) -> np.ndarray:
    """Random integers in that type, so small that sums are exact in f32."""
    return rng.integers(-most, most, shape, endpoint=True).astype(dtype)


@pytest.fixture(name="rng")
def fresh_numbers():
    """Fresh numbers. HEADRACE_SEED repeats a run whose seed a failure shows."""
    seed = int(os.environ.get("HEADRACE_SEED", int.from_bytes(os.urandom(4), "little")))
    print(f"HEADRACE_SEED={seed}")
    return np.random.default_rng(seed)
