"""What became of every configuration, as a list that prints as a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from headrace.report.notebook import table_html
from headrace.report.plain import lines
from headrace.report.tables import Table

#: measured: see `Result.seconds`. fits: not measured, for want of a GPU. failed: it compiles or runs with an error.
#: pruned: not worth measuring. refused: the compiler refuses it, or it is over budget.
STATUSES = ("measured", "fits", "failed", "pruned", "refused")

#: Characters of a reason in a table.
_REASON_WIDTH = 100


@dataclass(frozen=True)
class Result:
    """One configuration. `status` is one of `STATUSES`, `reason` says why it was not measured, or not to the end.

    `seconds` is the time of one launch, median over rounds; `spread` (largest - smallest) / median, None after a single
    look. `bound` is the compiler's prediction: the cycles of its loops over those that the work needs at the least.
    """

    config: dict[str, Any]
    status: str
    reason: str = ""
    seconds: float | None = None
    spread: float | None = None
    bound: float | None = None

    @property
    def measured(self) -> bool:
        return self.status == "measured"


class Results(Sequence[Result]):
    """The configurations of one tuning, the fastest first and those without a time last. Prints as a table."""

    def __init__(self, results: Sequence[Result] = ()):
        def rank(result: Result) -> tuple:
            bound = result.bound if result.bound is not None else float("inf")
            # A single look at a slow configuration does not compete with a full measurement.
            looked = result.seconds is not None and result.spread is None
            return STATUSES.index(result.status), looked, result.seconds or 0.0, bound

        self._results = tuple(sorted(results, key=rank))

    def __getitem__(self, index):
        return self._results[index]

    def __len__(self) -> int:
        return len(self._results)

    @property
    def best(self) -> Result | None:
        """The fastest; the one of the lowest bound if nothing was measured; None if no configuration is any good."""
        first = self._results[0] if self._results else None
        return first if first is not None and first.status in ("measured", "fits") else None

    def to_json(self) -> list[dict]:
        return [asdict(result) for result in self._results]

    @classmethod
    def from_json(cls, data: list[dict]) -> Results:
        """The results of `to_json`. Raises TypeError, KeyError or ValueError for anything else."""
        return cls([Result(**entry) for entry in data])

    def table(self) -> Table:
        """Names and values of each configuration, its time, spread, bound and reason; long reasons are cut short."""
        names = list(dict.fromkeys(name for result in self for name in result.config))
        rows = tuple((*(str(r.config.get(name, "-")) for name in names), *_cells(r)) for r in self)
        columns = (*names, "status", "us", "spread", "bound", "reason")
        count = len(names)
        return Table("Configurations", columns, rows, frozenset({*range(count), count + 1, count + 2, count + 3}))

    def __str__(self) -> str:
        return "\n".join(lines(self.table())) + "\n" if len(self) else "no configurations\n"

    def __repr__(self) -> str:
        return f"<results of {len(self)} configurations, {sum(result.measured for result in self)} measured>"

    def _repr_html_(self) -> str:
        return table_html(self.table())


def _cells(result: Result) -> tuple[str, ...]:
    reason = result.reason
    return (
        result.status,
        _shown(result.seconds, 1e6, "{:.2f}"),
        _shown(result.spread, 100, "{:.1f}%"),
        _shown(result.bound, 1, "{:.2f}"),
        reason if len(reason) <= _REASON_WIDTH else reason[: _REASON_WIDTH - 3] + "...",
    )


def _shown(value: float | None, scale: float, form: str) -> str:
    return "-" if value is None else form.format(value * scale)
