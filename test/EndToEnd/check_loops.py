"""Compiles the loop cases, or runs compiled ones on a GPU.

    python3 test/EndToEnd/check_loops.py compile FOLDER [--compiler build/bin/headrace-compile]
    python3 test/EndToEnd/check_loops.py run FOLDER [--repeats 100]

`run` prints one line for each kernel and exits with 1 if a value differs. Results are compared bit for bit: the data
are integers, or the arithmetic is one addition.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

import numpy as np
from loop_cases import CASES, STAGES, TARGETS, Call


def compile_all(folder: Path, compiler: str) -> int:
    """Every case for every target and number of stages."""
    folder.mkdir(parents=True, exist_ok=True)
    failed = 0
    for case in CASES:
        for target in TARGETS:
            for stages in STAGES:
                path = folder / f"{case.name}-{target}-s{stages}.mlir"
                path.write_text(case.source(stages), encoding="utf-8")
                command = [compiler, str(path), f"--target={target}", "--emit=ptx", "-o", str(path.with_suffix(".ptx"))]
                run = subprocess.run(command, capture_output=True, text=True, check=False)
                if run.returncode:
                    failed += 1
                    print(f"{path.stem}: exit code {run.returncode}\n{run.stderr}", file=sys.stderr)
    print(f"{len(CASES) * len(TARGETS) * len(STAGES) - failed} compiled, {failed} refused")
    return 1 if failed else 0


def run_call(kernel, call: Call) -> str:
    """Empty if the output is right, else what differs."""
    import torch

    def to_gpu(value):
        if isinstance(value, tuple):
            return torch.from_numpy(np.ascontiguousarray(value[1])).to("cuda", torch.bfloat16)
        return torch.from_numpy(value.copy()).cuda() if isinstance(value, np.ndarray) else value

    args = [to_gpu(value) for value in call.args]
    kernel(*args)
    torch.cuda.synchronize()
    got = args[call.output].float().cpu().numpy()
    wrong = np.argwhere(got != call.expected.astype(np.float32))
    if not len(wrong):
        return ""
    place = tuple(wrong[0])
    return f"{call.label}: {len(wrong)} wrong, first at {place}: expected {call.expected[place]}, got {got[place]}"


def run_all(folder: Path, repeats: int) -> int:
    """Runs every call of every kernel `repeats` times with fresh inputs."""
    from headrace import Kernel

    seed = int.from_bytes(np.random.SeedSequence().generate_state(1).tobytes(), "little")
    print(f"seed {seed}")
    failed = total = 0
    for case in CASES:
        for record in sorted(folder.glob(f"{case.name}-*.json")):
            kernel, errors, ran = Kernel(record), [], 0
            rng = np.random.default_rng(seed)
            for _ in range(repeats):
                for call in case.calls(rng):
                    ran += 1
                    if error := run_call(kernel, call):
                        errors.append(error)
            total += ran
            failed += len(errors)
            print(f"{record.stem}: {ran - len(errors)} of {ran} right" + (f"; {errors[0]}" if errors else ""))
    print(f"{total - failed} passed, {failed} failed")
    return 1 if failed or not total else 0


def main() -> int:
    """See the module's docstring."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=("compile", "run"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("--compiler", default="build/bin/headrace-compile")
    parser.add_argument("--repeats", type=int, default=10)
    arguments = parser.parse_args()
    if arguments.action == "compile":
        return compile_all(arguments.folder, arguments.compiler)
    return run_all(arguments.folder, arguments.repeats)


if __name__ == "__main__":
    sys.exit(main())
