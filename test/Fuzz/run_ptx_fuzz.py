"""Runs mutated PTX and launch records through headrace-sim and checks that it neither crashes nor hangs.

    python3 test/Fuzz/run_ptx_fuzz.py --count 10000 --seed 1 --jobs 2 --tools build/bin --out fuzz-out

The PTX is what headrace-compile emits for examples/gemm.mlir, for several targets and tiles. Each run has tiny
matrices, one host thread, a time limit of 2 s, and limits on memory. Allowed: exit codes 0, 1 and 2, within the time
limit and 3 s more; with exit code 1, "error:" on standard error. A run that reaches the time limit must say so. Each
failure is kept: NAME.ptx, NAME.json and NAME.log, whose first line is the command.
"""

from __future__ import annotations

import argparse
import collections
import concurrent.futures
import json
import os
import random
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from mutate_ptx import PtxMutator, mutate_record

REPOSITORY = Path(__file__).resolve().parents[2]

CLEAN, FOUND, REFUSED, LIMIT, CRASH, HANG, SILENT = ("clean", "found", "refused", "limit", "CRASH", "HANG", "SILENT")
FAILURES = [CRASH, HANG, SILENT]

TIME_LIMIT = 2
GRACE_SECONDS = 3  # CPU time: the machine may do other things too
WALL_SECONDS = 60
MEMORY_BYTES = 2 << 30
ARRAYS = {"A": "40x40", "B": "24x40", "C": "40x24"}

_TARGETS = {
    "sm_75": [{"BM": 32, "BN": 32, "BK": 32}, {"BM": 64, "BN": 32, "BK": 32, "STAGES": 2}],
    "sm_80": [{"BM": 32, "BN": 32, "BK": 32}, {"BM": 64, "BN": 32, "BK": 16, "STAGES": 3}],
    "sm_89": [{"BM": 32, "BN": 32, "BK": 32, "STAGES": 4}],
    "sm_90a": [
        {"BM": 64, "BN": 32, "BK": 32},
        {"BM": 64, "BN": 32, "BK": 32, "SPECIALIZE": "off"},
        {"BM": 128, "BN": 32, "BK": 64, "STAGES": 2},
        {"BM": 64, "BN": 32, "BK": 32, "ALIGN": 2},
    ],
    "sm_100a": [{"BM": 128, "BN": 32, "BK": 32}, {"BM": 128, "BN": 64, "BK": 64, "STAGES": 2}],
    "sm_120a": [{"BM": 64, "BN": 32, "BK": 32}, {"BM": 32, "BN": 32, "BK": 32, "SPECIALIZE": "off"}],
}

_CRASH_TEXT = re.compile(
    r"Assertion|LLVM ERROR|Stack dump|PLEASE submit a bug|UNREACHABLE|AddressSanitizer|runtime error:|terminate called"
)


@dataclass
class Case:
    """One run: a program, its record, and the seed of the simulator's order."""

    ptx: str
    record: str
    seed: int


@dataclass
class Result:
    kind: str
    case: Case
    signature: str = ""
    log: str = ""
    seconds: float = 0


def compile_seeds(tools: Path) -> list[tuple[str, str, dict]]:
    """(name, PTX, record) of every kernel that the compiler makes."""
    seeds = []
    with tempfile.TemporaryDirectory(prefix="headrace-fuzz-") as directory:
        for target, variants in _TARGETS.items():
            for number, knobs in enumerate(variants):
                path = Path(directory) / f"{target}-{number}.ptx"
                command = [str(tools / "headrace-compile"), str(REPOSITORY / "examples" / "gemm.mlir")]
                command += [f"--target={target}", "--emit=ptx", "-o", str(path)]
                command.append("--set=" + ",".join(f"{name}={value}" for name, value in knobs.items()))
                run = subprocess.run(command, capture_output=True, text=True, check=False)
                if run.returncode:
                    print(f"not a seed, {path.stem}: {run.stderr.splitlines()[0]}", file=sys.stderr)
                    continue
                record = json.loads(path.with_suffix(".json").read_text())
                seeds.append((path.stem, path.read_text(), record))
    return seeds


