"""Runs mutated programs through headrace-opt and headrace-compile and checks that bad input is refused politely.

    python test/Fuzz/run_fuzz.py --count 10000 --seed 1 --jobs 2 --tools build/bin --out fuzz-out

Each file goes through headrace-opt (named pipelines) and through headrace-compile --emit=ptx for a random target, in
child processes with limits on time and memory. Allowed: success, or exit code 1 with "error:" on standard error and no
output file. Exit code 1 if any run crashed, hung, was refused without a message or left a file behind. Faults that
headrace-compile owns up to (exit code 3) are listed and count as failures unless --allow-internal.
"""

from __future__ import annotations

import argparse
import collections
import concurrent.futures
import ctypes
import os
import random
import re
import resource
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from mutate import Mutator, with_target
from seeds import REPOSITORY, TARGETS

OK, REFUSED, CRASH, HANG, INTERNAL, SILENT, LEFTOVER = (
    "ok",
    "refused",
    "CRASH",
    "HANG",
    "INTERNAL",
    "SILENT",
    "LEFTOVER",
)
FAILURES = [CRASH, HANG, SILENT, LEFTOVER]

CPU_SECONDS = 10
WALL_SECONDS = 60  # for a machine that does other things too: the limit that counts is the one above
MEMORY_BYTES = 2 << 30
BATCH = 16  # files that share a process of headrace-opt

CRASH_TEXT = re.compile(
    r"Assertion|LLVM ERROR|Stack dump|PLEASE submit a bug|UNREACHABLE|Cannot select|AddressSanitizer|runtime error:|"
    r"terminate called|ptxas (?:fatal|error|/)"
)

PIPELINES = [
    (["--headrace-to-layout", "--headrace-to-pipe", "--headrace-to-nvvm"], 6),
    (["--headrace-to-layout"], 1),
    (["--headrace-to-pipe"], 2),
    (["--headrace-to-nvvm"], 2),
]


@dataclass
class Result:
    """What one run did: its class, a text by which equal faults are one, and how to do it again."""

    kind: str
    signature: str = ""
    command: list[str] | None = None
    text: str = ""
    log: str = ""


_ADDR_NO_RANDOMIZE = 0x0040000  # Linux's <sys/personality.h>: equal faults have equal stack dumps


def _limit(memory: int) -> None:
    ctypes.CDLL(None).personality(_ADDR_NO_RANDOMIZE)
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS + 1))
    if memory:
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _run(command: list[str], directory: str, memory: int) -> tuple[int | None, str]:
    """(exit code or None if it hung, standard error)."""
    # No ptxas: PTX is the last level here, and starting it costs more than all else. No symbolizer either.
    # Freed memory is overwritten, so that who still reads it notices.
    settings = {
        "PATH": "/nonexistent",
        "LLVM_DISABLE_SYMBOLIZATION": "1",
        "TMPDIR": directory,
        "MALLOC_PERTURB_": "165",
    }
    environment = {**os.environ, **settings}
    environment.pop("HEADRACE_PTXAS", None)
    environment.pop("CUDA_HOME", None)
    child = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env=environment,
        cwd=directory,
        preexec_fn=lambda: _limit(memory),
    )
    try:
        _, stderr = child.communicate(timeout=WALL_SECONDS)
    except subprocess.TimeoutExpired:
        child.kill()
        child.communicate()
        return None, ""
    if child.returncode in (-9, -24):  # SIGKILL, SIGXCPU
        return None, stderr.decode(errors="replace")
    return child.returncode, stderr.decode(errors="replace")


def _signature(log: str, code: int | None) -> str:
    """The fault without what differs between two files that show it."""
    if frames := re.findall(r"^ *\d+ +(\S+) +0x([0-9a-f]+)", log, re.MULTILINE):
        own = [f"{name}:{address}" for name, address in frames if name.startswith("headrace")]
        return f"exit {code}: " + " ".join(own[:3] or [f"{name}:{address}" for name, address in frames[4:7]])
    lines = [line for line in log.splitlines() if "error" in line or "Assertion" in line or "LLVM ERROR" in line]
    line = re.sub(r"^\S+:\d+:\d+: ", "", lines[0]) if lines else log[:80].replace("\n", " ")
    return f"exit {code}: " + re.sub(r"\d+", "N", re.sub(r"'[^']*'", "'..'", line))[:160]


def classify(code: int | None, log: str) -> str:
    """The class of one run."""
    if code is None:
        return HANG
    if code < 0 or code > 3 or CRASH_TEXT.search(log):
        return CRASH
    if code == 3:
        return INTERNAL
    if code == 0:
        return OK
    return REFUSED if code == 1 and "error:" in log else SILENT


