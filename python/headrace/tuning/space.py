"""Configurations to choose from: values for the compile-time constants of a kernel."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, overload

from headrace.tuning.named import call_named

#: Values of a kernel's constants, by name.
Config = dict[str, Any]


class SearchSpace(Sequence[Config]):
    """Configurations, in order and without doubles. ``a + b`` has those of both. See `search_space`."""

    def __init__(self, configs: Iterable[Mapping[str, Any]]):
        distinct = {}
        for config in configs:
            if not isinstance(config, Mapping) or not all(isinstance(name, str) for name in config):
                raise TypeError(f"expected configurations such as {{'BM': 128, 'BN': 64}}, got {config!r}")
            distinct.setdefault(repr(sorted(config.items())), dict(config))
        self._configs = tuple(distinct.values())
        names = {frozenset(config) for config in self._configs}
        if len(names) > 1:
            shown = " and ".join(", ".join(sorted(each)) or "none" for each in sorted(names, key=sorted)[:2])
            raise ValueError(f"expected configurations with the same names, got {shown}")

    @overload
    def __getitem__(self, index: int) -> Config: ...
    @overload
    def __getitem__(self, index: slice) -> SearchSpace: ...
    def __getitem__(self, index):
        if isinstance(index, slice):
            return SearchSpace(self._configs[index])
        return dict(self._configs[index])

    def __len__(self) -> int:
        return len(self._configs)

    def __add__(self, other: Iterable[Mapping[str, Any]]) -> SearchSpace:
        return SearchSpace([*self, *other])

    @property
    def names(self) -> tuple[str, ...]:
        """The constants that the configurations set, in order."""
        return tuple(self._configs[0]) if self._configs else ()

    def __repr__(self) -> str:
        return f"<{len(self)} configurations of {', '.join(self.names)}>"


def search_space(where: Callable[..., bool] | None = None, /, **axes: Iterable[Any]) -> SearchSpace:
    """Every combination of the values of `axes`, the last axis fastest, of which `where` is true.

    `where` is a function of constants, by their names; it may ask for some of them only. Raises TypeError if an axis is
    no list of values or `where` asks for another name, ValueError for an axis without values.

    ```python
    hr.search_space(BM=[64, 128, 256], BN=[64, 128, 256])                                  # 9 configurations
    hr.search_space(lambda BM, BN: BM * BN <= 128 * 256, BM=[64, 128, 256], BN=[64, 128, 256], BK=[64])  # 8
    hr.search_space(BM=[16], BN=[64]) + [{"BM": 64, "BN": 256}]
    ```
    """
    values = {}
    for name, axis in axes.items():
        if isinstance(axis, (str, bytes)) or not isinstance(axis, Iterable):
            raise TypeError(f"expected a list of values for '{name}', got {axis!r}")
        values[name] = list(axis)
        if not values[name]:
            raise ValueError(f"expected at least one value for '{name}', got none")
    combined = (dict(zip(values, chosen, strict=True)) for chosen in itertools.product(*values.values()))
    return SearchSpace(c for c in combined if where is None or call_named(where, c, "the search space's condition"))
