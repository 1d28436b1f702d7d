"""Compiles a kernel to a level and brings back what the compiler reports of it as parsed JSON."""

from __future__ import annotations

import json
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from headrace.driver.compiler import FAULT, FINE, USAGE, Output
from headrace.driver.diagnostics import check
from headrace.driver.tools import find_tool


@dataclass(frozen=True)
class Reported:
    """A compilation that went well: the launch record (None below the level "ptx") and the report, parsed JSON both."""

    record: dict | None
    report: dict


def fetch(source: str, target: str, level: str, kernel: str) -> Reported:
    """Compiles `source`, a module of the tile dialect, for `target` (such as "sm_90a") and returns what it needs.

    `level` is "record" (the pipe level, before any code), "ptx" or "cubin" (with what ptxas says: registers, spills).
    `kernel` names it in messages. Raises CompileError if the kernel is refused, InternalError for a fault of the
    compiler, ToolError without one.
    """
    with tempfile.TemporaryDirectory(prefix="headrace-") as name:
        folder = Path(name)
        (folder / "kernel.mlir").write_text(source, encoding="utf-8")
        out = folder / f"kernel.{'json' if level == 'record' else level}"
        report = folder / "report.json"
        command = [
            str(find_tool("headrace-compile")), str(folder / "kernel.mlir"), f"--target={target}", f"--emit={level}",
            f"--report={report}", "-o", str(out),
        ]  # fmt: skip
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
        if done.returncode in (USAGE, FAULT):
            command[1] = _keep(source)
        check(Output(done.returncode, b"", None, "", done.stderr, " ".join(command)), kernel)
        assert done.returncode == FINE
        record = folder / "kernel.json"
        parsed = json.loads(record.read_text(encoding="utf-8")) if record.exists() else None
        return Reported(parsed, json.loads(report.read_text(encoding="utf-8")))


def _keep(source: str) -> str:
    """A file that stays, with a source that the compiler fails on."""
    descriptor, name = tempfile.mkstemp(prefix="headrace-fault-", suffix=".mlir")
    with open(descriptor, "w", encoding="utf-8") as file:
        file.write(source)
    return name