class Drawer:
    """Draws cases; the same seed gives the same sequence."""

    def __init__(self, seeds, seed: int):
        self.seeds, self.rng = seeds, random.Random(seed)
        words = {word for _, text, _ in seeds for word in re.findall(r"[.%@$]?[\w:]+|[^\s\w]", text)}
        self.mutator = PtxMutator(self.rng, sorted(words))

    def draw(self) -> Case:
        _, text, record = self.rng.choice(self.seeds)
        both = self.rng.random()
        if both < 0.9:
            text = self.mutator.mutate(text)
        if both > 0.8:
            record = mutate_record(record, self.rng)
        body = json.dumps(record)
        if self.rng.random() < 0.01:
            at = self.rng.randrange(len(body))
            body = body[:at] + self.rng.choice(("", "[" * 10000, "\\ud800", '"', "1e999")) + body[at + 1 :]
        return Case(text, body, self.rng.randrange(1000))


class Runner:
    """Runs cases on headrace-sim."""

    def __init__(self, tool: Path, memory: int):
        self.tool, self.memory = tool, memory

    def command(self, record: Path, case: Case) -> list[str]:
        command = [str(self.tool), str(record), f"--ptx={record.with_suffix('.ptx')}", "--jobs=1"]
        command += [f"--time-limit={TIME_LIMIT}", f"--seed={case.seed}"]
        for name, shape in ARRAYS.items():
            command += ["--arg", f"{name}=new:{shape}"]
        return command

    def run(self, case: Case) -> Result:
        with tempfile.TemporaryDirectory(prefix="headrace-fuzz-") as directory:
            record = Path(directory) / "in.json"
            write_case(case, record)
            start = time.monotonic()
            code, log = self._execute(self.command(record, case), directory)
            seconds = time.monotonic() - start
        kind = classify(code, log)
        return Result(kind, case, _signature(code, log) if kind in FAILURES else "", log, seconds)

    def _execute(self, command: list[str], directory: str) -> tuple[int | None, str]:
        """(exit code or None if it hung, standard error)."""
        settings = {"LLVM_DISABLE_SYMBOLIZATION": "1", "TMPDIR": directory, "MALLOC_PERTURB_": "165"}
        with open(Path(directory) / "stderr", "w+b") as stderr:
            child = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=stderr,
                env={**os.environ, **settings},
                cwd=directory,
                preexec_fn=self._limit,
            )
            try:
                code = child.wait(timeout=WALL_SECONDS)
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()
                code = None
            stderr.seek(0)
            log = stderr.read(1 << 20).decode(errors="replace")
        return (None if code in (-9, -24) else code), log  # SIGKILL, SIGXCPU

    def _limit(self) -> None:
        cpu = TIME_LIMIT + GRACE_SECONDS
        resource.setrlimit(resource.RLIMIT_CPU, (cpu, cpu + 1))
        if self.memory:
            resource.setrlimit(resource.RLIMIT_AS, (self.memory, self.memory))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_FSIZE, (64 << 20, 64 << 20))


def classify(code: int | None, log: str) -> str:
    """The class of one run."""
    if code is None:
        return HANG
    if code < 0 or code > 2 or _CRASH_TEXT.search(log):
        return CRASH
    if code == 0:
        return CLEAN
    if "error:" not in log and not (code == 2 and log):
        return SILENT
    if "the time limit of" in log:
        return LIMIT
    return FOUND if re.search(r"error: .*\[[a-z-]+(?: [a-z-]+)*\]$", log, re.MULTILINE) else REFUSED


