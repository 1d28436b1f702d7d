"""Checks the library of kernels: compiles every variant for every target and runs it, on headrace-sim or on a GPU.

    python3 test/EndToEnd/library_check.py [--kernel PATTERN] [--target TARGET] [--quick] [--seed N] [--jobs N]
    python3 test/EndToEnd/library_check.py --compile-to FOLDER --target sm_90a
    python3 test/EndToEnd/library_check.py --gpu FOLDER

The first form runs everything on the simulator, with its checks for races and deadlocks. The other two are for a GPU:
the first makes NAME.cubin and NAME.json of each variant and needs no GPU, the second runs what is in the folder and
needs no compiler. Inputs are fresh for each seed, which is printed; results are compared with numpy's float64 within
the bound that library/running_error.py derives from the types; outputs are poison before, and what surrounds them must
stay. A variant is "passed", "refused" (by the compiler, with a message), "wrong", "accused" (by the simulator: a race,
a deadlock, an access outside), "crashed" (a tool) or "slow" (no end in time). Exits with 1 unless all passed.
"""

from __future__ import annotations

import argparse
import fnmatch
import json
import math
import os
import random
import re
import shutil
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy as np
from library.case import TARGETS, Call, Variant
from library.catalog import variants
from library.simulator import simulate
from sim_launch import compile_ptx
from watchdog import Watchdog

ROOT = Path(__file__).resolve().parents[2]

STATUSES = ("passed", "refused", "wrong", "accused", "crashed", "slow")
#: A persistent kernel launched for one processor takes many tiles in each program, for 132 one.
_PROCESSORS = (1, 2, 3, 132)
_POLICIES = ("early", "late", "reversed", "random")
_QUICK_CALLS = 2


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


def check(variant: Variant, target: str, options, seed: int, folder: Path) -> Result:
    """Compiles a variant and runs its calls on the simulator, in a folder of its own that stays after a failure."""
    result = Result(variant.name, target)
    start = time.monotonic()
    home = folder / f"{target}-{variant.name}"
    home.mkdir(parents=True)
    _check(variant, target, options, seed, home, result)
    result.seconds = time.monotonic() - start
    if result.status == "passed":
        shutil.rmtree(home)
    return result


def _check(variant: Variant, target: str, options, seed: int, home: Path, result: Result) -> None:
    kernel = home / "kernel"
    compiler = options.tools / "headrace-compile"
    compiled = compile_ptx(compiler, variant.path, target, variant.options, kernel, options.seconds)
    if compiled.status != "ok":
        status = {"refused": "refused", "timeout": "slow"}.get(compiled.status, "crashed")
        result.fail(status, f"compiler: {first_error(compiled.messages)}", compiled.command)
        return
    orders = np.random.default_rng(seed)
    for number, call in enumerate(variant.launches(seed)):
        if options.quick and number == _QUICK_CALLS:
            break
        run_folder = home / str(number)
        run_folder.mkdir()
        result.calls += 1
        chosen = _orders(options, orders)
        run = simulate(
            options.tools / "headrace-sim", kernel.with_suffix(".json"), call, chosen, options.seconds, run_folder
        )
        before = result.status
        _judge(call, run, result)
        if result.status == before == "passed":
            shutil.rmtree(run_folder)
        else:
            result.commands += [compiled.command, run.command]
            if not options.all_calls:
                break


def _orders(options, rng: np.random.Generator) -> tuple[str, ...]:
    """One order of asynchronous operations drawn from all, or several of each sort."""
    order = f"--policy={rng.choice(_POLICIES)}" if options.orders == 1 else f"--seeds={options.orders}"
    return (order, f"--seed={rng.integers(2**31)}", f"--processors={rng.choice(_PROCESSORS)}", "--jobs=1")


