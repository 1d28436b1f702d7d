"""A position in a text, with what recursive descent needs: look for a pattern, or insist on it."""

from __future__ import annotations

import re

from headrace.interpreter.errors import InterpreterError

_SPACE = re.compile(r"(?:\s+|//[^\n]*)*")


class Scanner:
    """Every method skips space and comments first."""

    def __init__(self, text: str):
        self.text = text
        self.position = 0

    def skip(self) -> None:
        first = self.text[self.position : self.position + 1]
        if first.isspace() or first == "/":  # elsewhere there is nothing to skip, which is quicker to see this way
            self.position = _SPACE.match(self.text, self.position).end()

    def looking_at(self, literal: str) -> bool:
        self.skip()
        return self.text.startswith(literal, self.position)

    def accept(self, literal: str) -> bool:
        """Whether `literal` comes next; it is consumed then."""
        found = self.looking_at(literal)
        if found:
            self.position += len(literal)
        return found

    def expect(self, literal: str) -> None:
        if not self.accept(literal):
            raise self.error(f"expected '{literal}'")

    def match(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """The match of `pattern` that comes next, consumed, or None."""
        self.skip()
        found = pattern.match(self.text, self.position)
        if found:
            self.position = found.end()
        return found

    def require(self, pattern: re.Pattern[str], what: str) -> re.Match[str]:
        found = self.match(pattern)
        if not found:
            raise self.error(f"expected {what}")
        return found

    def separated(self, parse, end: str) -> list:
        """Results of `parse`, separated by commas, up to `end`, which is consumed."""
        items: list = []
        if self.accept(end):
            return items
        items.append(parse())
        while self.accept(","):
            items.append(parse())
        self.expect(end)
        return items

    def balanced(self, open_: str, close: str) -> str:
        """The text between `open_`, which comes next, and the `close` that belongs to it."""
        self.expect(open_)
        start, depth, in_string = self.position, 1, False
        while depth:
            if self.position >= len(self.text):
                raise self.error(f"expected '{close}'")
            char = self.text[self.position]
            if in_string:
                self.position += char == "\\"
                in_string = char != '"'
            elif char == '"':
                in_string = True
            elif char == open_:
                depth += 1
            elif char == close and self.text[self.position - 1] != "-":  # an arrow closes nothing
                depth -= 1
            self.position += 1
        return self.text[start : self.position - 1]

    def error(self, message: str) -> InterpreterError:
        line = self.text.count("\n", 0, self.position) + 1
        rest = self.text[self.position : self.position + 30].split("\n")[0]
        return InterpreterError(f"generic form, line {line}: {message}, got '{rest}'")
