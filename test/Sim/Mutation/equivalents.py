"""Mutants that are as right as the kernel, argued one by one in equivalents.json.

An entry is keyed by kernel, mutation, what was done, and the place in words (Ptx.place), so that it survives other
registers and line numbers. `kernels` are shell patterns.
"""

from __future__ import annotations

import fnmatch
import json
from pathlib import Path

from mutations import Mutant

_FILE = Path(__file__).with_name("equivalents.json")


class Equivalents:
    """The list, and which of its entries have been met."""

    def __init__(self):
        self.entries = json.loads(_FILE.read_text(encoding="utf-8"))
        self.met = [0] * len(self.entries)

    def reason(self, kernel: str, mutant: Mutant) -> str | None:
        """Why the mutant is no error, if it is none."""
        for number, entry in enumerate(self.entries):
            if (
                entry["mutation"] == mutant.mutation
                and entry["what"] == mutant.what
                and entry["place"] == mutant.place
                and any(fnmatch.fnmatchcase(kernel, pattern) for pattern in entry["kernels"])
            ):
                self.met[number] += 1
                return entry["because"]
        return None

    def unmet(self, kernels: set[str]) -> list[str]:
        """Entries for these kernels that no mutant matched: the compiler's output has moved on."""
        return [
            f"{entry['mutation']}: {entry['place']}"
            for entry, met in zip(self.entries, self.met, strict=True)
            if not met and any(fnmatch.filter(kernels, pattern) for pattern in entry["kernels"])
        ]
