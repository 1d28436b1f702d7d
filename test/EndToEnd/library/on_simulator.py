"""Compiles a variant to PTX and runs its calls on headrace-sim."""

from __future__ import annotations

import itertools
import re
import shutil
import time
import zlib
from pathlib import Path

import numpy as np
from sim_launch import compile_ptx

from library.case import QUICK_CALLS, Call, Variant
from library.result import Result
from library.simulator import Run, simulate

#: A persistent kernel launched for one processor takes many tiles in each program, for 132 one.
_PROCESSORS = (1, 2, 3, 132)
_POLICIES = ("early", "late", "reversed", "random")


def check(variant: Variant, target: str, options, seed: int, folder: Path) -> Result:
    """The result of a variant, in a folder of its own that stays after a failure."""
    result = Result(variant.name, target)
    start = time.monotonic()
    home = folder / f"{target}-{variant.name}"
    home.mkdir(parents=True)
    try:
        _check(variant, target, options, seed, home, result)
    except Exception as error:  # one variant must not end the others
        result.fail("crashed", f"{type(error).__name__}: {error}")
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
    rng = np.random.default_rng([seed, zlib.crc32(f"{target} {variant.name}".encode())])
    calls = itertools.islice(variant.launches(seed), QUICK_CALLS if options.quick else None)
    for number, call in enumerate(calls):
        folder = home / str(number)
        folder.mkdir()
        run = simulate(
            options.tools / "headrace-sim",
            kernel.with_suffix(".json"),
            call,
            _orders(options.orders, rng),
            options.seconds,
            folder,
        )
        result.calls += 1
        if _is_right(call, run, result):
            shutil.rmtree(folder)
            continue
        result.commands += [run.command] if result.commands else [compiled.command, run.command]
        if not options.all_calls:
            break


def _orders(count: int, rng: np.random.Generator) -> tuple[str, ...]:
    """One order of asynchronous operations drawn from all, or several of each sort."""
    order = f"--policy={rng.choice(_POLICIES)}" if count == 1 else f"--seeds={count}"
    return (order, f"--seed={rng.integers(2**31)}", f"--processors={rng.choice(_PROCESSORS)}", "--jobs=1")


def _is_right(call: Call, run: Run, result: Result) -> bool:
    """Whether the simulator found nothing and the numbers are right; if not, `result` has why."""
    if run.after is None:
        status = "slow" if run.status == "timeout" else "crashed"
        result.fail(status, f"{call.label}: simulator: {run.status}: {first_error(run.messages)}")
        return False
    verdict = call.judge(run.after)
    result.ratio = max(result.ratio, verdict.ratio)
    if run.status != "ok":
        result.fail("accused", f"{call.label}: {first_error(run.messages)}")
    if verdict.status != "ok":
        result.fail("wrong", f"{call.label}: {verdict.status}: {verdict.detail}")
    return run.status == verdict.status == "ok"


def first_error(messages: str) -> str:
    """The first message that is an error, without the path of the file."""
    lines = [line for line in messages.splitlines() if "error: " in line] or messages.splitlines()
    return re.sub(r"^\S*/(\S+?:\d+)", r"\1", lines[0]) if lines else "no message"