class Fuzzer:
    """Runs drawn files. Results are counted in the order in which they were drawn."""

    def __init__(self, tools: Path, memory: int):
        self.tools, self.memory = tools, memory

    def opt(self, text: str, pipeline: list[str], directory: str) -> Result:
        """headrace-opt on one file, or on several that `// -----` separates."""
        path = Path(directory) / "in.mlir"
        path.write_bytes(text.encode(errors="replace"))
        command = [str(self.tools / "headrace-opt"), str(path), "--mlir-disable-threading", *pipeline]
        if "\n// -----\n" in text:
            command.append("--split-input-file")
        code, log = _run(command, directory, self.memory)
        kind = classify(code, log)
        return Result(kind, _signature(log, code) if kind != OK else "", command, text, log)

    def compile(self, text: str, target: str, directory: str) -> Result:
        """headrace-compile on one file."""
        path, output = Path(directory) / "in.mlir", Path(directory) / "out.ptx"
        path.write_bytes(text.encode(errors="replace"))
        for file in (output, output.with_suffix(".json")):
            file.unlink(missing_ok=True)
        command = [
            str(self.tools / "headrace-compile"),
            str(path),
            f"--target={target}",
            "--emit=ptx",
            "-o",
            str(output),
        ]
        code, log = _run(command, directory, self.memory)
        kind = classify(code, log)
        if kind == REFUSED and (output.exists() or output.with_suffix(".json").exists()):
            kind = LEFTOVER
        return Result(kind, _signature(log, code) if kind != OK else "", command, text, log)

    def batch(self, files: list[tuple[str, str, list[str]]]) -> list[Result]:
        """All runs of some files (text, target, pipeline); the pipeline of the first serves all."""
        results = []
        with tempfile.TemporaryDirectory(prefix="headrace-fuzz-") as directory:
            pipeline = files[0][2]
            wrapped = [with_target(text, target).replace("// -----", "//") for text, target, _ in files]
            together = self.opt("\n// -----\n".join(wrapped), pipeline, directory)
            if together.kind in (OK, REFUSED):
                results += [Result(f"batched {together.kind}")] * len(files)
            else:
                results += [self.opt(text, pipeline, directory) for text in wrapped]
            results += [self.compile(text, target, directory) for text, target, _ in files]
        return results


def _save(result: Result, out: Path, number: int) -> Path:
    out.mkdir(parents=True, exist_ok=True)
    path = out / f"{result.kind.lower()}-{number:05}.mlir"
    path.write_bytes(result.text.encode(errors="replace"))
    command = " ".join(str(path) if part.endswith("in.mlir") else part for part in result.command)
    path.with_suffix(".log").write_text(command + "\n\n" + result.log)
    return path


def _print_table(counts: dict[str, collections.Counter]) -> None:
    kinds = [OK, REFUSED, CRASH, HANG, INTERNAL, SILENT, LEFTOVER]
    print(f"{'tool':18}" + "".join(f"{kind:>10}" for kind in kinds) + f"{'all':>10}")
    for tool, counter in counts.items():
        print(f"{tool:18}" + "".join(f"{counter[kind]:10}" for kind in kinds) + f"{sum(counter.values()):10}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=300, help="files (default 300)")
    parser.add_argument("--seed", type=int, default=1, help="of the random sequence (default 1)")
    parser.add_argument("--jobs", type=int, default=2, help="processes at a time (default 2)")
    parser.add_argument("--tools", type=Path, default=REPOSITORY / "build" / "bin", help="folder of the tools")
    parser.add_argument("--out", type=Path, help="folder for reproducers (default: a temporary one)")
    parser.add_argument("--no-memory-limit", action="store_true", help="for sanitizer builds")
    parser.add_argument("--allow-internal", action="store_true", help="exit code 0 although some runs were INTERNAL")
    arguments = parser.parse_args()
    tools = arguments.tools.resolve()
    for tool in ("headrace-opt", "headrace-compile"):
        if not shutil.which(str(tools / tool)):
            print(f"run_fuzz.py: no {tool} in {tools}", file=sys.stderr)
            return 2
    out = arguments.out or Path(tempfile.mkdtemp(prefix="headrace-fuzz-found-"))

    mutator, rng = Mutator(arguments.seed), random.Random(arguments.seed)
    pipelines, weights = zip(*PIPELINES, strict=False)
    files = [
        (mutator.draw()[1], rng.choice(TARGETS), rng.choices(pipelines, weights)[0]) for _ in range(arguments.count)
    ]
    batches = [files[i : i + BATCH] for i in range(0, len(files), BATCH)]

    fuzzer = Fuzzer(tools, 0 if arguments.no_memory_limit else MEMORY_BYTES)
    counts = {"headrace-opt": collections.Counter(), "headrace-compile": collections.Counter()}
    found: dict[tuple[str, str], list] = {}
    several = number = 0
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        for done, results in enumerate(pool.map(fuzzer.batch, batches)):
            for i, result in enumerate(results):
                tool = "headrace-opt" if i < len(results) // 2 else "headrace-compile"
                # A batch that was refused says nothing about its members: count it by what it is.
                kind = result.kind.removeprefix("batched ")
                counts[tool][kind] += 1
                several += tool == "headrace-compile" and result.log.count("error:") > 1
                if kind in (OK, REFUSED):
                    continue
                entry = found.setdefault((kind, f"{tool} {result.signature}"), [0, None])
                entry[0] += 1
                number += 1
                if entry[0] <= 3:
                    path = _save(result, out, number)
                    entry[1] = entry[1] or path
            if sys.stderr.isatty() or os.environ.get("FUZZ_PROGRESS"):
                print(
                    f"\r{min((done + 1) * BATCH, arguments.count)} files, {len(found)} kinds of fault",
                    end="",
                    file=sys.stderr,
                    flush=True,
                )
    print()
    _print_table(counts)
    print(f"(headrace-opt runs {BATCH} files in a process: all of them count as refused if one was)")
    print(f"refused by headrace-compile with more than one error: {several}")
    for (kind, signature), (count, path) in sorted(found.items(), key=lambda item: (item[0][0], -item[1][0])):
        print(f"{kind:9}{count:5} x {signature}\n               {path}")
    failed = sum(counter[kind] for counter in counts.values() for kind in FAILURES)
    internal = 0 if arguments.allow_internal else counts["headrace-compile"][INTERNAL]
    return 1 if failed or internal else 0


if __name__ == "__main__":
    sys.exit(main())
