"""The error of the interpreter: what it cannot evaluate, with the source line."""

from __future__ import annotations

from headrace.errors import HeadraceError


class InterpreterError(HeadraceError):
    """A program or its arguments cannot be evaluated. `line` is the line of the source, if one is known."""

    def __init__(self, message: str, line: int | None = None):
        super().__init__(f"line {line}: {message}" if line else message)
        self.line = line
