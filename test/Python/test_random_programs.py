"""Random tile programs: a short run, and what the run must be able to tell apart."""

import os
import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
TOOLS = Path(os.environ.get("HEADRACE_TOOLS", ROOT / "build" / "bin"))
sys.path.insert(0, str(ROOT / "test" / "Random"))

import features  # noqa: E402
import launches  # noqa: E402
import run_random  # noqa: E402
import shrinking  # noqa: E402
from generator import generate  # noqa: E402

#: Seconds in which the short run starts new programs: all of this file is to take less than a minute.
BUDGET_SECONDS = 12

pytestmark = pytest.mark.skipif(not (TOOLS / "headrace-sim").exists(), reason=f"no headrace-sim in {TOOLS}")


def options(tmp_path):
    return run_random.parse_options(["--tools", str(TOOLS), "--out", str(tmp_path), "--targets", "sm_90a"])


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
    result = run_random.check(small_program(), "sm_90a", options(tmp_path), tmp_path)
    assert (result.status, result.signature) == ("passed", "")


def test_tells_wrong_numbers(tmp_path, monkeypatch):
    expected = run_random.expected_outputs

    def one_more(kernel, launch):
        outputs = expected(kernel, launch)
        for storage in outputs.values():
            storage.view[...] += storage.view.dtype.type(1)
        return outputs

    monkeypatch.setattr(run_random, "expected_outputs", one_more)
    result = run_random.check(small_program(), "sm_90a", options(tmp_path), tmp_path)
    assert result.status == "wrong numbers"
    assert len(result.commands) == 2


def test_tells_refusals_from_crashes(tmp_path):
    program = small_program()
    program.attributes["warps"] = 64
    result = run_random.check(program, "sm_90a", options(tmp_path), tmp_path)
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


def test_random_programs_compute_what_the_interpreter_does(tmp_path):
    command = [sys.executable, str(ROOT / "test" / "Random" / "run_random.py"), "--count", "12", "--seed", "1"]
    command += ["--tools", str(TOOLS), "--out", str(tmp_path), "--budget-seconds", str(BUDGET_SECONDS)]
    run = subprocess.run([*command, "--shrink-seconds", "0"], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
