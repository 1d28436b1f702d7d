"""Times compiled products against torch.matmul in one process, BURST and SUSTAINED.

    python3 python/benchmarks/gemm.py KERNEL.json... [--shapes 4096x4096x4096,2048x10240x8192] [--json PATH]

Each kernel needs its .cubin and .meta.json beside it (test/EndToEnd/gemm_kernels.py). Before timing, every variant's
result is compared with a float64 reference on a poisoned output; a wrong kernel is not timed. Inputs are random, and
launches rotate through buffers of more than three times the L2 cache. Variants run in random order in every round.

BURST: 0.15 s of rest, then about 8 ms of launches; the median of 5 rounds. What a single kernel can do.
SUSTAINED: back to back for a second per round; limited by the power budget, which hides differences. Quote both.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(_ROOT / "python"), str(_ROOT / "test" / "EndToEnd")]

import torch  # noqa: E402

from gemm_kernels import CompiledKernel, from_record  # noqa: E402
from gemm_reference import DTYPES, Matrix, Problem, judge, logical, make_inputs  # noqa: E402
from headrace.errors import LaunchError  # noqa: E402
from headrace.runtime.launch import Kernel  # noqa: E402
from headrace.tuning.bench import REST_SECONDS  # noqa: E402
from headrace.tuning.timing import Series, sets_needed  # noqa: E402
from headrace.tuning.torch_clock import TorchClock  # noqa: E402

_DEFAULT_SHAPES = "4096x4096x4096,8192x8192x8192,4096x4096x14336,2048x10240x8192"

#: Stored A, stored B, and C without guards or padding.
BufferSet = tuple[torch.Tensor, torch.Tensor, Matrix]


@dataclass
class Variant:
    """One way to compute the product. `launch(a, b, c)` is asynchronous; times are seconds per launch, one a round."""

    name: str
    launch: Callable[[torch.Tensor, torch.Tensor, torch.Tensor], None]
    series: Series | None = None
    burst: list[float] = field(default_factory=list)
    sustained: list[float] = field(default_factory=list)


def make_buffers(problem: Problem, m: int, n: int, k: int, seed: int) -> list[BufferSet]:
    """Enough sets of matrices, each with its own random numbers, to exceed three L2 caches."""
    out = DTYPES[problem.out].torch
    size = (m + n) * k * DTYPES[problem.dtype].torch.itemsize + m * n * out.itemsize
    sets = []
    for index in range(sets_needed(size, TorchClock(0).cache_bytes)):
        a, b = (x.view.contiguous() for x in make_inputs(problem, m, n, k, False, seed + index, "cuda"))
        storage = torch.empty(m * n, dtype=out, device="cuda")
        sets.append((a, b, Matrix(storage, storage.view(m, n))))
    return sets


def torch_variant(problem: Problem) -> Variant:
    """torch's own product for the same dtypes and orientation."""
    out = DTYPES[problem.out].torch
    if problem.dtype == "f32":
        torch.set_float32_matmul_precision("high" if problem.precision == "tf32" else "highest")

    one = torch.ones((), device="cuda")

    def product(a, b, c):
        left, right = logical(problem, a, b)
        if problem.dtype in ("e4m3", "e5m2"):
            torch._scaled_mm(left, right, one, one, out_dtype=out, use_fast_accum=True, out=c)
        elif problem.dtype == "i8":
            torch._int_mm(left, right, out=c)
        elif left.dtype != out:
            torch.mm(left, right, out_dtype=out, out=c)
        else:
            torch.mm(left, right, out=c)

    return Variant("torch", product)


def is_right(variant: Variant, problem: Problem, sets: list[BufferSet]) -> bool:
    """Runs `variant` once on a poisoned output and judges it; says why on the terminal if it cannot be timed."""
    a, b, c = sets[0]
    c.poison()
    try:
        variant.launch(a, b, c.view)
        torch.cuda.synchronize()
    except (LaunchError, RuntimeError) as error:
        print(f"  {variant.name}: not timed: {str(error).splitlines()[0]}")
        return False
    verdict = judge(problem, a, b, c, integers=False)
    if verdict.status != "ok":
        print(f"  {variant.name}: not timed: {verdict.status}: {verdict.detail}")
    return verdict.status == "ok"


def prepare(variant: Variant, sets: list[BufferSet]) -> None:
    """Warms `variant` up on every set and captures a burst of launches in a graph."""

    def launch(index: int) -> None:
        a, b, c = sets[index]
        variant.launch(a, b, c.view)

    variant.series = Series(TorchClock(0), launch, len(sets))
    variant.series.prepare(graph=True)


def measure_burst(variants: list[Variant], rounds: int, rng: random.Random) -> None:
    for _ in range(rounds):
        for variant in rng.sample(variants, len(variants)):
            torch.cuda.synchronize()
            time.sleep(REST_SECONDS)
            variant.burst.append(variant.series.burst())


