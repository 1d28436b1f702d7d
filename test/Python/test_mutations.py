"""A sample of broken kernels: headrace-sim catches each of them, and accuses none of the kernels as they are."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("ml_dtypes")

ROOT = Path(__file__).resolve().parents[2]
TOOLS = Path(os.environ.get("HEADRACE_TOOLS", ROOT / "build" / "bin"))


@pytest.mark.skipif(not (TOOLS / "headrace-sim").exists(), reason=f"no headrace-sim in {TOOLS}")
def test_sampled_mutants_are_caught_and_kernels_are_not_accused():
    script = ROOT / "test" / "Sim" / "Mutation" / "mutate_kernels.py"
    result = subprocess.run([sys.executable, script, "--quick", "--tools", TOOLS], capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr
