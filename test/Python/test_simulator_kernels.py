"""The check of kernels on the simulator: what it rejects, and runs of all that must find nothing on any target."""

import dataclasses
import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
import sim_check
from sim_kernels import TARGETS, kernels

ROOT = Path(__file__).resolve().parents[2]
TOOLS = Path(os.environ.get("HEADRACE_TOOLS", ROOT / "build" / "bin"))

pytestmark = pytest.mark.skipif(not (TOOLS / "headrace-sim").exists(), reason=f"no headrace-sim in {TOOLS}")


def check(name, tmp_path, **changes):
    """The result of one kernel with `changes`."""
    kernel = next(kernel for kernel in kernels() if kernel.name == name)
    options = sim_check.parse_options(["--tools", str(TOOLS), "--quick"])
    return sim_check.check(dataclasses.replace(kernel, **changes), options, 7, tmp_path)


def test_accepts_right_kernel(tmp_path):
    result = check("sm_80-copy-small_slots", tmp_path)
    assert (result.status, result.detail, result.runs) == ("passed", "", 5)
    assert not list(tmp_path.iterdir())


def test_rejects_unwritten_elements(tmp_path):
    source = next(kernel for kernel in kernels() if kernel.name == "sm_80-copy-filled").source
    shorter = source.replace("%c0 = arith.constant 0", "%c0 = arith.constant 128")
    result = check("sm_80-copy-filled", tmp_path, source=shorter)
    assert result.status == "failed"
    first = "128 to 128 elements, 1 trips: unwritten: 128 of 128 wrong (128 as before), within (0,)..(127,); at (0,)"
    assert result.detail.startswith(f"{first} expected ")
    assert [Path(command.split()[0]).name for command in result.commands[:2]] == ["headrace-compile", "headrace-sim"]


def test_rejects_finding_of_the_simulator(tmp_path, monkeypatch):
    compile_ptx = sim_check.compile_ptx

    def without_waits(*args):
        outcome = compile_ptx(*args)
        ptx = args[4].with_suffix(".ptx")
        ptx.write_text(ptx.read_text().replace("cp.async.wait_group", "// cp.async.wait_group"))
        return outcome

    monkeypatch.setattr(sim_check, "compile_ptx", without_waits)
    result = check("sm_80-copy-small_slots", tmp_path)
    assert result.status == "failed"
    assert "128 to 128 elements, 4 trips: simulator: " in result.detail
    assert "[read-before-landed]" in result.detail


def test_rejects_refusal_of_kernel_that_must_compile(tmp_path):
    result = check("sm_80-copy-filled", tmp_path, source="tile.kernel @filled() { tile.return")
    assert result.status == "failed"
    assert result.detail.startswith("compiler: refused: kernel.mlir:1:")


def test_counts_refusal_of_other_kernels(tmp_path):
    result = check("sm_75-TN-e4m3-bf16-128x64x64-s3-wsauto-a16", tmp_path)
    assert result.status == "refused"
    assert result.detail.startswith("compiler: refused: kernel.mlir:")


@pytest.mark.parametrize("target", TARGETS)
def test_kernels_are_right_and_without_findings(target, tmp_path):
    """Every kernel of every set, on fresh shapes, in one order of its asynchronous operations."""
    results = tmp_path / "results.json"
    command = [sys.executable, str(ROOT / "test" / "EndToEnd" / "sim_check.py"), "--tools", str(TOOLS)]
    command += ["--target", target, "--orders", "1", "--runs", "1", "--jobs", "1"]
    command += ["--out", str(tmp_path), "--json", str(results)]
    run = subprocess.run(command, capture_output=True, text=True)
    print(run.stdout)
    assert run.returncode == 0, run.stdout + run.stderr
    count = Counter(result["status"] for result in json.loads(results.read_text(encoding="utf-8"))["results"])
    everything = sum(kernel.target == target for kernel in kernels())
    assert count["passed"] + count["refused"] == everything, count
    assert count["passed"] > count["refused"], count
