"""The compiler as a function: MLIR in, code with its launch record, report and messages out.

It runs headrace-compile. A module that calls the compiler in this process can take the place of this file.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from headrace.driver.tools import find_nvidia_tool, find_tool, identity

#: Exit codes of headrace-compile.
FINE, REFUSED, USAGE, FAULT = 0, 1, 2, 3

#: Levels that the compiler stops at, from the source on.
LEVELS = ("tile", "layout", "pipe", "nvvm", "llvm", "ptx", "cubin", "record")


@dataclass(frozen=True)
class Output:
    """`status` is the exit code, `code` the text or the cubin, `record` the launch record (of ptx, cubin, record).

    `report` is its text, `messages` what the compiler said, with source lines.
    """

    status: int
    code: bytes
    record: dict | None
    report: str
    messages: str
    command: str


def run(source: str, target: str, level: str, report: bool = False) -> Output:
    """Compiles `source`, a module of one kernel, for `target` down to `level`. Raises ToolError without a compiler."""
    compiler = find_tool("headrace-compile")
    with tempfile.TemporaryDirectory(prefix="headrace-") as folder:
        path = Path(folder) / "kernel.mlir"
        path.write_text(source, encoding="utf-8")
        suffix = {"ptx": ".ptx", "cubin": ".cubin", "record": ".json"}.get(level, ".out")
        out = path.with_suffix(suffix)
        command = [str(compiler), str(path), f"--target={target}", f"--emit={level}", "-o", str(out)]
        if report:
            command.append("--report")
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
        code = out.read_bytes() if done.returncode == FINE and out.exists() else b""
        record = None
        if code and level in ("ptx", "cubin"):
            record = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
        elif code and level == "record":
            record = json.loads(code)
        if done.returncode not in (FINE, REFUSED):
            command[1] = str(_keep(source))
        return Output(done.returncode, code, record, done.stderr if report else "", done.stderr, " ".join(command))


def _keep(source: str) -> Path:
    """A file with a source that the compiler fails on, for whoever mends it."""
    descriptor, name = tempfile.mkstemp(prefix="headrace-fault-", suffix=".mlir")
    with open(descriptor, "w", encoding="utf-8") as file:
        file.write(source)
    return Path(name)


def version() -> str:
    """What a compilation depends on beside its source and target: the compiler and ptxas."""
    return f"{identity(find_tool('headrace-compile'))} {identity(find_nvidia_tool('ptxas'))}"