def measure_sustained(variants: list[Variant], rounds: int, seconds: float, rng: random.Random) -> None:
    for _ in range(rounds):
        for variant in rng.sample(variants, len(variants)):
            variant.sustained.append(variant.series.sustained(seconds))


def print_table(variants: list[Variant], operations: float) -> list[dict]:
    """Prints TFLOP/s and ratios to torch (medians over rounds); the same as rows for JSON. Spread is of BURST."""
    baseline = next((v for v in variants if v.name == "torch"), None)
    width = max(len(v.name) for v in variants)
    print(f"  {'variant':{width}} {'us':>9} {'BURST':>8} {'ratio':>6} {'SUSTAINED':>10} {'ratio':>6} {'spread':>7}")
    rows = []
    for variant in variants:
        row = {"variant": variant.name, "burst_s": variant.burst, "sustained_s": variant.sustained}
        cells = []
        for kind in ("burst", "sustained"):
            times = getattr(variant, kind)
            if not times:
                cells += ["-", "-"]
                continue
            middle = statistics.median(times)
            row[f"{kind}_tflops"] = operations / middle / 1e12
            row[f"{kind}_ratio"] = statistics.median(getattr(baseline, kind)) / middle if baseline else None
            cells += [f"{row[f'{kind}_tflops']:.1f}", f"{row[f'{kind}_ratio']:.3f}" if baseline else "-"]
        middle = statistics.median(variant.burst)
        spread = (max(variant.burst) - min(variant.burst)) / middle
        print(
            f"  {variant.name:{width}} {middle * 1e6:>9.1f} {cells[0]:>8} {cells[1]:>6} {cells[2]:>10} {cells[3]:>6} "
            f"{spread:>7.2%}"
        )
        rows.append(row)
    return rows


def benchmark(problem: Problem, kernels: list[CompiledKernel], shape, options, rng: random.Random) -> dict:
    """Times `kernels`, which all solve `problem`, and torch at `shape`."""
    m, n, k = shape
    sets = make_buffers(problem, m, n, k, rng.randrange(2**31))
    kind = f"{problem.orientation} {problem.dtype} -> {problem.out}, {problem.precision}"
    print(f"{m}x{n}x{k} {kind}, {len(sets)} buffer sets", flush=True)
    candidates = [torch_variant(problem), *(Variant(c.name, Kernel(c.record)) for c in kernels)]
    variants = [v for v in candidates if is_right(v, problem, sets)]
    for variant in variants:
        prepare(variant, sets)
    measure_burst(variants, options.rounds, rng)
    if options.sustained_seconds > 0:
        measure_sustained(variants, options.rounds, options.sustained_seconds, rng)
    rows = print_table(variants, 2.0 * m * n * k) if variants else []
    return {"shape": list(shape), "problem": kind, "rows": rows}


def grouped(kernels: list[CompiledKernel]) -> dict[Problem, list[CompiledKernel]]:
    """Kernels by problem; those that need different alignments still compete."""
    groups: dict[Problem, list[CompiledKernel]] = {}
    for kernel in kernels:
        problem = kernel.problem
        key = Problem(problem.orientation, problem.dtype, problem.out, problem.acc, problem.precision)
        groups.setdefault(key, []).append(kernel)
    return groups


def parse_options(argv) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kernels", nargs="+", type=Path, help="launch records, KERNEL.json")
    parser.add_argument("--shapes", default=_DEFAULT_SHAPES, help="MxNxK, separated by commas (default %(default)s)")
    parser.add_argument("--rounds", type=int, default=5, help="rounds of each measurement (default %(default)s)")
    parser.add_argument(
        "--sustained-seconds", type=float, default=1.0, help="per variant and round, 0 to skip (default %(default)s)"
    )
    parser.add_argument("--seed", type=int, help="of inputs and order (default: a fresh one, printed)")
    parser.add_argument("--json", type=Path, help="where all times go")
    return parser.parse_args(argv)


def main(argv=None) -> int:
    options = parse_options(argv)
    seed = random.SystemRandom().randrange(2**31) if options.seed is None else options.seed
    rng = random.Random(seed)
    properties = torch.cuda.get_device_properties(0)
    print(f"{properties.name}, {properties.multi_processor_count} SMs, torch {torch.__version__}, seed {seed}")
    shapes = [tuple(int(extent) for extent in text.split("x")) for text in options.shapes.split(",")]
    groups = grouped([from_record(record) for record in options.kernels])
    tables = [benchmark(problem, group, s, options, rng) for problem, group in groups.items() for s in shapes]
    if options.json:
        options.json.write_text(json.dumps({"device": properties.name, "seed": seed, "tables": tables}))
    timed_kernels = sum(row["variant"] != "torch" for table in tables for row in table["rows"])
    return 0 if timed_kernels == len(options.kernels) * len(shapes) else 1


if __name__ == "__main__":
    sys.exit(main())
