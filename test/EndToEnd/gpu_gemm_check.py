"""Checks compiled products on a GPU over many shapes, in a child process that is replaced when a kernel hangs.

    python3 test/EndToEnd/gpu_gemm_check.py FOLDER [--quick | --full] [--budget-seconds S] [--seed N] [--json PATH]

For each kernel (see gemm_kernels) and each M x N x K: integers whose result is exact, then random numbers against a
float64 reference with a bound from its rounding errors; the output poisoned, guards around it; on some cases, repeats
that must equal bit for bit. Exits with 1 if anything failed or nothing ran. --kernel and --shape repeat one case.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import os
import random
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from watchdog import Watchdog

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))

EXTENTS = (1, 8, 16, 63, 65, 104, 129, 200, 257, 1000, 4096)
DEPTHS = (0, 8, 16, 24, 40, 511, 512, 4608)
QUICK_EXTENTS = (1, 65, 129, 257)
QUICK_DEPTHS = (0, 8, 40, 511)
#: No output at all: nothing may be launched or written.
EMPTY_SHAPES = ((0, 129, 64), (129, 0, 64))

#: A kernel that hangs or crashes this often is left alone, since each time costs a timeout and a new process.
_GIVE_UP_AFTER = 3
_STATUSES = ("ok", "wrong", "unwritten", "guard", "unstable", "refused", "error", "crash", "HANG")


@dataclass(frozen=True)
class Case:
    """One kernel at one shape; `repeats` further launches are compared bit for bit."""

    kernel: str
    m: int
    n: int
    k: int
    repeats: int = 0


@dataclass(frozen=True)
class Result:
    """What became of a case. `ratio` is the largest error over its tolerance."""

    case: Case
    status: str
    detail: str = ""
    ratio: float = 0.0
    seconds: float = 0.0


def serve(connection, folder: str, seed: int, device: str = "cuda") -> None:
    """The child: answers each Case with (status, detail, ratio); leaves after an error that spoils the CUDA context."""
    import gemm_worker

    worker = gemm_worker.Worker(Path(folder), seed, device)
    connection.send("ready")
    while True:
        case = connection.recv()
        status, detail, ratio, fatal = worker.run(case)
        connection.send((status, detail, ratio, fatal))
        if fatal:
            return


def all_cases(names: list[str], options, rng: random.Random) -> list[Case]:
    """Every kernel at every shape, in random order; `repeat_cases` of each kernel's larger shapes are repeated."""
    if options.shape:
        shapes = [tuple(int(extent) for extent in options.shape.split("x"))]
    else:
        extents, depths = (QUICK_EXTENTS, QUICK_DEPTHS) if options.quick else (EXTENTS, DEPTHS)
        shapes = [*itertools.product(extents, extents, depths), *EMPTY_SHAPES]
    cases = []
    for name in names:
        worth = [s for s in shapes if min(s) > 0 and (options.shape or (s[0] * s[1] >= 2**14 and s[2] >= 24))]
        repeated = set(rng.sample(worth, min(options.repeat_cases, len(worth))))
        cases += [Case(name, *shape, options.repeats if shape in repeated else 0) for shape in shapes]
    rng.shuffle(cases)
    # Repeated cases first: a budget should not cut them off.
    return sorted(cases, key=lambda case: not case.repeats)


def run_cases(cases: list[Case], watchdog: Watchdog, options) -> list[Result]:
    """Runs `cases` until the budget is used up."""
    deadline = time.monotonic() + options.budget_seconds
    broken: dict[str, int] = {}
    results = []
    for case in cases:
        if time.monotonic() > deadline:
            break
        if broken.get(case.kernel, 0) >= _GIVE_UP_AFTER:
            continue
        result, fatal = run_case(case, watchdog, options.case_seconds)
        results.append(result)
        if fatal:
            watchdog.stop()
            broken[case.kernel] = broken.get(case.kernel, 0) + 1
            print(f"{result.status} {describe(case)}: {result.detail}", flush=True)
    watchdog.stop()
    return results


def run_case(case: Case, watchdog: Watchdog, seconds: float) -> tuple[Result, bool]:
    """The result of `case`, and whether the child is lost."""
    start = time.monotonic()
    answer = watchdog.ask(case, seconds)
    elapsed = time.monotonic() - start
    if answer.status == "hang":
        return Result(case, "HANG", f"no answer in {seconds:g} s", seconds=elapsed), True
    if answer.status == "crash":
        return Result(case, "crash", "the process died", seconds=elapsed), True
    status, detail, ratio, fatal = answer.value
    return Result(case, status, detail, ratio, elapsed), fatal


