"""Compiles the kernels of the end-to-end checks for every target and runs them on headrace-sim: no GPU is needed.

    python3 test/EndToEnd/sim_check.py [--tools build/bin] [--set SET ...] [--target TARGET ...] [--quick] [--seed N]

Sets are described in sim_kernels. Each kernel is compiled to PTX and run on small ragged shapes with fresh random
inputs. It passes if the simulator finds nothing (no race, no deadlock, no access outside), the numbers agree with
numpy's float64 within the rounding errors of the type, or exactly for integers, and nothing outside the output is
touched. What the compiler refuses with a message is listed, and is a failure of kernels that must compile. Exits with 1
if anything failed or nothing ran. The files of a kernel that failed are kept, with the commands to repeat it.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import re
import shutil
import sys
import tempfile
import time
import zlib
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy as np
from sim_kernels import SETS, TARGETS, Kernel, Run, kernels
from sim_launch import Outcome, compile_ptx, simulate

ROOT = Path(__file__).resolve().parents[2]

#: A persistent kernel launched for one processor takes many tiles in each program, for 132 one.
_PROCESSORS = (1, 2, 132)
_POLICIES = ("early", "late", "reversed", "random")


@dataclass
class Result:
    """`status` is "passed", "refused", "failed" or "skipped" (the time was up); `ratio` the largest error over its
    tolerance. `commands` repeat the failure."""

    kernel: str
    set: str
    target: str
    status: str
    detail: str = ""
    ratio: float = 0.0
    runs: int = 0
    seconds: float = 0.0
    commands: list[str] = field(default_factory=list)


def chosen(everything: list[Kernel], quick: bool, rng: random.Random) -> list[Kernel]:
    """All kernels in random order; `quick`: for each set, target and kind one, of the variants in turn, and those that
    stand for several first."""
    everything = list(everything)
    rng.shuffle(everything)
    if not quick:
        return everything
    kinds: dict[tuple[str, ...], list[Kernel]] = {}
    for kernel in everything:
        kinds.setdefault((kernel.set, kernel.target, kernel.kind), []).append(kernel)
    used: Counter[tuple[str, ...]] = Counter()
    taken = []
    for alike in sorted(kinds.values(), key=lambda alike: len(alike) == 1):
        kernel = min(alike, key=lambda kernel: used[kernel.set, kernel.target, kernel.variant])
        used[kernel.set, kernel.target, kernel.variant] += 1
        taken.append(kernel)
    return taken


def check(kernel: Kernel, options, seed: int, folder: Path) -> Result:
    """Compiles and runs one kernel in a folder of its own, which stays if it failed."""
    start = time.monotonic()
    result = Result(kernel.name, kernel.set, kernel.target, "passed")
    home = folder / kernel.name
    home.mkdir(parents=True)
    try:
        _check(kernel, options, seed, home, result)
    except Exception as error:  # one kernel must not end the others
        result.status, result.detail = "failed", f"{type(error).__name__}: {error}"
    result.seconds = time.monotonic() - start
    if result.status != "failed":
        shutil.rmtree(home)
    return result


def _check(kernel: Kernel, options, seed: int, home: Path, result: Result) -> None:
    source = home / "kernel.mlir"
    source.write_text(kernel.source, encoding="utf-8")
    compiled = compile_ptx(
        options.tools / "headrace-compile", source, kernel.target, kernel.options, source, options.kernel_seconds
    )
    result.commands = [compiled.command]
    if compiled.status != "ok":
        refused = compiled.status == "refused" and not kernel.must_compile
        result.status = "refused" if refused else "failed"
        result.detail = f"compiler: {compiled.status}: {_first_error(compiled)}"
        return
    rng = np.random.default_rng([seed, zlib.crc32(kernel.name.encode())])
    problems = []
    for run in kernel.runs(rng, options.runs):
        folder = home / str(result.runs)
        folder.mkdir()
        result.runs += 1
        outcome = simulate(
            options.tools / "headrace-sim",
            source.with_suffix(".json"),
            run.args,
            run.output,
            _orders(options, rng),
            options.kernel_seconds,
            folder,
        )
        problem = _problem(run, outcome, result)
        if problem:
            problems.append(f"{run.label}: {problem}")
            result.commands.append(outcome.command)
        else:
            shutil.rmtree(folder)
        if problem and outcome.status == "timeout":
            break
    if problems:
        result.status, result.detail = "failed", "\n".join(problems)


def _orders(options, rng: np.random.Generator) -> tuple[str, ...]:
    """One order of asynchronous operations drawn from all, or several of each sort."""
    order = f"--policy={rng.choice(_POLICIES)}" if options.orders == 1 else f"--seeds={options.orders}"
    return (order, f"--seed={rng.integers(2**31)}", f"--processors={rng.choice(_PROCESSORS)}", "--jobs=1")


def _problem(run: Run, outcome: Outcome, result: Result) -> str:
    """What is wrong with a run, or an empty string."""
    if outcome.output is None:
        return f"simulator: {outcome.status}: {_first_error(outcome)}"
    verdict = run.judge(outcome.output)
    result.ratio = max(result.ratio, verdict.ratio)
    parts = [f"simulator: {outcome.messages.strip()}"] if outcome.status != "ok" else []
    if verdict.status != "ok":
        parts.append(f"{verdict.status}: {verdict.detail}")
    return "\n".join(parts)


def _first_error(outcome: Outcome) -> str:
    """The first message that is an error, without the path of the source."""
    lines = [line for line in outcome.messages.splitlines() if "error: " in line] or outcome.messages.splitlines()
    return re.sub(r"^\S*(:\d+:\d+)", r"kernel.mlir\1", lines[0]) if lines else "no message"


def check_all(work: list[Kernel], options, seed: int, folder: Path) -> list[Result]:
    """The results of `work`; kernels that the time left does not reach are skipped."""
    deadline = time.monotonic() + options.budget_seconds

    def one(kernel: Kernel) -> Result:
        if time.monotonic() > deadline:
            return Result(kernel.name, kernel.set, kernel.target, "skipped")
        result = check(kernel, options, seed, folder)
        if options.verbose:
            print(f"{result.status} {result.kernel}: {result.runs} runs in {result.seconds:.1f} s", flush=True)
        if result.status == "failed":
            print(f"failed {result.kernel}: {result.detail}", *result.commands, sep="\n  ", flush=True)
        return result

    with ThreadPoolExecutor(options.jobs) as pool:
        return list(pool.map(one, work))


def print_table(results: list[Result]) -> None:
    """A line for each set and target: how many kernels ended in each way, runs, and the largest error."""
    columns = ("passed", "failed", "refused", "skipped", "runs", "error/tol")
    print(f"{'set':9} {'target':8}", *(f"{name:>9}" for name in columns))
    for name in SETS:
        for target in TARGETS:
            mine = [r for r in results if (r.set, r.target) == (name, target)]
            if not mine:
                continue
            cells = [sum(r.status == status for r in mine) for status in columns[:4]]
            cells += [sum(r.runs for r in mine), f"{max(r.ratio for r in mine):.3f}"]
            print(f"{name:9} {target:8}", *(f"{cell:>9}" for cell in cells))


def as_json(result: Result) -> dict:
    """`result` for a JSON file, which has no infinity: a ratio that is not finite becomes null."""
    return {**asdict(result), "ratio": result.ratio if math.isfinite(result.ratio) else None}


def parse_options(argv) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tools", type=Path, default=ROOT / "build" / "bin", help="folder of the tools")
    parser.add_argument("--set", action="append", choices=SETS, dest="sets", help="only this; may be given again")
    parser.add_argument("--target", action="append", choices=TARGETS, dest="targets", help="only this; likewise")
    parser.add_argument("--kernel", action="append", help="only the kernel of this name; likewise")
    parser.add_argument("--quick", action="store_true", help="one kernel of each kind, two runs and one order each")
    parser.add_argument("--runs", type=int, help="shapes of each product (default 3, quick 2)")
    parser.add_argument("--orders", type=int, help="orders of asynchronous operations of each run (default 4, quick 1)")
    parser.add_argument("--seed", type=int, help="of inputs, shapes and orders (default: a fresh one, printed)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="kernels at once (default %(default)s)")
    parser.add_argument("--budget-seconds", type=float, default=math.inf, help="stop starting kernels then")
    parser.add_argument("--kernel-seconds", type=float, default=300, help="a tool that takes longer hangs")
    parser.add_argument("--out", type=Path, help="folder for the files of failed kernels (default: a temporary one)")
    parser.add_argument("--verbose", action="store_true", help="a line for each kernel when it is done")
    parser.add_argument("--json", type=Path, help="where results go")
    options = parser.parse_args(argv)
    options.runs = options.runs or (2 if options.quick else 3)
    options.orders = options.orders or (1 if options.quick else 4)
    return options


def main(argv=None) -> int:
    options = parse_options(argv)
    seed = random.SystemRandom().randrange(2**31) if options.seed is None else options.seed
    everything = kernels(tuple(options.sets or SETS), tuple(options.targets or TARGETS))
    if options.kernel:
        everything = [kernel for kernel in everything if kernel.name in options.kernel]
    work = chosen(everything, options.quick, random.Random(seed))
    if options.out:
        options.out.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="sim-check-", dir=options.out))
    print(f"seed {seed}, {len(work)} kernels", flush=True)
    start = time.monotonic()
    results = check_all(work, options, seed, folder)
    counts = {status: sum(r.status == status for r in results) for status in ("passed", "failed", "refused", "skipped")}
    for result in sorted(results, key=lambda r: r.kernel):
        if result.status == "refused":
            print(f"refused {result.kernel}: {result.detail}")
    print_table(results)
    if not counts["failed"]:
        shutil.rmtree(folder)
    if options.json:
        summary = {"seed": seed, **counts, "seconds": time.monotonic() - start}
        options.json.write_text(json.dumps({**summary, "results": [as_json(r) for r in results]}), encoding="utf-8")
    left = f", {counts['skipped']} not run: the time was up" if counts["skipped"] else ""
    runs = sum(r.runs for r in results)
    print(f"{runs} runs in {time.monotonic() - start:.0f} s, seed {seed}{left}")
    print(f"{counts['passed']} passed, {counts['failed']} failed, {counts['refused']} refused")
    return 0 if counts["passed"] and not counts["failed"] else 1


if __name__ == "__main__":
    sys.exit(main())
