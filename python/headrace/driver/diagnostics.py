"""What the compiler prints, as errors at lines of the Python source."""

from __future__ import annotations

import re
import warnings
from pathlib import Path

from headrace.driver.compiler import FAULT, FINE, Output
from headrace.language.errors import CompileError, InternalError, Note, Place

_LINE = re.compile(
    r"(?:(?P<file>.+?):(?P<line>\d+):(?P<column>\d+): )?(?P<kind>error|warning|note|remark): (?P<text>.*)"
)
#: What the verifiers put before a message: the operation's name, which the user has not written.
_OPERATION = re.compile(r"^'[a-z_.0-9]+' op (?:is not supported\b)?")


class PerformanceWarning(UserWarning):
    """A kernel compiles, but will be slower than its source lets hope: ptxas serialised its matmuls, or spilled."""


def check(output: Output, kernel: str) -> None:
    """Raises CompileError or InternalError unless the compilation went well; its warnings become PerformanceWarning."""
    messages = parse(output.messages)
    for kind, text, place, _ in messages:
        if kind == "warning":
            where = f"{place}: " if place else ""
            warnings.warn(f"{where}{text}", PerformanceWarning, stacklevel=2)
    if output.status == FINE:
        return
    errors = [message for message in messages if message[0] == "error"]
    if output.status == FAULT or not errors:
        said = "; ".join(text for _, text, _, _ in errors) or output.messages.strip() or f"exit code {output.status}"
        raise InternalError(
            f"a fault of headrace while it compiles '{kernel}': {said}; to reproduce it: {output.command}"
        )
    _, text, place, notes = errors[0]
    raise CompileError(text, place, tuple(notes))


def parse(text: str) -> list[tuple[str, str, Place | None, list[Note]]]:
    """Messages as (kind, text, place, notes), in order. Source lines and carets between them are left out."""
    messages: list[tuple[str, str, Place | None, list[Note]]] = []
    for line in text.splitlines():
        match = _LINE.fullmatch(line)
        if match is None:
            continue
        place = None
        if match["file"] and Path(match["file"]).suffix != ".mlir":
            place = Place(match["file"], int(match["line"]), int(match["column"]) - 1)
        if match["kind"] != "note":
            messages.append((match["kind"], _worded(match["text"]), place, []))
        elif messages and not match["text"].startswith("see current operation"):
            messages[-1][3].append(Note(match["text"], place))
    return messages


def _worded(text: str) -> str:
    """A message without the operation that it is about: the line shows it."""
    match = _OPERATION.match(text)
    if match is None:
        return text
    if match[0].endswith("supported"):
        name = match[0].split("'")[1]
        return f"'{name}' is not supported{text[match.end() :]}"
    return text[match.end() :]