def _judge(call: Call, run, result: Result) -> None:
    if run.after is None:
        status = {"timeout": "slow"}.get(run.status, "crashed")
        result.fail(status, f"{call.label}: simulator: {run.status}: {first_error(run.messages)}")
        return
    verdict = call.judge(run.after)
    result.ratio = max(result.ratio, verdict.ratio)
    if run.status != "ok":
        result.fail("accused", f"{call.label}: {first_error(run.messages)}")
    if verdict.status != "ok":
        result.fail("wrong", f"{call.label}: {verdict.status}: {verdict.detail}")


def first_error(messages: str) -> str:
    """The first message that is an error, without the path of the file."""
    lines = [line for line in messages.splitlines() if "error: " in line] or messages.splitlines()
    return re.sub(r"^\S*/(\S+?:\d+)", r"\1", lines[0]) if lines else "no message"


def check_all(work: list[tuple[Variant, str]], options, seed: int, folder: Path) -> list[Result]:
    """The results of (variant, target) pairs, each printed when it is there."""

    def one(pair: tuple[Variant, str]) -> Result:
        result = check(*pair, options, seed, folder)
        print(describe(result), flush=True)
        return result

    with ThreadPoolExecutor(options.jobs) as pool:
        return list(pool.map(one, work))


def describe(result: Result) -> str:
    line = f"{result.status:8} {result.target:8} {result.variant}: {result.calls} calls, {result.seconds:.1f} s"
    if result.status == "passed":
        return f"{line}, error/tolerance {result.ratio:.3f}"
    return "\n    ".join([line, *result.detail.splitlines(), *result.commands])


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


def compile_all(work: list[tuple[Variant, str]], options) -> list[Result]:
    """Makes TARGET-VARIANT.cubin, .json and .meta.json of each pair in the folder."""
    options.compile_to.mkdir(parents=True, exist_ok=True)

    def one(pair: tuple[Variant, str]) -> Result:
        variant, target = pair
        result = Result(variant.name, target)
        stem = options.compile_to / f"{target}-{variant.name}"
        compiled = compile_cubin(options, variant, target, stem)
        if compiled:
            result.fail("refused", compiled)
        else:
            meta = {"variant": variant.name, "target": target}
            stem.with_name(f"{stem.name}.meta.json").write_text(json.dumps(meta), encoding="utf-8")
        print(describe(result), flush=True)
        return result

    with ThreadPoolExecutor(options.jobs) as pool:
        return list(pool.map(one, work))


def compile_cubin(options, variant: Variant, target: str, stem: Path) -> str:
    """What the compiler refuses a variant with, or an empty string."""
    compiled = compile_ptx(
        options.tools / "headrace-compile", variant.path, target, variant.options, stem, options.seconds
    )
    if compiled.status != "ok":
        return f"compiler: {first_error(compiled.messages)}"
    # A device takes the PTX where it does not run the cubin; where there is no ptxas, the PTX alone.
    import subprocess

    command = [str(options.tools / "headrace-compile"), str(variant.path), f"--target={target}", *variant.options]
    subprocess.run([*command, "-o", str(stem.with_suffix(".cubin"))], capture_output=True, check=False)
    return ""


def _serve(connection, folder: str, seed: int) -> None:
    sys.path.insert(0, str(ROOT / "python"))
    from library.device import serve

    serve(connection, folder, seed)


def run_on_gpu(options, seed: int) -> list[Result]:
    """Runs every kernel of the folder in a child process that is replaced when a launch hangs."""
    by_name = {variant.name: variant for variant in variants()}
    metas = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(options.gpu.glob("*.meta.json"))]
    watchdog = Watchdog(_serve, str(options.gpu), seed)
    results = []
    for meta in metas:
        variant = by_name[meta["variant"]]
        if not chosen(variant, meta["target"], options):
            continue
        results.append(_run_variant(variant, meta["target"], options, seed, watchdog))
        print(describe(results[-1]), flush=True)
    watchdog.stop()
    return results


