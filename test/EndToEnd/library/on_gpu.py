"""Compiles variants into a folder, and runs the kernels of such a folder on a GPU in a child that may be killed."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from library.case import QUICK_CALLS, Variant
from library.on_simulator import first_error
from library.result import Result
from watchdog import Watchdog

_PYTHON = Path(__file__).resolve().parents[3] / "python"
#: Results of a launch that are not a wrong number.
_STATUSES = {"refused": "refused", "error": "crashed"}


def compile_into(folder: Path, variant: Variant, target: str, options) -> Result:
    """Makes TARGET-VARIANT.cubin, .json and .meta.json, of targets for later devices too .ptx. Needs ptxas."""
    result = Result(variant.name, target)
    start = time.monotonic()
    stem = str(folder / f"{target}-{variant.name}")
    command = [str(options.tools / "headrace-compile"), str(variant.path), f"--target={target}", *variant.options, "-o"]
    outputs = [f"{stem}.cubin"] if target.endswith("a") else [f"{stem}.ptx", f"{stem}.cubin"]
    for output in outputs:
        run = subprocess.run([*command, output], capture_output=True, text=True, errors="replace", check=False)
        if run.returncode:
            result.fail("refused" if run.returncode == 1 else "crashed", first_error(run.stderr), *command, output)
            break
        # ptxas spills registers, or takes wgmma one by one.
        result.detail = "\n".join(line for line in run.stderr.splitlines() if "warning" in line)
    else:
        meta = {"variant": variant.name, "target": target}
        Path(f"{stem}.meta.json").write_text(json.dumps(meta), encoding="utf-8")
    result.seconds = time.monotonic() - start
    return result


def _serve(connection, folder: str, seed: int) -> None:
    sys.path.insert(0, str(_PYTHON))
    from library.device import serve

    serve(connection, folder, seed)


def kernels(folder: Path) -> list[tuple[str, str]]:
    """The variant and the target of each kernel in the folder."""
    metas = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.meta.json"))]
    return [(meta["variant"], meta["target"]) for meta in metas]


def run_all(work: list[tuple[Variant, str]], options, seed: int, serve=_serve) -> Iterator[Result]:
    """The result of each pair, whose kernel lies in the folder `options.gpu`."""
    watchdog = Watchdog(serve, str(options.gpu), seed)
    try:
        for variant, target in work:
            yield _run(variant, target, options, seed, watchdog)
    finally:
        watchdog.stop()


def _run(variant: Variant, target: str, options, seed: int, watchdog: Watchdog) -> Result:
    result = Result(variant.name, target)
    start = time.monotonic()
    calls = itertools.islice(variant.launches(seed), QUICK_CALLS if options.quick else None)
    for number, call in enumerate(calls):
        request = (f"{target}-{variant.name}", variant.name, number, options.repeats)
        answer = watchdog.ask(request, options.seconds)
        result.calls += 1
        if answer.status != "answered":
            result.fail("slow" if answer.status == "hang" else "crashed", f"{call.label}: {answer.status}")
            break
        status, detail, ratio, is_lost = answer.value
        result.ratio = max(result.ratio, ratio)
        if status != "ok":
            result.fail(_STATUSES.get(status, "wrong"), f"{call.label}: {status}: {detail}")
        if is_lost:
            watchdog.stop()
            break
    result.seconds = time.monotonic() - start
    return result
