"""Runs calls of a compiled kernel on headrace-sim."""

from __future__ import annotations

import json
import shlex
import subprocess
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sim_reference import DTYPES, Array

from library.case import Call


@dataclass(frozen=True)
class Run:
    """`status` is "ok", "finding", "refused", "crash" or "timeout"; `messages` what the simulator printed.

    `after` has the storage of each array of a run that ended.
    """

    status: str
    messages: str
    command: str
    after: dict[int, np.ndarray] | None = None


#: Exit codes of the simulator that are no fault of it.
_STATUSES = {0: "ok", 1: "finding"}


def simulate(simulator: Path, record: Path, call: Call, options: tuple[str, ...], seconds: float, folder: Path) -> Run:
    """Runs `call` with all files in `folder`."""
    names = [argument["name"] for argument in json.loads(record.read_text(encoding="utf-8"))["args"]]
    command = [str(simulator), str(record)]
    for name, value in zip(names, call.args, strict=True):
        if isinstance(value, Array):
            path = folder / f"{name}.npy"
            np.save(path, value.storage.view(DTYPES[value.dtype].raw))
            value = f"{path}[{','.join(f'{part.start}:{part.stop}' for part in value.slices)}]"
        command += ["--arg", f"{name}={value}"]
    results = {index: folder / f"{names[index]}.after.npy" for index in call.arrays()}
    for index, path in results.items():
        command += ["--out", f"{names[index]}=whole:{path}"]
    command += options
    try:
        run = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=seconds, check=False)
    except subprocess.TimeoutExpired:
        return Run("timeout", f"no end after {seconds:g} s", shlex.join(command))
    status = _STATUSES.get(run.returncode, "crash")
    if status == "crash" or not all(path.exists() for path in results.values()):
        return Run("refused" if status == "finding" else "crash", run.stderr, shlex.join(command))
    after = {index: np.load(path).view(DTYPES[call.args[index].dtype].numpy) for index, path in results.items()}
    return Run(status, run.stderr, shlex.join(command), after)