def _run_variant(variant: Variant, target: str, options, seed: int, watchdog: Watchdog) -> Result:
    result = Result(variant.name, target)
    start = time.monotonic()
    for number, call in enumerate(variant.launches(seed)):
        if options.quick and number == _QUICK_CALLS:
            break
        result.calls += 1
        answer = watchdog.ask((f"{target}-{variant.name}", variant.name, number, options.repeats), options.seconds)
        if answer.status != "answered":
            result.fail("slow" if answer.status == "hang" else "crashed", f"{call.label}: {answer.status}")
            break
        status, detail, ratio, fatal = answer.value
        result.ratio = max(result.ratio, ratio)
        if status != "ok":
            result.fail({"error": "crashed", "refused": "refused"}.get(status, "wrong"), f"{call.label}: {detail}")
        if fatal:
            watchdog.stop()
            break
    result.seconds = time.monotonic() - start
    return result


def chosen(variant: Variant, target: str, options) -> bool:
    if options.targets and target not in options.targets:
        return False
    if options.kernel and not any(fnmatch.fnmatch(variant.name, pattern) for pattern in options.kernel):
        return False
    return target in variant.needs and (variant.in_quick or not options.quick)


def parse_options(argv=None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tools", type=Path, default=ROOT / "build" / "bin", help="folder of the tools")
    parser.add_argument("--kernel", action="append", metavar="PATTERN", help="only variants that match; may be repeated")
    parser.add_argument("--target", action="append", choices=TARGETS, dest="targets", help="only this; likewise")
    parser.add_argument("--quick", action="store_true", help="small tiles only, two calls of each variant, one order")
    parser.add_argument("--orders", type=int, help="orders of asynchronous operations of each call (default 4, quick 1)")
    parser.add_argument("--all-calls", action="store_true", help="go on with a variant's calls after a failure")
    parser.add_argument("--seed", type=int, help="of inputs and orders (default: a fresh one, printed)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="variants at once (default %(default)s)")
    parser.add_argument("--seconds", type=float, default=120, help="a tool or a launch that takes longer hangs")
    parser.add_argument("--out", type=Path, help="folder for the files of failed variants (default: a temporary one)")
    parser.add_argument("--json", type=Path, help="where results go")
    parser.add_argument("--list", action="store_true", help="print the names of the variants and leave")
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--compile-to", type=Path, metavar="FOLDER", help="only compile, for a GPU")
    where.add_argument("--gpu", type=Path, metavar="FOLDER", help="run the kernels of this folder on the GPU")
    parser.add_argument("--repeats", type=int, default=3, help="further launches of a call on a GPU (default %(default)s)")
    options = parser.parse_args(argv)
    options.orders = options.orders or (1 if options.quick else 4)
    return options


def run(options, seed: int) -> list[Result]:
    """The results of the form of check that the options ask for."""
    if options.gpu:
        return run_on_gpu(options, seed)
    targets = options.targets or TARGETS
    work = [(variant, target) for variant in variants() for target in targets if chosen(variant, target, options)]
    print(f"seed {seed}, {len(work)} kernels", flush=True)
    if options.compile_to:
        return compile_all(work, options)
    folder = Path(tempfile.mkdtemp(prefix="library-check-", dir=options.out))
    results = check_all(work, options, seed, folder)
    if all(result.status == "passed" for result in results):
        shutil.rmtree(folder)
    return results


def as_json(result: Result) -> dict:
    """`result` for a JSON file, which has no infinity: a ratio that is not finite becomes null."""
    return {**asdict(result), "ratio": result.ratio if math.isfinite(result.ratio) else None}


def main(argv=None) -> int:
    options = parse_options(argv)
    if options.list:
        print(*(variant.name for variant in variants()), sep="\n")
        return 0
    seed = random.SystemRandom().randrange(2**31) if options.seed is None else options.seed
    start = time.monotonic()
    results = run(options, seed)
    print_table(results)
    print(f"{sum(r.calls for r in results)} calls in {time.monotonic() - start:.0f} s, seed {seed}")
    if options.json:
        options.json.write_text(json.dumps({"seed": seed, "results": [as_json(r) for r in results]}), encoding="utf-8")
    return 0 if results and all(result.status == "passed" for result in results) else 1


if __name__ == "__main__":
    sys.exit(main())
