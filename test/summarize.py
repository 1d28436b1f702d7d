"""Runs the test suites of a build folder and adds up their results: lit, unit tests, and the Python tests.

    python3 test/summarize.py --build build [--suite lit --suite unit --suite python]

The last line is "N passed, N failed"; the exit code is 1 if anything failed. Results lie in BUILD/test-results.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass
from pathlib import Path

TESTS = Path(__file__).resolve().parent


@dataclass(frozen=True)
class Suite:
    """`command` writes its results, in JUnit's format, to `results`."""

    name: str
    command: list[str]
    results: Path


@dataclass(frozen=True)
class Counts:
    passed: int = 0
    failed: int = 0
    skipped: int = 0

    def __add__(self, other: Counts) -> Counts:
        return Counts(self.passed + other.passed, self.failed + other.failed, self.skipped + other.skipped)


def suites(build: Path) -> list[Suite]:
    """Every suite of a build folder."""
    folder = build / "test-results"
    folder.mkdir(parents=True, exist_ok=True)
    jobs = f"-j{os.cpu_count() or 1}"
    lit = shutil.which("lit-22") or "lit"

    pytest = (sys.executable, "-m", "pytest", "-q", "-n", "auto")

    def suite(name: str, *command: str, results_option: str) -> Suite:
        results = folder / f"{name}.xml"
        return Suite(name, [*command, results_option, str(results)], results)

    return [
        suite("lit", lit, "-s", "-v", jobs, str(build / "test"), results_option="--xunit-xml-output"),
        suite("unit", "ctest", "--test-dir", str(build), "--output-on-failure", jobs, results_option="--output-junit"),
        suite("python", *pytest, str(TESTS / "Python"), results_option="--junitxml"),
    ]


def count(results: Path) -> Counts:
    """The test cases of a JUnit file; none if there is no such file."""
    if not results.exists():
        return Counts()
    passed = failed = skipped = 0
    for case in ElementTree.parse(results).iter("testcase"):
        if case.find("failure") is not None or case.find("error") is not None:
            failed += 1
        elif case.find("skipped") is not None or case.get("status") in ("notrun", "disabled"):
            skipped += 1
        else:
            passed += 1
    return Counts(passed, failed, skipped)


def run(suite: Suite, build: Path) -> Counts:
    """Runs a suite. A suite that ends badly or runs no test, and has no failed case to show for it, counts as one."""
    suite.results.unlink(missing_ok=True)
    try:
        # The Python tests look there for the tools.
        code = subprocess.run(suite.command, env={**os.environ, "HEADRACE_TOOLS": str(build / "bin")}).returncode
    except OSError as error:
        print(f"{suite.name}: cannot run {suite.command[0]}: {error.strerror}")
        return Counts(failed=1)
    counts = count(suite.results)
    if counts.failed == 0 and (code != 0 or counts.passed == 0):
        print(f"{suite.name}: ended with exit code {code} after {counts.passed} passed tests")
        return counts + Counts(failed=1)
    return counts


def main() -> int:
    parser = argparse.ArgumentParser(description="Run the test suites and add up their results.")
    parser.add_argument("--build", type=Path, required=True, help="build folder")
    parser.add_argument("--suite", action="append", choices=("lit", "unit", "python"), help="only this one")
    options = parser.parse_args()
    build = options.build.resolve()
    total, lines = Counts(), []
    for suite in suites(build):
        if options.suite and suite.name not in options.suite:
            continue
        print(f"== {suite.name}", flush=True)
        start = time.monotonic()
        counts = run(suite, build)
        seconds = time.monotonic() - start
        lines.append(
            f"{suite.name:8}{counts.passed:6} passed{counts.failed:5} failed{counts.skipped:5} skipped{seconds:7.1f} s"
        )
        total += counts
    print("==", *lines, sep="\n")
    print(f"{total.passed} passed, {total.failed} failed", flush=True)
    return 1 if total.failed else 0


if __name__ == "__main__":
    sys.exit(main())
