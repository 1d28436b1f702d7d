"""What became of a variant of a kernel on a target, and how a list of that is printed."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import asdict, dataclass, field

from library.case import TARGETS

STATUSES = ("passed", "refused", "wrong", "accused", "crashed", "slow")


@dataclass
class Result:
    """`status` is one of STATUSES, `ratio` the largest error over its tolerance; `commands` repeat a failure."""

    variant: str
    target: str
    status: str = "passed"
    detail: str = ""
    ratio: float = 0.0
    calls: int = 0
    seconds: float = 0.0
    commands: list[str] = field(default_factory=list)

    def fail(self, status: str, detail: str, *commands: str) -> None:
        """The first failure gives the status."""
        self.status = status if self.status == "passed" else self.status
        self.detail += ("\n" if self.detail else "") + detail
        self.commands += commands

    def as_json(self) -> dict:
        """For a JSON file, which has no infinity: a ratio that is not finite becomes null."""
        return {**asdict(self), "ratio": self.ratio if math.isfinite(self.ratio) else None}

    def __str__(self) -> str:
        line = f"{self.status:8} {self.target:8} {self.variant}: {self.calls} calls, {self.seconds:.1f} s"
        if self.status == "passed":
            line += f", error/tolerance {self.ratio:.3f}"
        return "\n    ".join([line, *self.detail.splitlines(), *self.commands])


def print_table(results: list[Result]) -> None:
    """A line for each variant with its status for each target, and totals."""
    targets = [target for target in TARGETS if any(result.target == target for result in results)]
    status = {(result.variant, result.target): result.status for result in results}
    names = sorted({result.variant for result in results})
    width = max(map(len, names), default=7)
    print(f"{'variant':{width}}", *(f"{target:>9}" for target in targets))
    for name in names:
        print(f"{name:{width}}", *(f"{status.get((name, target), '.'):>9}" for target in targets))
    for target in targets:
        counts = Counter(result.status for result in results if result.target == target)
        print(f"{target}: " + ", ".join(f"{counts[status]} {status}" for status in STATUSES if counts[status]))
