"""Random tile programs: what headrace-compile makes of them must compute what the interpreter computes.

    python3 test/Random/run_random.py --count 100 --seed 1 --targets sm_80,sm_90a,sm_100a --out random-out

Every program is compiled to PTX for each target and run on headrace-sim, which checks for races, with poisoned
outputs. Allowed: equal numbers and no finding, or a refusal, which is one error line and exit code 1. Anything else is
a failure: the program is kept in OUT, and a smaller one that fails alike in its folder `small`. Exits with 1 if
anything failed.
"""

from __future__ import annotations

import argparse
import hashlib
import random
import shutil
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import features
from generator import generate
from launches import ROOT, expected_outputs, interpreter, make_launch
from program_tree import Program
from running import FAILURES, PASSED, REFUSED, WRONG, Result, Settings, compile_program, simulate
from shrinking import shrink

_RUNS = 2
#: Of a program that is being shrunk, rounding may differ: only differences above this part of the largest number count.
_SLACK = 2.0**-5


@dataclass
class Report:
    """A result for each target; `invalid` is a fault of the generator or of the interpreter."""

    seed: str
    results: dict[str, Result] = field(default_factory=dict)
    invalid: str = ""
    folder: str = ""


def check(program: Program, target: str, options: argparse.Namespace, folder: Path, slack: float = 0.0) -> Result:
    """Compiles and runs a program for one target. Raises InterpreterError."""
    rng = random.Random(f"{program.seed} {target}")
    orders = (f"--policy={rng.choice(['early', 'late', 'reversed', 'random'])}", f"--seed={rng.randrange(1000)}",
              f"--processors={rng.choice([1, 2, 132])}", "--jobs=1")  # fmt: skip
    settings = Settings(options.tools, options.seconds, orders)
    text = str(program)
    compiled = compile_program(text, target, settings, folder)
    if compiled.status != PASSED:
        return compiled
    kernel = interpreter.load(text, opt=str(options.tools / "headrace-opt"))
    for run in range(_RUNS):
        launch = make_launch(program, random.Random(f"{program.seed} {run}"), largest=run == 0)
        result = simulate(launch, expected_outputs(kernel, launch), settings, folder, slack)
        result.commands = compiled.commands + result.commands
        if result.status != PASSED:
            return result
    return result


def check_seed(seed: str, options: argparse.Namespace) -> Report:
    """One program for all targets; what fails stays in a folder named for the seed."""
    report = Report(seed)
    options.out.mkdir(parents=True, exist_ok=True)
    program = generate(seed, options.weights, options.operations)
    for target in options.targets:
        folder = options.out / f"{seed}-{target}"
        folder.mkdir(parents=True, exist_ok=True)
        try:
            result = check(program, target, options, folder)
        except interpreter.InterpreterError as error:
            report.invalid = str(error)
            (folder / "kernel.mlir").write_text(str(program), encoding="utf-8")
            return report
        report.results[target] = result
        if result.status not in FAILURES:
            shutil.rmtree(folder)
            continue
        (folder / "why.txt").write_text("\n\n".join([result.status, result.message, *result.commands]) + "\n")
        if options.shrink_seconds and _is_new(result, options.out):
            _shrink(program, target, result, options, folder / "small")
    return report


def _is_new(result: Result, out: Path) -> bool:
    """Whether nobody has shrunk a failure of this sort yet; wrong numbers have no sorts."""
    if result.status == WRONG:
        return True
    try:
        digest = hashlib.sha256(f"{result.status} {result.signature}".encode()).hexdigest()[:12]
        (out / f"shrunk-{digest}").touch(exist_ok=False)
    except FileExistsError:
        return False
    return True


