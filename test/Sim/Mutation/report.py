"""Counts of a run: as one line, and as the tables of docs/simulator-mutations.md."""

from __future__ import annotations

from collections.abc import Callable

from runner import Outcome


def _counts(outcomes: list[Outcome]) -> tuple[int, int, int, int]:
    """Mutants; equivalent ones; caught of the rest by any message; and by one of the right kind."""
    real = [outcome for outcome in outcomes if not outcome.equivalent]
    caught = sum(outcome.verdict in ("caught", "other-kind") for outcome in real)
    return len(outcomes), len(outcomes) - len(real), caught, sum(outcome.verdict == "caught" for outcome in real)


def summary(outcomes: list[Outcome]) -> str:
    """One line."""
    mutants, equivalent, caught, right = _counts(outcomes)
    real = mutants - equivalent
    share = f" ({100 * right / real:.1f} %)" if real else ""
    return (
        f"{mutants} mutants, {equivalent} equivalent, {real} to catch: {caught} caught, "
        f"{right} by the right kind of message{share}"
    )


def _table(head: str, rows: list[str], columns: list[str], pick: Callable[[str, str], list[Outcome]]) -> list[str]:
    def cell(outcomes: list[Outcome]) -> str:
        if not outcomes:
            return ""
        mutants, equivalent, caught, right = _counts(outcomes)
        return f"{mutants} / {equivalent} / {caught} / {right}"

    lines = [f"| {head} | {' | '.join([*columns, 'all'])} |", "|---" * (len(columns) + 2) + "|"]
    for row in [*rows, "all"]:
        cells = [cell(pick(row, column)) for column in [*columns, "all"]]
        lines.append(f"| {row} | {' | '.join(cells)} |")
    return lines


def _equivalents(outcomes: list[Outcome]) -> list[str]:
    """One line for each argument: how many mutants it covers, and which."""
    groups: dict[tuple[str, str], dict[str, list[str]]] = {}
    for o in outcomes:
        if o.equivalent:
            places = groups.setdefault((o.mutant.mutation, o.equivalent), {})
            places.setdefault(f"{o.mutant.what} at `{o.mutant.place}`", []).append(o.kernel)
    lines = []
    for (mutation, because), places in groups.items():
        lines += ["", f"**{mutation}** ({sum(map(len, places.values()))}): {because}", ""]
        lines += [f"- {place} ({', '.join(kernels)})" for place, kernels in places.items()]
    return lines


def markdown(outcomes: list[Outcome]) -> str:
    """Mutations by target, kernels by themselves, and the equivalent mutants with their arguments."""
    mutations = list(dict.fromkeys(o.mutant.mutation for o in outcomes))
    kernels = list(dict.fromkeys(o.kernel for o in outcomes))
    targets = list(dict.fromkeys(kernel.split("-")[0] for kernel in kernels))

    def by_target(mutation: str, target: str) -> list[Outcome]:
        return [
            o for o in outcomes if mutation in (o.mutant.mutation, "all") and target in (o.kernel.split("-")[0], "all")
        ]

    def by_kernel(kernel: str, _: str) -> list[Outcome]:
        return [o for o in outcomes if kernel in (o.kernel, "all")]

    tables = [*_table("mutation", mutations, targets, by_target), "", *_table("kernel", kernels, [], by_kernel)]
    return "\n".join([*tables, *_equivalents(outcomes), ""])
