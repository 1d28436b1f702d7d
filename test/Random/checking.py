"""One program: compiled and run for its targets, compared with the interpreter, kept and made smaller if it fails."""

from __future__ import annotations

import argparse
import hashlib
import random
import shlex
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from generator import generate
from launches import Launch, Storage, expected_outputs, interpreter, make_launch
from program_tree import Program
from running import FAILURES, PASSED, WRONG, Result, Settings, compile_program, simulate
from shrinking import shrink

#: Of a program that is being shrunk, rounding may differ: only differences above this part of the largest number count.
_SLACK = 2.0**-5
#: Of programs that go to one target each, so many in a hundred go to a rare one.
_RARE = 8


class Reference:
    """What the interpreter makes of a program. A run is computed when it is first asked for, for all targets."""

    def __init__(self, program: Program, kernel: interpreter.Program):
        self.program, self._kernel = program, kernel
        self._runs: dict[int, tuple[Launch, dict[str, Storage]]] = {}

    @property
    def runs(self) -> int:
        """A second run is for other numbers of the caller's choice, which steer the program."""
        return 1 + any(len(scalar.choices) > 1 for scalar in self.program.scalars)

    def run(self, number: int) -> tuple[Launch, dict[str, Storage]]:
        """The arguments of a run, and the outputs that they lead to. Raises InterpreterError."""
        if number not in self._runs:
            rng = random.Random(f"{self.program.seed} {number}")
            launch = make_launch(self.program, rng, largest=number == 0)
            self._runs[number] = launch, expected_outputs(self._kernel, launch)
        return self._runs[number]


@dataclass
class Report:
    """A result for each target; `invalid` is a fault of the generator or of the interpreter."""

    seed: str
    results: dict[str, Result] = field(default_factory=dict)
    invalid: str = ""

    def failures(self) -> dict[str, Result]:
        return {target: result for target, result in self.results.items() if result.status in FAILURES}

    @property
    def failed(self) -> bool:
        return bool(self.invalid or self.failures())


def targets_of(seed: str, options: argparse.Namespace) -> list[str]:
    """All targets, or the one that the seed chooses."""
    if not options.one_target:
        return options.targets
    rng = random.Random(f"{seed} target")
    return [
        rng.choice(options.rare_targets if options.rare_targets and rng.random() * 100 < _RARE else options.targets)
    ]


def check(program: Program, target: str, options: argparse.Namespace, folder: Path, slack: float = 0.0) -> Result:
    """Compiles and runs a program for one target. Raises InterpreterError."""
    return _check(program, None, target, options, folder, slack)


def check_seeds(seeds: Sequence[str], options: argparse.Namespace) -> list[Report]:
    """One program for each seed."""
    programs = [generate(seed, options.weights, options.operations) for seed in seeds]
    try:
        kernels = interpreter.load_all([str(p) for p in programs], opt=str(options.tools / "headrace-opt"))
    except interpreter.InterpreterError:  # of one of them: `_check` finds out which
        kernels = [None] * len(programs)
    return [
        _check_program(program, kernel and Reference(program, kernel), options)
        for program, kernel in zip(programs, kernels, strict=True)
    ]


def _check(
    program: Program,
    reference: Reference | None,
    target: str,
    options: argparse.Namespace,
    folder: Path,
    slack: float = 0.0,
) -> Result:
    """Without a `reference` one is made, once the compiler has taken the program."""
    rng = random.Random(f"{program.seed} {target}")
    settings = Settings(options.tools, options.seconds)
    compiled = compile_program(program, target, settings, folder)
    if compiled.status != PASSED:
        return compiled
    if reference is None:
        opt = str(options.tools / "headrace-opt")
        reference = Reference(program, interpreter.load(str(program), opt=opt))
    for run in range(reference.runs):
        launch, expected = reference.run(run)
        orders = (f"--policy={rng.choice(['early', 'late', 'reversed', 'random'])}", f"--seed={rng.randrange(1000)}",
                  f"--processors={rng.choice([1, 2, 132])}", "--jobs=1")  # fmt: skip
        result = simulate(launch, expected, settings, orders, folder, slack)
        result.commands = compiled.commands + result.commands
        if result.status != PASSED:
            break
    return result


def _check_program(program: Program, reference: Reference | None, options: argparse.Namespace) -> Report:
    """All targets of a program; what fails stays in a folder named for the seed."""
    report = Report(program.seed)
    for target in targets_of(program.seed, options):
        folder = folder_of(program.seed, target, options)
        folder.mkdir(parents=True, exist_ok=True)
        try:
            result = _check(program, reference, target, options, folder)
        except interpreter.InterpreterError as error:
            report.invalid = str(error)
            (folder / "kernel.mlir").write_text(str(program), encoding="utf-8")
            return report
        report.results[target] = result
        if result.status not in FAILURES:
            shutil.rmtree(folder)
            continue
        _write_why(folder, result)
        if options.shrink_seconds and _is_new(result, options.out):
            _shrink(program, target, result, options, folder / "small")
    return report


def folder_of(seed: str, target: str, options: argparse.Namespace) -> Path:
    """Where a program lies that failed."""
    return options.out / f"{seed}-{target}"


def described(report: Report, options: argparse.Namespace) -> str:
    """All that is to be known of a program that failed: why, how to make it again, and its smallest form."""
    if report.invalid:
        return f"invalid program {report.seed}: {report.invalid}\nagain: {again(report.seed, '', options)}"
    parts = []
    for target, result in report.failures().items():
        parts.append(f"program {report.seed} for {target}: {result.status}: {result.signature}\n{result.message}")
        parts.append(f"again: {again(report.seed, target, options)}")
        folder = folder_of(report.seed, target, options)
        small = folder / "small"
        parts += [(each / "kernel.mlir").read_text() for each in (small if small.exists() else folder,)]
        if small.exists():
            parts.append((small / "why.txt").read_text())
    return "\n".join(parts)


def again(seed: str, target: str, options: argparse.Namespace) -> str:
    """The command that makes a program again and runs it."""
    command = ["python3", "test/Random/run_random.py", "--only", seed]
    command += ["--targets", target] if target else []
    command += ["--features", options.features] if options.features else []
    command += ["--operations", str(options.operations)] if options.operations else []
    return shlex.join(command)


def _write_why(folder: Path, result: Result) -> None:
    (folder / "why.txt").write_text("\n\n".join([result.status, result.message, *result.commands]) + "\n")


def _is_new(result: Result, out: Path) -> bool:
    """Whether nobody has shrunk a failure of this sort yet; wrong numbers have no sorts."""
    if result.status == WRONG:
        return True
    try:
        digest = hashlib.sha256(f"{result.status} {result.signature}".encode()).hexdigest()[:12]
        (out / f"shrunk-{digest}").touch(exist_ok=False)
    except FileExistsError:
        return False
    return True


def _shrink(program: Program, target: str, first: Result, options: argparse.Namespace, folder: Path) -> None:
    folder.mkdir(exist_ok=True)

    def fails(candidate: Program) -> bool:
        try:
            result = check(candidate, target, options, folder, _SLACK)
        except interpreter.InterpreterError:
            return False
        return (result.status, result.signature) == (first.status, first.signature)

    small = shrink(program, fails, options.shrink_seconds)
    _write_why(folder, check(small, target, options, folder))
