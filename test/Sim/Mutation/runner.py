"""Runs kernels on the simulator, intact and broken, and says what came of each."""

from __future__ import annotations

import json
import re
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from mutations import Mutant

from kernels import Kernel, compile_kernel, write_arrays
from ptx import Ptx

_KIND = re.compile(r"\berror: .*\[([a-z-]+)\]$", re.MULTILINE)
# In turn, until one finds the fault: (policy, seed, columns that the last tile lacks). Races do not depend on the order
# of a run, what a wrong value leads to may. Ragged results take the epilogue without TMA and its thread barriers. In
# random orders a warp may be slower than others by any factor.
ORDERS = (
    *(("random", 1, 0), ("late", 0, 0), ("random", 1, 4), ("early", 0, 0), ("late", 0, 4)),
    *(("random", seed, 0) for seed in range(2, 16)),
)
_TIME_LIMIT = 20  # seconds of one run; a mutant may poll for ever


@dataclass
class Run:
    """One run: the kinds found, whether the output was right, and the messages."""

    kinds: set[str]
    right: bool
    messages: str
    ran: bool


@dataclass
class Outcome:
    """What became of a mutant. `verdict`: caught, other-kind, wrong-output, missed or invalid."""

    kernel: str
    mutant: Mutant
    verdict: str
    kinds: list[str] = field(default_factory=list)
    messages: str = ""
    equivalent: str | None = None


class Simulation:
    """A compiled kernel with its data."""

    def __init__(self, kernel: Kernel, tools: Path, folder: Path):
        self.kernel, self.tools, self.folder = kernel, tools, folder
        self.record = compile_kernel(kernel, tools, folder)
        self.expected = write_arrays(kernel, folder, seed=0)
        self.text = self.record.with_suffix(".ptx").read_text(encoding="utf-8")
        self.ptx = Ptx(self.text, json.loads(self.record.read_text(encoding="utf-8")))

    def run(self, text: str, policy: str, seed: int, missing: int) -> Run:
        """Runs a text of the kernel as one program on one processor, on N - `missing` columns."""
        base = self.folder / self.kernel.name
        broken, output = Path(f"{base}.broken.ptx"), Path(f"{base}.C.npy")
        broken.write_text(text, encoding="utf-8")
        output.unlink(missing_ok=True)
        columns = self.kernel.problem[1] - missing
        command = [self.tools / "headrace-sim", self.record, f"--ptx={broken}", "--processors=1", "--jobs=1"]
        b_part = f"[:{columns},:]" if self.kernel.transposed_b else f"[:,:{columns}]"
        command += ["--arg", f"A={base}.A.npy", "--arg", f"B={base}.B.npy{b_part}"]
        command += ["--arg", f"C={base}.poison.npy[:,:{columns}]"]
        command += ["--out", f"C={output}", f"--policy={policy}", f"--seed={seed}", f"--time-limit={_TIME_LIMIT}"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=6 * _TIME_LIMIT, check=False)
        messages = done.stdout + done.stderr
        kinds = set(_KIND.findall(messages))
        right = output.exists() and np.array_equal(np.load(output), self.expected[:, :columns])
        return Run(kinds, right, messages, done.returncode == 0 or bool(kinds))

    def accusations(self, quick: bool) -> list[str]:
        """What is said against the kernel as it is, in every order, or the first of them."""
        result = []
        for policy, seed, missing in (*ORDERS[: 5 if quick else None], ("reversed", 0, 0)):
            run = self.run(self.text, policy, seed, missing)
            if run.kinds or not run.right or not run.ran:
                result.append(
                    f"{self.kernel.name}, {policy} {seed}: {(run.messages or 'wrong output').splitlines()[0]}"
                )
        return result

    def try_mutant(self, mutant: Mutant) -> Outcome:
        """Runs a mutant in one order after another until a finding of an acceptable kind is reported."""
        outcome = Outcome(self.kernel.name, mutant, "missed")
        found: set[str] = set()
        for order in ORDERS:
            run = self.run(mutant.text, *order)
            outcome.messages = run.messages or outcome.messages
            kinds = run.kinds | (set() if run.right else {"wrong-output"})
            found |= kinds
            outcome.kinds = sorted(found)
            if not run.ran:
                outcome.verdict = "invalid"
                return outcome
            if kinds & mutant.kinds:
                outcome.verdict = "caught"
                return outcome
            if found:
                outcome.verdict = "wrong-output" if found == {"wrong-output"} else "other-kind"
        return outcome
