"""Checks the library of kernels: compiles every variant for every target and runs it, on headrace-sim or on a GPU.

    python3 test/EndToEnd/library_check.py [--kernel PATTERN] [--target TARGET] [--quick] [--seed N] [--jobs N]
    python3 test/EndToEnd/library_check.py --compile-to FOLDER --target sm_90a
    python3 test/EndToEnd/library_check.py --gpu FOLDER

The first form runs everything on the simulator, with its checks for races and deadlocks. The other two are for a GPU:
one makes a cubin and a launch record of each variant and needs no GPU, the other runs what is in the folder and needs
torch and cuda-bindings, but no compiler. Inputs are fresh for each seed, which is printed; results are compared with
numpy's float64 within the bound that library/running_error.py derives from the types; outputs are poison before, and
what surrounds them must stay. A variant is "passed", "refused" (by the compiler, or the launcher), "wrong", "accused"
(by the simulator: a race, a deadlock, an access outside), "crashed" (a tool) or "slow" (no end in time). Exits with 1
unless all passed; --random, whose parameters may be out of reach of a target, allows refusals.
"""

from __future__ import annotations

import argparse
import fnmatch
import json
import os
import random
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from library import on_gpu, on_simulator
from library.case import TARGETS, Variant
from library.catalog import variants
from library.random_settings import random_variants
from library.result import Result, print_table

ROOT = Path(__file__).resolve().parents[2]


def chosen(variant: Variant, target: str, options) -> bool:
    """Whether the options ask for this variant on this target."""
    if options.kernel and not any(fnmatch.fnmatch(variant.name, pattern) for pattern in options.kernel):
        return False
    in_targets = target in (options.targets or TARGETS) and target in variant.targets
    return in_targets and (variant.in_quick or not options.quick)


def work_of(options, seed: int) -> list[tuple[Variant, str]]:
    """Variants and targets: all, those that lie in the folder for the GPU, or random ones."""
    everything = variants()
    if options.random:
        everything = random_variants(everything, options.random, random.Random(seed))
    if options.gpu:
        by_name = {variant.name: variant for variant in everything}
        pairs = [(by_name[name], target) for name, target in on_gpu.kernels(options.gpu)]
    else:
        pairs = [(variant, target) for variant in everything for target in TARGETS]
    return [pair for pair in pairs if chosen(*pair, options)]


def run(work: list[tuple[Variant, str]], options, seed: int) -> Iterator[Result]:
    """The results of the form of check that the options ask for."""
    if options.gpu:
        yield from on_gpu.run_all(work, options, seed)
    elif options.compile_to:
        options.compile_to.mkdir(parents=True, exist_ok=True)
        yield from _in_threads(lambda pair: on_gpu.compile_into(options.compile_to, *pair, options), work, options)
    else:
        folder = Path(tempfile.mkdtemp(prefix="library-check-", dir=options.out))
        yield from _in_threads(lambda pair: on_simulator.check(*pair, options, seed, folder), work, options)
        if not any(folder.iterdir()):
            shutil.rmtree(folder)


def _in_threads(one: Callable, work: list[tuple[Variant, str]], options) -> Iterator[Result]:
    with ThreadPoolExecutor(options.jobs) as pool:
        yield from pool.map(one, work)


def parse_options(argv=None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tools", type=Path, default=ROOT / "build" / "bin", help="folder of the tools")
    parser.add_argument("--kernel", action="append", metavar="PATTERN", help="only such variants; may be given again")
    parser.add_argument("--target", action="append", choices=TARGETS, dest="targets", help="only this; likewise")
    parser.add_argument("--quick", action="store_true", help="small tiles, two calls of each variant, one order")
    parser.add_argument("--orders", type=int, help="orders of asynchronous operations of a call (default 4, quick 1)")
    parser.add_argument("--all-calls", action="store_true", help="go on with a variant's calls after a failure")
    parser.add_argument("--seed", type=int, help="of inputs and orders (default: a fresh one, printed)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="variants at once (default %(default)s)")
    parser.add_argument("--seconds", type=float, default=120, help="a tool or a launch that takes longer hangs")
    parser.add_argument("--out", type=Path, help="folder for the files of failed variants (default: a temporary one)")
    parser.add_argument("--json", type=Path, help="where results go")
    parser.add_argument("--list", action="store_true", help="print the names of the variants and leave")
    parser.add_argument(
        "--random", type=int, metavar="N", help="N variants of each kernel with random parameters instead"
    )
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--compile-to", type=Path, metavar="FOLDER", help="only compile, for a GPU")
    where.add_argument("--gpu", type=Path, metavar="FOLDER", help="run the kernels of this folder on the GPU")
    parser.add_argument("--repeats", type=int, default=3, help="on a GPU, launches that must equal the first")
    options = parser.parse_args(argv)
    if options.random and (options.gpu or options.compile_to):
        parser.error("--random is for the simulator")
    options.orders = options.orders or (1 if options.quick else 4)
    return options


def main(argv=None) -> int:
    options = parse_options(argv)
    if options.list:
        print(*(variant.name for variant in variants()), sep="\n")
        return 0
    seed = random.SystemRandom().randrange(2**31) if options.seed is None else options.seed
    work = work_of(options, seed)
    print(f"seed {seed}, {len(work)} kernels", flush=True)
    start = time.monotonic()
    results = []
    for result in run(work, options, seed):
        results.append(result)
        print(result, flush=True)
    print_table(results)
    print(f"{sum(r.calls for r in results)} calls in {time.monotonic() - start:.0f} s, seed {seed}")
    if options.json:
        summary = {"seed": seed, "results": [result.as_json() for result in results]}
        options.json.write_text(json.dumps(summary), encoding="utf-8")
    fine = ("passed", "refused") if options.random else ("passed",)
    return 0 if results and all(result.status in fine for result in results) else 1


if __name__ == "__main__":
    sys.exit(main())
