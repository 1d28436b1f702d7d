"""Compiles a kernel to PTX and runs it on headrace-sim."""

from __future__ import annotations

import json
import shlex
import subprocess
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sim_reference import DTYPES, Array

#: Exit codes of both tools: fine, and refused (or, of the simulator, something found).
_FINE, _REFUSED = 0, 1


@dataclass(frozen=True)
class Outcome:
    """`status` is "ok", "refused", "finding" (of the simulator only), "crash" or "timeout"; `messages` what it printed.

    `output` is the storage of the output array, of a run that ended.
    """

    status: str
    messages: str
    command: str
    output: np.ndarray | None = None


def _run(command: list[str], seconds: float) -> tuple[int | None, str]:
    try:
        run = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=seconds, check=False)
    except subprocess.TimeoutExpired:
        return None, f"no end after {seconds:g} s"
    return run.returncode, run.stderr


def compile_ptx(
    compiler: Path, source: Path, target: str, options: tuple[str, ...], to: Path, seconds: float
) -> Outcome:
    """Writes TO.ptx and its launch record TO.json."""
    ptx = str(to.with_suffix(".ptx"))
    command = [str(compiler), str(source), f"--target={target}", *options, "--emit=ptx", "-o", ptx]
    code, messages = _run(command, seconds)
    status = {_FINE: "ok", None: "timeout"}.get(code, "crash")
    if code == _REFUSED and "error: " in messages:
        status = "refused"
    return Outcome(status, messages, shlex.join(command))


def _slices(array: Array) -> str:
    return ",".join(
        f"{part.start}:{part.stop}" + (f":{part.step}" if part.step not in (None, 1) else "") for part in array.slices
    )


def simulate(
    simulator: Path,
    record: Path,
    args: list[Array | int],
    output: int,
    options: tuple[str, ...],
    seconds: float,
    folder: Path,
) -> Outcome:
    """Runs RECORD with `args`, in the order of the record's arguments, each array in a file of `folder`."""
    names = [argument["name"] for argument in json.loads(record.read_text(encoding="utf-8"))["args"]]
    command = [str(simulator), str(record)]
    for name, value in zip(names, args, strict=True):
        if isinstance(value, Array):
            path = folder / f"{name}.npy"
            np.save(path, value.storage.view(DTYPES[value.dtype].raw))
            value = f"{path}[{_slices(value)}]"
        command += ["--arg", f"{name}={value}"]
    result = folder / "result.npy"
    command += ["--out", f"{names[output]}=whole:{result}", *options]
    code, messages = _run(command, seconds)
    if code in (_FINE, _REFUSED) and result.exists():
        storage = np.load(result).view(DTYPES[args[output].dtype].numpy)
        return Outcome("finding" if code else "ok", messages, shlex.join(command), storage)
    return Outcome({_REFUSED: "refused", None: "timeout"}.get(code, "crash"), messages, shlex.join(command))
