#!/usr/bin/env python3
"""Breaks correct kernels in every way a mutation knows and counts what headrace-sim catches.

    python3 test/Sim/Mutation/mutate_kernels.py                      # every mutant of every kernel: minutes
    python3 test/Sim/Mutation/mutate_kernels.py --quick              # a sample on one kernel per target: under a minute
    python3 test/Sim/Mutation/mutate_kernels.py --kernel 'sm_90a*' --mutation 'drop a fence' --verbose

Exit code 1: an unbroken kernel is accused, a mutant that is not equivalent escapes (without --quick: more than 1 % of
them do), a mutant is not valid PTX, or an entry of equivalents.json is caught or met by nothing.
"""

from __future__ import annotations

import argparse
import fnmatch
import json
import os
import sys
import tempfile
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, replace
from pathlib import Path

import moves  # noqa: F401  (registers its mutations)
from equivalents import Equivalents
from mutations import MUTATIONS, Mutant
from report import markdown, summary
from runner import Outcome, Simulation

from kernels import KERNELS, ROOT, Kernel

_QUICK_KERNELS = ("sm_75-s2", "sm_80-i8", "sm_90a", "sm_100a", "sm_120a")
_MAX_ESCAPES = 0.01


def _sample(mutants: Iterable[Mutant], number: int) -> list[Mutant]:
    """Every mutation once, at the place whose turn it is."""
    groups: dict[str, list[Mutant]] = {}
    for mutant in mutants:
        groups.setdefault(mutant.mutation, []).append(mutant)
    return [group[number % len(group)] for group in groups.values()]


def describe(outcome: Outcome) -> str:
    """Where and what, on one line."""
    mutant = outcome.mutant
    return f"{outcome.kernel}:{mutant.line}: {mutant.mutation}, {mutant.what}, at {mutant.place}"


def try_kernel(kernel: Kernel, arguments: argparse.Namespace, folder: Path) -> tuple[list[str], list[Outcome]]:
    """What is said against the kernel intact, and what became of its mutants."""
    simulation = Simulation(kernel, arguments.tools, folder)
    mutants = [m for name in MUTATIONS for m in MUTATIONS[name](simulation.ptx)]
    mutants = [m for m in mutants if fnmatch.fnmatchcase(m.mutation, arguments.mutation)]
    if arguments.quick:
        mutants = _sample(mutants, arguments.sample)
    accusations, outcomes = simulation.accusations(arguments.quick), []
    if accusations:
        return accusations, []  # what is said of its mutants would prove nothing
    for mutant in mutants:
        outcomes.append(simulation.try_mutant(mutant))
        if arguments.verbose:
            print(f"{outcomes[-1].verdict} {', '.join(outcomes[-1].kinds)}: {describe(outcomes[-1])}", flush=True)
    return accusations, outcomes


def judge(outcomes: list[Outcome], equivalents: Equivalents, quick: bool) -> tuple[list[str], list[str]]:
    """The faults of a whole run, and the mutants that escape. Marks the equivalent ones."""
    faults, escapes = [], []
    for outcome in outcomes:
        outcome.equivalent = equivalents.reason(outcome.kernel, outcome.mutant)
        text = describe(outcome)
        if outcome.verdict == "invalid":
            faults.append(f"not valid PTX: {text}: {outcome.messages}")
        elif outcome.equivalent and outcome.verdict != "missed":
            faults.append(f"called equivalent, yet {outcome.verdict} {', '.join(outcome.kinds)}: {text}")
        elif not outcome.equivalent and outcome.verdict != "caught":
            escapes.append(f"{outcome.verdict} {', '.join(outcome.kinds)}: {text}")
    real = sum(not outcome.equivalent for outcome in outcomes)
    if len(escapes) > (0 if quick else _MAX_ESCAPES * real):
        faults.append(f"{len(escapes)} of {real} mutants escape")
    return faults, escapes


def main() -> int:
    """See the module's docstring."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tools", type=Path, default=ROOT / "build" / "bin", help="where the programs are")
    parser.add_argument("--quick", action="store_true", help="one mutant of each mutation on one kernel per target")
    parser.add_argument("--sample", type=int, default=1, help="with --quick: which place of each mutation")
    parser.add_argument("--kernel", default="*", help="shell pattern of kernels' names")
    parser.add_argument("--mutation", default="*", help="shell pattern of mutations' names")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="kernels at a time")
    parser.add_argument("--markdown", type=Path, help="write the table there")
    parser.add_argument("--outcomes", type=Path, help="write every outcome there, as JSON")
    parser.add_argument("--verbose", action="store_true", help="print each mutant with its verdict as it is known")
    arguments = parser.parse_args()
    kernels = [k for k in KERNELS if fnmatch.fnmatchcase(k.name, arguments.kernel)]
    if arguments.quick:
        kernels = [k for k in kernels if k.name in _QUICK_KERNELS]
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(arguments.jobs) as pool:
        results = list(pool.map(lambda kernel: try_kernel(kernel, arguments, Path(folder)), kernels))
    outcomes = [outcome for _, some in results for outcome in some]
    equivalents = Equivalents()
    faults, escapes = judge(outcomes, equivalents, arguments.quick)
    faults += [f"accused without a fault: {text}" for accused, _ in results for text in accused]
    if not arguments.quick and arguments.kernel == arguments.mutation == "*":
        unmet = equivalents.unmet({outcome.kernel for outcome in outcomes})
        faults += [f"no mutant matches the equivalent {text}" for text in unmet]
    if arguments.markdown:
        arguments.markdown.write_text(markdown(outcomes), encoding="utf-8")
    if arguments.outcomes:
        rows = [asdict(replace(o, mutant=replace(o.mutant, text="", kinds=sorted(o.mutant.kinds)))) for o in outcomes]
        arguments.outcomes.write_text(json.dumps(rows, indent=1), encoding="utf-8")
    print("\n".join([summary(outcomes), *faults, *escapes]))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
