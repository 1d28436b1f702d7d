"""A short run of the fuzzer: bad input is refused with a message, never by a crash."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TOOLS = Path(os.environ.get("HEADRACE_TOOLS", ROOT / "build" / "bin"))


@pytest.mark.skipif(not (TOOLS / "headrace-opt").exists(), reason=f"no headrace-opt in {TOOLS}")
def test_mutated_programs_are_refused_politely(tmp_path):
    command = [sys.executable, str(ROOT / "test" / "Fuzz" / "run_fuzz.py"), "--count", "300", "--seed", "7"]
    command += ["--jobs", str(os.cpu_count() or 2), "--tools", str(TOOLS), "--out", str(tmp_path)]
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr
