"""Random tile programs: many of them, and what a run must be able to tell apart.

They are the same ones each time, so that a change is judged by what it does; test/Random/run_random.py --seed fresh
looks for others. HEADRACE_RANDOM_SEED names another seed, HEADRACE_RANDOM_PROGRAMS another number of programs.
"""

import os
import random
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
TOOLS = Path(os.environ.get("HEADRACE_TOOLS", ROOT / "build" / "bin"))
sys.path.insert(0, str(ROOT / "test" / "Random"))

import checking  # noqa: E402
import features  # noqa: E402
import launches  # noqa: E402
import run_random  # noqa: E402
import shrinking  # noqa: E402
from generator import generate  # noqa: E402

PROGRAMS = int(os.environ.get("HEADRACE_RANDOM_PROGRAMS", "2000"))
#: Programs of a test.
GROUP = 25
#: Failures after which a test stops.
ENOUGH = 3
SEED = os.environ.get("HEADRACE_RANDOM_SEED", "headrace")

pytestmark = pytest.mark.skipif(not (TOOLS / "headrace-sim").exists(), reason=f"no headrace-sim in {TOOLS}")


def options(tmp_path, *more):
    return run_random.parse_options(["--tools", str(TOOLS), "--out", str(tmp_path), "--targets", "sm_90a", *more])


def small_program():
    """A short program that passes."""
    return generate("small", features.parse("none,load=1,elementwise=2"), 3)


def test_programs_are_legal():
    """Every feature at once: headrace-opt takes what the generator draws."""
    for i in range(15):
        text = str(generate(f"legal-{i}", features.parse("all")))
        run = subprocess.run([TOOLS / "headrace-opt", "-"], input=text, capture_output=True, text=True, check=False)
        assert run.returncode == 0, f"{run.stderr}\n{text}"


def test_equal_seeds_give_equal_programs():
    weights = features.parse("all")
    assert str(generate("a", weights)) == str(generate("a", weights)) != str(generate("b", weights))


def test_passes_right_program(tmp_path):
    result = checking.check(small_program(), "sm_90a", options(tmp_path), tmp_path)
    assert (result.status, result.signature) == ("passed", "")


def test_passes_column_major_arrays(tmp_path):
    """Which the simulator gets as row-major files, and a record that says so."""
    program = generate("columns", features.parse("none,load=1,elementwise=2,column-major=100,tensor-core=100"), 3)
    assert "strided<[1, ?]>" in str(program)
    result = checking.check(program, "sm_90a", options(tmp_path), tmp_path)
    assert (result.status, result.signature) == ("passed", "")


def test_programs_are_spread_over_targets(tmp_path):
    settings = options(tmp_path, "--one-target", "--targets", "sm_80,sm_90a,sm_100a")
    count = Counter(target for i in range(1000) for target in checking.targets_of(str(i), settings))
    assert sum(count.values()) == 1000
    assert all(count[target] > 250 for target in settings.targets)
    assert all(10 < count[target] < 100 for target in ("sm_75", "sm_120a"))


def test_tells_wrong_numbers(tmp_path, monkeypatch):
    expected = checking.expected_outputs

    def one_more(kernel, launch):
        outputs = expected(kernel, launch)
        for storage in outputs.values():
            storage.view[...] += storage.view.dtype.type(1)
        return outputs

    monkeypatch.setattr(checking, "expected_outputs", one_more)
    result = checking.check(small_program(), "sm_90a", options(tmp_path), tmp_path)
    assert result.status == "wrong numbers"
    assert len(result.commands) == 2


def test_tells_refusals_from_crashes(tmp_path):
    program = small_program()
    program.attributes["warps"] = 64
    result = checking.check(program, "sm_90a", options(tmp_path), tmp_path)
    assert (result.status, result.signature) == (
        "refused",
        "'..' op expected at most N warps, got N",
    )


def test_tells_writes_outside():
    program = small_program()
    launch = launches.make_launch(program, random.Random(1), largest=True)
    storage = launch.outputs()[0]
    got = storage.whole.copy()
    assert launches.difference(storage, got) == ""
    got.reshape(-1)[0] = np.float32(1).astype(got.dtype)
    assert launches.difference(storage, got) == "1 elements written outside"


def test_shrinks_to_what_matters(tmp_path):
    """Of a large program all that a store of bf16 needs is left."""
    weights = features.parse("")
    program = next(p for i in range(50) if "xbf16>, memref" in str(p := generate(f"shrink-{i}", weights, 8)))
    small = shrinking.shrink(program, lambda p: any(_stores_bf16(line) for line in str(p).split("\n")), 20)
    assert len(str(small)) < 900
    run = subprocess.run([TOOLS / "headrace-opt", "-"], input=str(small), capture_output=True, text=True, check=False)
    assert run.returncode == 0, f"{run.stderr}\n{small}"


def _stores_bf16(line):
    return "tile.store" in line and "bf16" in line


@pytest.mark.parametrize("group", range(-(-PROGRAMS // GROUP)))
def test_random_programs_compute_what_the_interpreter_does(tmp_path, group):
    """Each program for one target that its seed chooses; the three main ones in turn, the others now and then."""
    settings = run_random.parse_options(
        ["--tools", str(TOOLS), "--out", str(tmp_path), "--one-target", "--shrink-seconds", "30"]
    )
    seeds = [f"{SEED}-{i}" for i in range(group * GROUP, min((group + 1) * GROUP, PROGRAMS))]
    failed = []
    for start in range(0, len(seeds), run_random.GROUP):
        reports = checking.check_seeds(seeds[start : start + run_random.GROUP], settings)
        failed += [checking.described(report, settings) for report in reports if report.failed]
        if len(failed) >= ENOUGH:
            break
    assert not failed, f"HEADRACE_RANDOM_SEED={SEED}\n" + "\n\n".join(failed)
