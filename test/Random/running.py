"""Compiles a program, runs it on the simulator and compares it with the interpreter."""

from __future__ import annotations

import re
import shlex
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from column_major import transpose_record
from launches import Launch, Storage, difference
from program_tree import Program

PASSED, REFUSED, WRONG, FINDING, CRASH, HANG = "passed", "refused", "wrong numbers", "finding", "CRASH", "HANG"
FAILURES = (WRONG, FINDING, CRASH, HANG)

_FINE, _REFUSED = 0, 1
#: Words of the compiler's inside that no refusal of a program may have.
_INTERNAL = re.compile(
    r"Assertion|LLVM ERROR|Stack dump|UNREACHABLE|annot select|failed to legalize|unrealized_conversion|"
    r"materialization|dominate|terminate called|internal|error: channel '"
)


@dataclass
class Result:
    """How a run ended. `signature` is the message without what differs between programs that show the same fault."""

    status: str
    signature: str = ""
    message: str = ""
    commands: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Settings:
    """Where the tools are, and how long they may take."""

    tools: Path
    seconds: float


def compile_program(program: Program, target: str, settings: Settings, folder: Path) -> Result:
    """Writes kernel.ptx and kernel.json to `folder`."""
    source, ptx = folder / "kernel.mlir", folder / "kernel.ptx"
    source.write_text(str(program), encoding="utf-8")
    command = [settings.tools / "headrace-compile", source, f"--target={target}", "--emit=ptx", "-o", ptx]
    code, messages = _run(command, settings.seconds)
    result = Result(PASSED, commands=[shlex.join(map(str, command))], message=messages)
    if code is None:
        result.status, result.signature = HANG, "compiler"
    elif code != _FINE:
        errors = [line for line in messages.splitlines() if "error: " in line]
        polite = code == _REFUSED and len(errors) == 1 and not _INTERNAL.search(messages)
        result.status = REFUSED if polite else CRASH
        result.signature = ("" if polite else f"compiler, exit code {code}: ") + _signature(errors, messages)
    return result


def simulate(
    launch: Launch,
    expected: dict[str, Storage],
    settings: Settings,
    orders: Sequence[str],
    folder: Path,
    slack: float,
) -> Result:
    """Runs kernel.json of `folder`."""
    record = transpose_record(folder / "kernel.json", [storage.argument for storage in launch.arrays.values()])
    command = [settings.tools / "headrace-sim", record, *orders]
    command.append(f"--time-limit={settings.seconds}")
    for name, storage in launch.arrays.items():
        np.save(folder / f"{name}.npy", storage.raw())
        command += ["--arg", f"{name}={storage.described(folder / f'{name}.npy')}"]
    for name, value in launch.scalars.items():
        command += ["--arg", f"{name}={value}"]
    for storage in launch.outputs():
        name = storage.argument.name
        (folder / f"{name}.out.npy").unlink(missing_ok=True)
        command += ["--out", f"{name}=whole:{folder / f'{name}.out.npy'}"]
    code, messages = _run(command, settings.seconds + 10)
    result = Result(PASSED, commands=[shlex.join(map(str, command))], message=messages)
    if code is None or "[time-limit]" in messages:
        result.status, result.signature = HANG, "simulator"
    elif code == _REFUSED:
        result.status, result.signature = FINDING, _finding(messages)
    elif code != _FINE:
        result.status, result.signature = CRASH, f"simulator, exit code {code}: {_signature([], messages)}"
    else:
        _compare(expected, folder, slack, result)
    return result


def _compare(expected: dict[str, Storage], folder: Path, slack: float, result: Result) -> None:
    wrong = []
    for name, storage in expected.items():
        if problem := difference(storage, np.load(folder / f"{name}.out.npy"), slack):
            wrong.append(f"{name}: {problem}")
    if wrong:
        result.status, result.message, result.signature = WRONG, "\n".join(wrong), "wrong"


def _run(command: list, seconds: float) -> tuple[int | None, str]:
    try:
        run = subprocess.run(list(map(str, command)), capture_output=True, text=True, errors="replace",
                             timeout=seconds, check=False)  # fmt: skip
    except subprocess.TimeoutExpired:
        return None, f"no end after {seconds:g} s"
    return run.returncode, run.stderr


def _finding(messages: str) -> str:
    """The first message, without places: its kind, and what it is about."""
    lines = [line for line in messages.splitlines() if "error: " in line]
    kind = re.search(r"\[([\w-]+)\]\s*$", lines[0]) if lines else None
    return f"{kind[1] if kind else 'refused'}: {_signature(lines, messages)}"


def _signature(errors: list[str], messages: str) -> str:
    lines = [line for line in messages.splitlines() if ": remark: " not in line and line[:1].strip()]
    line = errors[0] if errors else (lines or ["no message"])[-1]
    line = line.split("error: ", 1)[-1]
    line = re.sub(r"0x[0-9a-f]+|\d+", "N", re.sub(r"'[^']*'", "'..'", line))
    return re.sub(r"(tensor|memref)<[^ ]*>", r"\1<..>", line)[:200]
