"""How fast a configuration can be at best, from the compiler's table of its loops. Only good to compare with others."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from headrace.errors import LaunchError
from headrace.runtime.plan import programs_of
from headrace.runtime.schema import Record


def bound_of(report: dict, waves: float = 1.0) -> float | None:
    """Cycles that the pipelined loops take at the least, over those of their matmuls (of their copies without any).

    1 is a kernel that keeps the tensor cores busy all the time; the work is the same for all configurations of a
    kernel, so the ratio compares them. `waves` is `wave_share`'s. None if no loop is pipelined.
    """
    bound = work = 0.0
    for loop in report.get("loops", ()):
        cycles = loop.get("cycles", {})
        bound += loop.get("ii_bound", 0.0)
        work += cycles.get("matmul", 0.0) or cycles.get("copy", 0.0)
    return waves * bound / work if bound and work else None


def wave_share(record: Record, arguments: Sequence, processors: int) -> float:
    """How much longer the last, partly filled round of programs makes a launch: 1 if rounds are full.

    `arguments` are in the record's order, arrays with a `shape`. 1 if the grid cannot be told.
    """
    tiles = dataclasses.replace(record, grid=dataclasses.replace(record.grid, persistent=False))
    try:
        x, y, z = programs_of(tiles, arguments, processors)
    except (LaunchError, AttributeError, IndexError, TypeError):
        return 1.0
    programs, resident = x * y * z, processors * record.min_ctas_per_sm
    return -(-programs // resident) * resident / programs if programs else 1.0
