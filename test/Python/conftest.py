"""Makes the package and the helpers of the end-to-end tests importable from a checkout."""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "python"), str(ROOT / "test" / "EndToEnd"), str(ROOT / "python" / "benchmarks")]