def as_json(result: Result) -> dict:
    """`result` for a JSON file, which has no infinity: a ratio that is not finite becomes null."""
    return {**asdict(result), "ratio": result.ratio if math.isfinite(result.ratio) else None}


def describe(case: Case) -> str:
    return f"{case.kernel} {case.m}x{case.n}x{case.k}"


def print_table(names: list[str], results: list[Result], per_kernel: int) -> None:
    """One line per kernel: how many cases ran of how many, and how many ended in each status that occurred at all."""
    used = [s for s in _STATUSES if any(r.status == s for r in results)]
    width = max(map(len, names), default=6)
    print(
        f"{'kernel':{width}}  {'ran/of':>9} " + "".join(f"{s:>10}" for s in used) + f"{'error/tol':>11}{'repeated':>9}"
    )
    for name in names:
        mine = [r for r in results if r.case.kernel == name]
        counts = "".join(f"{sum(r.status == s for r in mine) or '.':>10}" for s in used)
        worst = max((r.ratio for r in mine), default=0.0)
        repeated = sum(r.case.repeats > 0 for r in mine)
        print(f"{name:{width}}  {f'{len(mine)}/{per_kernel}':>9} {counts}{worst:>11.3f}{repeated:>9}")


def print_failures(names: list[str], results: list[Result], limit: int) -> None:
    for name in names:
        failed = [r for r in results if r.case.kernel == name and r.status != "ok"]
        for result in failed[:limit]:
            print(f"{result.status} {describe(result.case)}: {result.detail}")
        if len(failed) > limit:
            print(f"... {len(failed) - limit} more of {name}")


def parse_options(argv) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="folder of NAME.json, NAME.cubin, NAME.meta.json")
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--quick", action="store_true", help="66 shapes per kernel instead of 970")
    size.add_argument("--full", action="store_true", help="all 970 shapes per kernel (the default)")
    parser.add_argument(
        "--budget-seconds", type=float, default=480, help="stop starting cases then (default %(default)s)"
    )
    parser.add_argument(
        "--case-seconds", type=float, default=15, help="a case without answer hangs (default %(default)s)"
    )
    parser.add_argument("--repeats", type=int, default=100, help="launches of a repeated case (default %(default)s)")
    parser.add_argument("--repeat-cases", type=int, default=4, help="repeated cases per kernel (default %(default)s)")
    parser.add_argument("--seed", type=int, help="of inputs and order (default: a fresh one, printed)")
    parser.add_argument("--kernel", action="append", help="only this kernel; may be given several times")
    parser.add_argument("--shape", help="only this shape, as 129x257x40 (M x N x K)")
    parser.add_argument("--show", type=int, default=3, help="failures listed per kernel (default %(default)s)")
    parser.add_argument("--json", type=Path, help="where results go (default: $OUT/gemm_check.json if OUT is set)")
    return parser.parse_args(argv)


def kernel_names(options) -> list[str]:
    suffix = ".meta.json"
    names = sorted(path.name.removesuffix(suffix) for path in options.folder.glob(f"*{suffix}"))
    if options.kernel:
        names = [name for name in names if name in options.kernel]
    return names


def main(argv=None, child=serve) -> int:
    options = parse_options(argv)
    seed = random.SystemRandom().randrange(2**31) if options.seed is None else options.seed
    names = kernel_names(options)
    cases = all_cases(names, options, random.Random(seed))
    print(f"seed {seed}, {len(names)} kernels, {len(cases)} cases", flush=True)
    start = time.monotonic()
    results = run_cases(cases, Watchdog(child, str(options.folder), seed), options)
    seconds = time.monotonic() - start
    print_table(names, results, len(cases) // max(len(names), 1))
    print_failures(names, results, options.show)
    failed = sum(r.status != "ok" for r in results)
    print(f"ran {len(results)} of {len(cases)} cases in {seconds:.0f} s, {failed} failed, seed {seed}")
    path = options.json or (Path(os.environ["OUT"]) / "gemm_check.json" if os.environ.get("OUT") else None)
    if path:
        summary = {"seed": seed, "cases": len(cases), "ran": len(results), "failed": failed, "seconds": seconds}
        path.write_text(json.dumps({**summary, "results": [as_json(r) for r in results]}), encoding="utf-8")
    return 0 if results and not failed else 1


if __name__ == "__main__":
    sys.exit(main())
