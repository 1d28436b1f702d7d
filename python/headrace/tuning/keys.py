"""What a choice of configuration depends on beside the kernel's source: extents of arrays, values of arguments."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from headrace.language.facts import Parameter, describe_array

_ENTRY = re.compile(r"(?P<name>\w+)(?:\.shape(?:\[(?P<dim>-?\d+)\])?)?")


class Key:
    """A list of names: ``"n"`` (the value of a number or constant, the extents of an array), ``"A.shape"``,
    ``"A.shape[1]"``.

    None means the extents of every array and the value of every integer: tune anew for every problem. An empty list
    means one choice for all problems of the same types. Raises ValueError for what names no parameter.
    """

    def __init__(self, entries: Sequence[str] | None, parameters: tuple[Parameter, ...], chosen: Sequence[str]):
        self._entries = None
        if entries is None:
            return
        if isinstance(entries, str):
            raise TypeError(f"expected a list of names as key, got {entries!r}")
        known = {parameter.name for parameter in parameters}
        self._entries = []
        for entry in entries:
            match = _ENTRY.fullmatch(entry) if isinstance(entry, str) else None
            if match is None or match["name"] not in known:
                raise ValueError(
                    f"expected a parameter, or NAME.shape, or NAME.shape[DIM], as key, got {entry!r}; the parameters "
                    f"are {', '.join(sorted(known))}"
                )
            if match["name"] in chosen:
                raise ValueError(f"expected a key that the configurations do not set, got {entry!r}")
            self._entries.append((match["name"], "shape" in entry, match["dim"]))

    def values(self, arguments: Mapping[str, Any]) -> tuple:
        """The values of the key for a call's arguments, by name; hashable. Raises ValueError if one has no shape."""
        if self._entries is None:
            return tuple(part for name, value in arguments.items() for part in _whole(name, value))
        return tuple(self._value(arguments[name], *rest, name) for name, *rest in self._entries)

    def _value(self, value: Any, wants_shape: bool, dim: str | None, name: str) -> Any:
        described = describe_array(value)
        if described is None:
            if wants_shape:
                raise ValueError(f"expected an array for '{name}', whose shape is in the key, got {value!r}")
            return value
        shape = tuple(int(extent) for extent in described[0])
        if dim is None:
            return shape
        if not -len(shape) <= int(dim) < len(shape):
            raise ValueError(f"expected '{name}' to have dimension {dim}, which is in the key, got shape {shape}")
        return shape[int(dim)]


def _whole(name: str, value: Any):
    described = describe_array(value)
    if described is not None:
        yield name, tuple(int(extent) for extent in described[0])
    elif isinstance(value, int):
        yield name, value
