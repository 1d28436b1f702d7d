"""The tools of a build, for tests that need them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
_BUILD = ROOT / "build" / "bin"
_VARIABLES = {"headrace-compile": "HEADRACE_COMPILE", "headrace-sim": "HEADRACE_SIM"}


def use_tools(monkeypatch, tmp_path) -> None:
    """Points the package to the build's tools, and its cache to a folder of the test's own; skips without a build."""
    for name, variable in _VARIABLES.items():
        if not os.environ.get(variable):
            if not (_BUILD / name).exists():
                pytest.skip(f"{name} is not built")
            monkeypatch.setenv(variable, str(_BUILD / name))
    monkeypatch.setenv("HEADRACE_CACHE", str(tmp_path / "cache"))


def opt() -> Path:
    """headrace-opt; skips without a build."""
    path = Path(os.environ.get("HEADRACE_OPT", _BUILD / "headrace-opt"))
    if not path.exists():
        pytest.skip("headrace-opt is not built")
    return path
