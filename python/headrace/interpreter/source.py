"""From a source to the generic form, by headrace-opt."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from headrace.interpreter.errors import InterpreterError

_GENERIC = ("--mlir-print-op-generic", "--mlir-print-local-scope")
#: Stands between sources, and in none of them.
_SPLIT = "// ---- next source ----"
_BUILD = Path(__file__).resolve().parents[3] / "build" / "bin"


def find_opt() -> str:
    """headrace-opt of $HEADRACE_TOOLS, of this checkout's build folder, or on the PATH."""
    for folder in filter(None, (os.environ.get("HEADRACE_TOOLS"), str(_BUILD))):
        if (Path(folder) / "headrace-opt").exists():
            return str(Path(folder) / "headrace-opt")
    found = shutil.which("headrace-opt")
    if found is None:
        raise InterpreterError(f"no headrace-opt in $HEADRACE_TOOLS, {_BUILD} or PATH")
    return found


def to_generic(text: str, opt: str | None = None) -> str:
    """The generic form of `text`, with locations. Raises InterpreterError with headrace-opt's first message."""
    return _run_opt(text, opt, "--mlir-print-debuginfo")


def to_generic_each(texts: Sequence[str], opt: str | None = None) -> list[str]:
    """The generic form of each text, without locations, by one run of headrace-opt, which is slow to start.

    Raises InterpreterError if any is refused.
    """
    split = (f"--split-input-file={_SPLIT}", f"--output-split-marker={_SPLIT}")
    return _run_opt(f"\n{_SPLIT}\n".join(texts), opt, *split).split(_SPLIT) if texts else []


def _run_opt(text: str, opt: str | None, *options: str) -> str:
    command = [opt or find_opt(), "-", *_GENERIC, *options]
    try:
        run = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    except OSError as error:
        raise InterpreterError(f"cannot run {command[0]}: {error.strerror}") from error
    if run.returncode:
        found = re.search(r"^[^\n]*?:(\d+):\d+: error: (.*)$", run.stderr, re.MULTILINE)
        if found:
            raise InterpreterError(found[2], int(found[1]))
        raise InterpreterError(f"headrace-opt: exit code {run.returncode}: {run.stderr.strip()[:200]}")
    return run.stdout
