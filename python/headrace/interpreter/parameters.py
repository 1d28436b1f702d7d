"""Parameters of a source: `// param NAME = VALUE, TARGET: VALUE` lines, replaced where the text has ${NAME}."""

from __future__ import annotations

import re
from collections.abc import Mapping

from headrace.interpreter.errors import InterpreterError

_DECLARATION = re.compile(r"\s*//\s*param\s(.*)")
_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_USE = re.compile(r"\$\{([^}\s]*)\}")


def substitute(text: str, target: str = "", settings: Mapping[str, str] | None = None) -> str:
    """`text` with every use of a parameter replaced; lines stay where they are.

    A parameter has the value of `settings`, else the one for `target`, else the first. Raises InterpreterError for a
    malformed declaration, an unknown setting or the use of an undeclared parameter.
    """
    lines = text.split("\n")
    values = dict(settings or {})
    declared = set()
    for number, line in enumerate(lines, 1):
        if found := _DECLARATION.match(line):
            name, value = _declare(found[1], target, number)
            declared.add(name)
            values.setdefault(name, value)
    if unknown := [name for name in settings or {} if name not in declared]:
        raise InterpreterError(f"the source declares no parameter '{unknown[0]}'")

    def value_of(use: re.Match[str]) -> str:
        if use[1] not in values:
            raise InterpreterError(f"parameter '{use[1]}' is not declared", number)
        return str(values[use[1]])

    for number, line in enumerate(lines, 1):
        if not line.strip().startswith("//"):
            lines[number - 1] = _USE.sub(value_of, line)
    return "\n".join(lines)


def _declare(declaration: str, target: str, line: int) -> tuple[str, str]:
    name, _, alternatives = (part.strip() for part in declaration.partition("="))
    first, *others = (part.strip() for part in alternatives.split(","))
    if not _NAME.fullmatch(name) or not first:
        raise InterpreterError("expected '// param NAME = VALUE, TARGET: VALUE, ...'", line)
    for other in others:
        key, _, value = (part.strip() for part in other.partition(":"))
        if not key or not value:
            raise InterpreterError(f"expected 'TARGET: VALUE' after the first value of parameter '{name}'", line)
        if key == target:
            first = value
    return name, first
