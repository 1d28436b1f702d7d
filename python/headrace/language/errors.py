"""What Headrace says about a program it refuses, and about faults of its own.

An error is a rule and a fact ("expected X, got Y"), the place in the Python source, and notes on the other parties.
"""

from __future__ import annotations

import linecache
from dataclasses import dataclass

from headrace.errors import HeadraceError


@dataclass(frozen=True)
class Place:
    """A range of one line of a Python file. `line` counts from 1, `column` and `end` (past the last) from 0.

    `function` is the kernel or function that the place is in, "" if it does not matter.
    """

    filename: str
    line: int
    column: int = 0
    end: int | None = None
    function: str = ""

    def __str__(self) -> str:
        return f"{self.filename}:{self.line}:{self.column + 1}"

    def excerpt(self) -> str:
        """The source line with a caret below, or "" if the file cannot be read. Ends in a newline."""
        text = linecache.getline(self.filename, self.line).rstrip("\n")
        if not text.strip():
            return ""
        # Leading tabs stay tabs below, so that the caret stands where the editor shows the column.
        column = min(self.column, len(text))
        padding = "".join(c if c == "\t" else " " for c in text[:column])
        end = len(text.rstrip()) if self.end is None else min(self.end, len(text))
        width = max(end - column, 1) if self.end is not None else 1
        return f"    {text}\n    {padding}{'^' * width}\n"


@dataclass(frozen=True)
class Note:
    """What another party of an error is, and where (`place` None: nowhere in the source)."""

    message: str
    place: Place | None = None

    def __str__(self) -> str:
        where = f"{self.place}: " if self.place else ""
        return f"{where}note: {self.message}\n{self.place.excerpt() if self.place else ''}"


class CompileError(HeadraceError):
    """A kernel is refused. `message` says why and what to write instead, `place` where, `notes` who else is concerned.

    ``str(error)`` is what a compiler prints: file, line, column, message, the line with a caret, and the notes.

    ```python
    try:
        compiled = hr.compile(gemm, signature, "sm_90a")
    except hr.CompileError as error:
        print(error.place.line, error.message)
    ```
    """

    def __init__(self, message: str, place: Place | None = None, notes: tuple[Note, ...] = ()):
        super().__init__(message)
        self.message = message
        self.place = place
        self.notes = tuple(notes)

    def __str__(self) -> str:
        where = f"{self.place}: " if self.place else ""
        excerpt = self.place.excerpt() if self.place else ""
        return (f"{where}error: {self.message}\n{excerpt}" + "".join(map(str, self.notes))).rstrip("\n")

    def __reduce__(self):
        return type(self), (self.message, self.place, self.notes)


class InternalError(HeadraceError):
    """A fault of Headrace, not of the kernel. The message has the stage and a command that reproduces it."""
