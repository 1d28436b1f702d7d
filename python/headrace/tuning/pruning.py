"""Leaves out configurations that the compiler's table shows to be no match for others, before they become code."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from headrace.tuning.candidates import Candidate
from headrace.tuning.results import Result

#: The user's own rule: of a configuration and the compiler's report (parsed JSON), the reason to leave it out, or "".
Rule = Callable[[dict, dict], str]


def prune(candidates: Sequence[Candidate], rule: Rule | None = None) -> tuple[list[Candidate], list[Result]]:
    """The candidates that are worth measuring, and the results of the others, each with its reason.

    Left out are: what `rule` gives a reason for; a configuration whose program is that of an earlier one; one whose
    matmuls run without tensor cores where another's use them; one whose loop has room for a single stage where all
    loops of another are pipelined. At least one candidate stays, unless `rule` wants none.
    """
    kept, left_out = list(candidates), []
    for find in (_by(rule), _doubles, _without_tensor_cores, _with_one_stage):
        reasons = find(kept)
        left_out += [Result(kept[index].config, "pruned", reason) for index, reason in reasons.items()]
        kept = [candidate for index, candidate in enumerate(kept) if index not in reasons]
    return kept, left_out


#: Finds what to leave out: reasons by index.
_Finder = Callable[[Sequence[Candidate]], dict[int, str]]


def _by(rule: Rule | None) -> _Finder:
    def find(candidates: Sequence[Candidate]) -> dict[int, str]:
        if rule is None:
            return {}
        reasons = {index: rule(dict(c.config), c.report) for index, c in enumerate(candidates)}
        return {index: str(reason) for index, reason in reasons.items() if reason}

    return find


def _doubles(candidates: Sequence[Candidate]) -> dict[int, str]:
    first: dict[str, Candidate] = {}
    reasons = {}
    for index, candidate in enumerate(candidates):
        other = first.setdefault(candidate.program.plain, candidate)
        if other is not candidate:
            reasons[index] = f"the same program as {_spelled(other)}"
    return reasons


def _without_tensor_cores(candidates: Sequence[Candidate]) -> dict[int, str]:
    slow = {
        index: matmul.get("why_not_faster", "")
        for index, candidate in enumerate(candidates)
        for matmul in candidate.report.get("matmuls", ())
        if matmul.get("family") == "fma"
    }
    reasons = {index: f"matmul without tensor cores: {why}".rstrip(": ") for index, why in slow.items()}
    return reasons if len(reasons) < len(candidates) else {}


def _with_one_stage(candidates: Sequence[Candidate]) -> dict[int, str]:
    reasons = {}
    for index, candidate in enumerate(candidates):
        for loop in candidate.report.get("loops", ()):
            # One stage that the user asked for is a choice.
            if "not_pipelined" in loop and loop.get("stages") == 1 and loop.get("asked_stages") not in (0, 1):
                reasons.setdefault(index, f"loop at line {loop.get('line', '?')}: {loop['not_pipelined']}")
    return reasons if len(reasons) < len(candidates) else {}


def _spelled(candidate: Candidate) -> str:
    return ", ".join(f"{name}={value}" for name, value in candidate.config.items())