def _shrink(program: Program, target: str, first: Result, options: argparse.Namespace, folder: Path) -> None:
    folder.mkdir(exist_ok=True)

    def fails(candidate: Program) -> bool:
        try:
            result = check(candidate, target, options, folder, _SLACK)
        except interpreter.InterpreterError:
            return False
        return (result.status, result.signature) == (first.status, first.signature)

    small = shrink(program, fails, options.shrink_seconds)
    result = check(small, target, options, folder)
    (folder / "why.txt").write_text("\n\n".join([result.status, result.message, *result.commands]) + "\n")


def _summary(reports: list[Report], options: argparse.Namespace) -> int:
    statuses = [PASSED, REFUSED, *FAILURES]
    print(f"{'target':10}" + "".join(f"{status:>15}" for status in statuses))
    for target in options.targets:
        count = Counter(r.results[target].status for r in reports if target in r.results)
        print(f"{target:10}" + "".join(f"{count[status]:15}" for status in statuses))
    messages = Counter((t, r.status, r.signature) for report in reports for t, r in report.results.items())
    for title, wanted in (("refusals", (REFUSED,)), ("failures", FAILURES)):
        lines = [f"  {count:5} {t}: {s}: {m}" for (t, s, m), count in messages.most_common() if s in wanted]
        if lines:
            print(f"{title}:", *lines, sep="\n")
    invalid = [r for r in reports if r.invalid]
    for report in invalid:
        print(f"  invalid program {report.seed}: {report.invalid}")
    failed = [f"{r.seed}-{t}" for r in reports for t, result in r.results.items() if result.status in FAILURES]
    if failed:
        print(f"programs in {options.out}: {' '.join(failed)}")
    return 1 if failed or invalid else 0


def parse_options(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=50, help="programs (default 50)")
    parser.add_argument("--seed", type=int, default=1, help="of the random sequence (default 1)")
    parser.add_argument("--jobs", type=int, default=1, help="programs at a time (default 1)")
    parser.add_argument("--tools", type=Path, default=ROOT / "build" / "bin", help="folder of the tools")
    parser.add_argument("--targets", default="sm_80,sm_90a,sm_100a", help="default %(default)s")
    parser.add_argument("--features", default="", help="NAME=WEIGHT,... on top of the default; 'all' for everything")
    parser.add_argument("--operations", type=int, default=14, help="size of a program (default 14)")
    parser.add_argument("--out", type=Path, help="folder for what fails (default: a temporary one)")
    parser.add_argument("--seconds", type=float, default=60, help="that a tool may take (default 60)")
    parser.add_argument("--shrink-seconds", type=float, default=60, help="for each failure; 0 for none (default 60)")
    parser.add_argument("--budget-seconds", type=float, default=0, help="start no program after that time")
    parser.add_argument("--verbose", action="store_true", help="a line for each program")
    options = parser.parse_args(arguments)
    options.targets = options.targets.split(",")
    options.tools = options.tools.resolve()
    options.out = (options.out or Path(tempfile.mkdtemp(prefix="headrace-random-"))).resolve()
    try:
        options.weights = features.parse(options.features)
    except ValueError as error:
        parser.error(str(error))
    return options


def main(arguments: list[str] | None = None) -> int:
    options = parse_options(arguments)
    deadline = time.monotonic() + options.budget_seconds if options.budget_seconds else None
    seeds = [f"{options.seed}-{i}" for i in range(options.count)]
    reports = []
    with ProcessPoolExecutor(options.jobs) as pool:
        for start in range(0, len(seeds), 2 * options.jobs):
            if deadline and time.monotonic() > deadline:
                break
            some = seeds[start : start + 2 * options.jobs]
            for report in pool.map(check_seed, some, [options] * len(some)):
                reports.append(report)
                if options.verbose or report.invalid or any(r.status in FAILURES for r in report.results.values()):
                    states = ", ".join(f"{t} {r.status} {r.signature}" for t, r in report.results.items())
                    print(f"{report.seed}: {report.invalid or states}", flush=True)
    print(f"{len(reports)} programs")
    return _summary(reports, options)


if __name__ == "__main__":
    sys.exit(main())
