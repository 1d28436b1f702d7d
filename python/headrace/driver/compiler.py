"""The compiler as a function: MLIR in, code with its launch record, report and messages out.

It is a module of this process where there is one (see `native`), else the program headrace-compile. $HEADRACE_COMPILE
names a program to use instead.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from headrace.driver import native
from headrace.driver.tools import find_nvidia_tool, find_tool, identity

#: Exit codes of headrace-compile.
FINE, REFUSED, USAGE, FAULT = 0, 1, 2, 3

#: Levels that the compiler stops at, from the source on.
LEVELS = ("tile", "layout", "pipe", "nvvm", "llvm", "ptx", "cubin", "record")


#: What messages call the source.
_NAME = "kernel.mlir"


@dataclass(frozen=True)
class Output:
    """`status` is an exit code of headrace-compile, `code` the text or the cubin, `record` the launch record (of ptx,
    cubin, record), `report` what was chosen and why (if it was asked for, of the same levels).

    `messages` is what the compiler said, with source lines; `command` repeats a failure.
    """

    status: int
    code: bytes
    record: dict | None
    report: dict | None
    messages: str
    command: str


def run(source: str, target: str, level: str, report: bool = False) -> Output:
    """Compiles `source`, a module of one kernel, for `target` down to `level`. Raises ToolError without a compiler."""
    module = _module()
    output = _call(module, source, target, level) if module else _execute(source, target, level, report)
    if output.status in (FINE, REFUSED):
        return output
    kept = _keep(source)
    command = f"headrace-compile {kept} --target={target} --emit={level}"
    return Output(output.status, b"", None, None, output.messages, command)


def version() -> str:
    """What a compilation depends on beside its source and target: the compiler and ptxas."""
    module = _module()
    compiler = Path(module.__file__) if module else find_tool("headrace-compile")
    return f"{identity(compiler)} {identity(find_nvidia_tool('ptxas'))}"


def _module() -> ModuleType | None:
    return None if os.environ.get("HEADRACE_COMPILE") else native.module()


def _call(module: ModuleType, source: str, target: str, level: str) -> Output:
    answer = module.compile(source, target, level, _NAME)
    has_record = answer.record and level in ("ptx", "cubin", "record")
    return Output(
        answer.status,
        answer.code,
        json.loads(answer.record) if has_record else None,
        json.loads(answer.report) if answer.report else None,
        answer.messages,
        f"headrace-compile {_NAME} --target={target} --emit={level}",
    )


def _execute(source: str, target: str, level: str, report: bool) -> Output:
    compiler = find_tool("headrace-compile")
    with tempfile.TemporaryDirectory(prefix="headrace-") as name:
        folder = Path(name)
        path = folder / _NAME
        path.write_text(source, encoding="utf-8")
        out = folder / f"kernel{'.json' if level == 'record' else f'.{level}'}"
        record, written = folder / "kernel.json", folder / "report.json"
        command = [str(compiler), str(path), f"--target={target}", f"--emit={level}", "-o", str(out)]
        if report:
            command.append(f"--report={written}")
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
        fine = done.returncode == FINE
        return Output(
            done.returncode,
            out.read_bytes() if fine else b"",
            json.loads(record.read_text(encoding="utf-8")) if fine and record.exists() else None,
            json.loads(written.read_text(encoding="utf-8")) if fine and report else None,
            done.stderr,
            " ".join(command),
        )


def _keep(source: str) -> Path:
    """A file with a source that the compiler fails on, for whoever mends it."""
    descriptor, name = tempfile.mkstemp(prefix="headrace-fault-", suffix=".mlir")
    with open(descriptor, "w", encoding="utf-8") as file:
        file.write(source)
    return Path(name)
