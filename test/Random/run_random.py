"""Random tile programs: what headrace-compile makes of them must compute what the interpreter computes.

    python3 test/Random/run_random.py --count 100 --seed fresh --one-target --jobs 2 --out random-out

Every program is compiled to PTX for each target, or with --one-target for one that its seed chooses, and run on
headrace-sim, which checks for races, with poisoned outputs. Allowed: equal numbers and no finding, or a refusal, which
is one error line and exit code 1. Anything else is a failure: the program is kept in OUT, and a smaller one that fails
alike in its folder `small`. Exits with 1 if anything failed.
"""

from __future__ import annotations

import argparse
import secrets
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, as_completed, wait
from pathlib import Path

import features
from checking import Report, again, check_seeds
from launches import ROOT
from running import FAILURES, PASSED, REFUSED

#: Programs that a process takes at a time: headrace-opt starts once for them.
GROUP = 8


def reports(seeds: list[str], options: argparse.Namespace) -> Iterator[Report]:
    """Of each seed's program, in the order in which they end; with a deadline, of those begun before it."""
    deadline = time.monotonic() + options.budget_seconds if options.budget_seconds else None
    size = max(min(GROUP, len(seeds) // (2 * options.jobs)), 1)
    with ProcessPoolExecutor(options.jobs) as pool:
        begun = set()
        for start in range(0, len(seeds), size):
            # One group for each process, and one that waits for whichever ends first.
            if len(begun) > options.jobs:
                done, begun = wait(begun, return_when=FIRST_COMPLETED)
                for group in done:
                    yield from group.result()
            if deadline and time.monotonic() > deadline:
                break
            begun.add(pool.submit(check_seeds, seeds[start : start + size], options))
        for group in as_completed(begun):
            yield from group.result()


def _summary(found: list[Report], options: argparse.Namespace) -> None:
    statuses = [PASSED, REFUSED, *FAILURES]
    results = [(target, result) for report in found for target, result in report.results.items()]
    print(f"{'target':10}" + "".join(f"{status:>15}" for status in statuses))
    for target in sorted({target for target, _ in results}):
        count = Counter(result.status for own, result in results if own == target)
        print(f"{target:10}" + "".join(f"{count[status]:15}" for status in statuses))
    messages = Counter((target, result.status, result.signature) for target, result in results)
    for title, wanted in (("refusals", (REFUSED,)), ("failures", FAILURES)):
        lines = [f"  {count:5} {t}: {s}: {m}" for (t, s, m), count in messages.most_common() if s in wanted]
        if lines:
            print(f"{title}:", *lines, sep="\n")
    failed = sorted((report for report in found if report.failed), key=lambda report: report.seed)
    for report in failed:
        for target in report.failures() or ("",):
            print(f"  {report.seed} {target}: {again(report.seed, target, options)}")
    if failed:
        print(f"programs that failed are in {options.out}")


def parse_options(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=50, help="programs (default 50)")
    parser.add_argument("--seed", default="1", help="of the random sequence (default 1); 'fresh' for a new one")
    parser.add_argument("--only", metavar="SEED,...", help="these programs, by the names that a run has given them")
    parser.add_argument("--jobs", type=int, default=1, help="programs at a time (default 1)")
    parser.add_argument("--tools", type=Path, default=ROOT / "build" / "bin", help="folder of the tools")
    parser.add_argument("--targets", default="sm_80,sm_90a,sm_100a", help="default %(default)s")
    parser.add_argument("--one-target", action="store_true", help="each program for one of the targets")
    parser.add_argument("--rare-targets", default="sm_75,sm_120a", help="of --one-target, now and then (%(default)s)")
    parser.add_argument("--features", default="", help="NAME=WEIGHT,... on top of the default; 'all' for everything")
    parser.add_argument("--operations", type=int, default=0, help="size of a program (default: its seed chooses)")
    parser.add_argument("--out", type=Path, help="folder for what fails (default: a temporary one)")
    parser.add_argument("--seconds", type=float, default=60, help="that a tool may take (default 60)")
    parser.add_argument("--shrink-seconds", type=float, default=60, help="for each failure; 0 for none (default 60)")
    parser.add_argument("--budget-seconds", type=float, default=0, help="start no program after that time")
    parser.add_argument("--verbose", action="store_true", help="a line for each program")
    options = parser.parse_args(arguments)
    options.targets = options.targets.split(",")
    options.rare_targets = list(filter(None, options.rare_targets.split(",")))
    options.seed = f"{secrets.randbits(40):x}" if options.seed == "fresh" else options.seed
    options.tools = options.tools.resolve()
    options.out = (options.out or Path(tempfile.mkdtemp(prefix="headrace-random-"))).resolve()
    try:
        options.weights = features.parse(options.features)
    except ValueError as error:
        parser.error(str(error))
    return options


def main(arguments: list[str] | None = None) -> int:
    options = parse_options(arguments)
    seeds = options.only.split(",") if options.only else [f"{options.seed}-{i}" for i in range(options.count)]
    print(f"{len(seeds)} programs, seed {options.seed}", flush=True)
    found, start = [], time.monotonic()
    for report in reports(seeds, options):
        found.append(report)
        if options.verbose or report.failed:
            states = ", ".join(f"{t} {r.status} {r.signature}" for t, r in report.results.items())
            print(f"{report.seed}: {report.invalid or states}", flush=True)
    print(f"{len(found)} programs in {time.monotonic() - start:.0f} s")
    _summary(found, options)
    return 1 if any(report.failed for report in found) else 0


if __name__ == "__main__":
    sys.exit(main())