def _signature(code: int | None, log: str) -> str:
    """The fault without what differs between two cases that show it."""
    if frames := re.findall(r"^ *\d+ +(\S+) +0x([0-9a-f]+)", log, re.MULTILINE):
        own = [f"{name}:{address}" for name, address in frames if name.startswith("headrace")]
        return f"exit {code}: " + " ".join(own[:3] or [f"{name}:{address}" for name, address in frames[4:7]])
    line = next((line for line in reversed(log.splitlines()) if line.strip()), "")
    return f"exit {code}: " + re.sub(r"\d+", "N", re.sub(r"'[^']*'", "'..'", line))[:160]


def write_case(case: Case, record: Path) -> None:
    """Writes the record and, beside it, the PTX."""
    record.write_text(case.record)
    record.with_suffix(".ptx").write_bytes(case.ptx.encode("utf-8", errors="surrogatepass"))


def save(runner: Runner, result: Result, out: Path, number: int) -> Path:
    """Keeps a failure under `out`: its files, and a log that begins with the command."""
    out.mkdir(parents=True, exist_ok=True)
    path = out / f"{result.kind.lower()}-{number:05}.json"
    write_case(result.case, path)
    path.with_suffix(".log").write_text(" ".join(runner.command(path, result.case)) + "\n\n" + result.log)
    return path


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=500, help="runs (default %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="of the random sequence (default %(default)s)")
    parser.add_argument("--jobs", type=int, default=2, help="processes at a time (default %(default)s)")
    parser.add_argument("--tools", type=Path, default=REPOSITORY / "build" / "bin", help="folder of the tools")
    parser.add_argument("--sim", type=Path, help="headrace-sim, if it is not in that folder")
    parser.add_argument("--out", type=Path, help="folder for failures (default: a temporary one)")
    parser.add_argument("--no-memory-limit", action="store_true", help="for sanitizer builds")
    arguments = parser.parse_args()
    tools = arguments.tools.resolve()
    simulator = (arguments.sim or tools / "headrace-sim").resolve()
    for tool in (tools / "headrace-compile", simulator):
        if not shutil.which(str(tool)):
            print(f"run_ptx_fuzz.py: no {tool}", file=sys.stderr)
            return 2
    out = arguments.out or Path(tempfile.mkdtemp(prefix="headrace-ptx-fuzz-found-"))
    runner = Runner(simulator, 0 if arguments.no_memory_limit else MEMORY_BYTES)
    drawer = Drawer(compile_seeds(tools), arguments.seed)
    return _report(runner, (drawer.draw() for _ in range(arguments.count)), arguments, out)


def _report(runner: Runner, cases, arguments, out: Path) -> int:
    counts: collections.Counter = collections.Counter()
    found: dict[tuple[str, str], list] = {}
    slowest = 0.0
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        for number, result in enumerate(pool.map(runner.run, cases)):
            counts[result.kind] += 1
            slowest = max(slowest, result.seconds)
            if result.kind in FAILURES:
                entry = found.setdefault((result.kind, result.signature), [0, None])
                entry[0] += 1
                if entry[0] <= 3:
                    path = save(runner, result, out, number)
                    entry[1] = entry[1] or path
            if sys.stderr.isatty() or os.environ.get("FUZZ_PROGRESS"):
                print(f"\r{number + 1} runs, {len(found)} kinds of fault", end="", file=sys.stderr, flush=True)
    kinds = [CLEAN, FOUND, REFUSED, LIMIT, *FAILURES]
    print("".join(f"{kind:>9}" for kind in kinds) + f"{'all':>9}")
    print("".join(f"{counts[kind]:9}" for kind in kinds) + f"{sum(counts.values()):9}")
    print(f"slowest run {slowest:.1f} s")
    for (kind, signature), (count, path) in sorted(found.items(), key=lambda item: (item[0][0], -item[1][0])):
        print(f"{kind:7}{count:5} x {signature}\n             {path}")
    return 1 if any(counts[kind] for kind in FAILURES) else 0


if __name__ == "__main__":
    sys.exit(main())
