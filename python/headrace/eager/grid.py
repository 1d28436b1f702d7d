"""The programs of an interpreted kernel: how many there are, which the first of them may be the one to say."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

from headrace.errors import LaunchError
from headrace.interpreter.machine import Place
from headrace.interpreter.program import MAX_TRIPS, PERSISTENT_PROGRAMS


class NoProgramError(Exception):
    """The grid that a kernel says is empty."""


class Grid:
    """The sizes along x, y and z. Those of the caller stand for what the kernel says."""

    def __init__(self, given: Any = None):
        self.sizes: tuple[int, int, int] = (1, 1, 1)
        self.known = given is not None
        if given is not None:
            self._set(given if isinstance(given, (tuple, list)) else (given,))

    def _set(self, sizes: Any) -> None:
        whole = tuple(int(size) for size in sizes)
        if not 1 <= len(whole) <= 3 or min(whole) < 0:
            raise LaunchError(f"expected a grid of 1 to 3 sizes of at least 0, got {whole}")
        x, y, z = (*whole, 1, 1)[:3]
        self.sizes = (x, y, z)

    def declare(self, sizes: list[int], persistent: bool) -> None:
        """What the kernel says of the grid. Raises NoProgramError if nothing is to be done."""
        if self.known:
            return
        if persistent and sizes[0] > 0:
            rounds = -(-sizes[0] // PERSISTENT_PROGRAMS)
            sizes = [-(-sizes[0] // rounds), *sizes[1:]]
        self._set(sizes)
        self.known = True
        if 0 in self.sizes:
            raise NoProgramError

    def programs(self) -> Iterator[tuple[int, int, int]]:
        """All programs in order, x fastest. The first one runs before the others are counted, if it says how many."""
        if self.known and 0 in self.sizes:
            return
        yield 0, 0, 0
        others = itertools.product(*(range(size) for size in reversed(self.sizes)))
        yield from ((x, y, z) for z, y, x in itertools.islice(others, 1, None))

    def place(self, program: tuple[int, int, int]) -> Place:
        """Where `program` stands."""
        return Place(program, self.sizes, MAX_TRIPS)
