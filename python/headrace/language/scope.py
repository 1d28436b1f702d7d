"""The variables of one function while it is emitted, and where names are looked up."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from headrace.language.liveness import Liveness
from headrace.language.source import FunctionSource
from headrace.language.values import Unset


@dataclass(eq=False)
class Scope:
    """Variables of a function. `local` are all names that it assigns: those are never looked up further out.

    `source` is the function of a file that this one is, or is written in; `liveness` None of a lambda.
    """

    source: FunctionSource
    local: frozenset[str]
    liveness: Liveness | None = None
    parent: Scope | None = None
    variables: dict[str, Any] = field(default_factory=dict)

    def lookup(self, name: str) -> Any:
        """The value of `name`: Unset if no value is certain here, MISSING if there is no such name."""
        if name in self.variables:
            return self.variables[name]
        if name in self.local:
            return Unset("is read before it has a value", f"assign '{name}' before")
        if self.parent is not None:
            return self.parent.lookup(name)
        return self.source.module.lookup(name)

    def has(self, name: str) -> bool:
        """Whether `name` is a variable of this function or of one around it, set or not."""
        return name in self.variables or name in self.local or (self.parent is not None and self.parent.has(name))

    def known(self) -> list[str]:
        """Names that have a value here, for suggestions."""
        inner = [name for name, value in self.variables.items() if not isinstance(value, Unset)]
        return inner + (self.parent.known() if self.parent else self.source.module.known())
