"""The kernels that run on headrace-sim: for each its source, and runs with fresh random inputs and a numpy reference.

Sets: "examples" (the folder of that name), those of compile_gemm_kernels and the cases of loop_cases, all for every
target, and the kernels "copies" and "products" of the pipeline tests.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import compile_gemm_kernels
import loop_cases
import numpy as np
from gemm_source import GemmConfig, gemm_source
from sim_reference import Array, Problem, Verdict, embedded, judge_exact, poisoned

ROOT = Path(__file__).resolve().parents[2]
PIPELINES = ROOT / "test" / "Pipelines"
TARGETS = ("sm_75", "sm_80", "sm_90a", "sm_100a", "sm_120a")

#: M and N, and K, of the runs of a product. The first run of each takes the largest: several tiles and trips.
EXTENTS = (1, 16, 63, 65, 129, 200)
DEPTHS = (0, 8, 24, 40, 200)
_LARGE = (129, 200)


@dataclass(frozen=True)
class Run:
    """One launch: arguments in order, which of them is the output, and what judges its storage afterwards."""

    label: str
    args: list[Array | int]
    output: int
    judge: Callable[[np.ndarray], Verdict]


@dataclass(frozen=True)
class Kernel:
    """`source` compiled for `target` with `options`. `must_compile` if a refusal is an error. `runs(rng, count)` makes
    `count` runs of a product, all of a loop. A short check takes one `variant` of each `kind`, all about as often."""

    name: str
    set: str
    target: str
    source: str
    runs: Callable[[np.random.Generator, int], Iterator[Run]]
    options: tuple[str, ...] = ()
    must_compile: bool = True
    kind: str = ""
    variant: str = ""


def product_runs(
    problem: Problem, rng: np.random.Generator, count: int, extents=EXTENTS, large=_LARGE
) -> Iterator[Run]:
    """Products of small ragged shapes, in turn of random numbers and of integers whose result is exact."""
    for i in range(count):
        m, n = (int(x) for x in rng.choice(extents if i else large, 2))
        k = int(rng.choice(DEPTHS)) if i else DEPTHS[-1]
        yield _product_run(problem, m, n, k, i % 2 == 1, rng)


def _product_run(problem: Problem, m: int, n: int, k: int, integers: bool, rng: np.random.Generator) -> Run:
    a, b = problem.inputs(m, n, k, integers, rng)
    c = poisoned(problem.out, (m, n), problem.align)
    label = f"{m}x{n}x{k} of {'integers' if integers else 'random numbers'}"
    return Run(label, [a, b, c], 2, lambda after: problem.judge(a, b, c, after, integers))


def _examples(targets: tuple[str, ...]) -> Iterator[Kernel]:
    for target in targets:
        dtype = "f16" if target == "sm_75" else "bf16"
        for align in (16, 2):
            problem = Problem("TN", dtype, dtype, align=align)
            yield Kernel(
                f"{target}-example-gemm-a{align}",
                "examples",
                target,
                (ROOT / "examples" / "gemm.mlir").read_text(encoding="utf-8"),
                lambda rng, count, problem=problem: product_runs(problem, rng, count),
                (f"--set=ALIGN={align}",),
                kind=str(align),
            )


def _gemms(name: str, targets: tuple[str, ...]) -> Iterator[Kernel]:
    """Every configuration of a set of compile_gemm_kernels for every target, f16 instead of bf16 where only that has an
    instruction. Those that the set has for a target must compile for it."""
    rows = compile_gemm_kernels.SETS[name]()
    for target in targets:
        for config in dict.fromkeys(config for _, config in rows):
            must_compile = (target, config) in rows
            if target == "sm_75" and name != "types":
                config = dataclasses.replace(config, dtype="f16", out="f16")
            yield _gemm(name, target, config, must_compile)


def _gemm(name: str, target: str, config: GemmConfig, must_compile: bool) -> Kernel:
    problem = Problem(config.orientation, config.dtype, config.out, config.precision or "ieee", config.align)
    title = config.name(target)
    return Kernel(
        title,
        name,
        target,
        gemm_source(config),
        lambda rng, count: product_runs(problem, rng, count),
        must_compile=must_compile,
        kind=f"{config.dtype}-{config.out}-{config.precision}" if name == "types" else title,
        variant=config.orientation,
    )


def _loops(targets: tuple[str, ...]) -> Iterator[Kernel]:
    for target in targets:
        for case in loop_cases.CASES:
            for stages in loop_cases.STAGES:
                yield Kernel(
                    f"{target}-{case.name}-s{stages}",
                    "loops",
                    target,
                    case.source(stages),
                    lambda rng, count, case=case: _loop_runs(case, rng),
                    must_compile=target in loop_cases.TARGETS,
                    kind=case.name,
                    variant=stages,
                )


def _loop_runs(case: loop_cases.Case, rng: np.random.Generator) -> Iterator[Run]:
    for call in case.calls(rng):
        args = [_loop_argument(value) for value in call.args]
        output = args[call.output]
        yield Run(
            call.label,
            args,
            call.output,
            lambda after, output=output, expected=call.expected: judge_exact(output, after, expected),
        )


def _loop_argument(value) -> Array | int:
    if isinstance(value, tuple):
        return embedded(value[0], value[1])
    if isinstance(value, np.ndarray):
        return embedded({"float32": "f32", "float16": "f16"}[value.dtype.name], value)
    return value


@dataclass(frozen=True)
class _Copy:
    """C[i] = A[i] in tiles of `step` elements from `first` on, or of rows of `columns` elements of which A's start one
    later; A has the stride `stride` and reads as `fill` outside."""

    dtype: str
    step: int
    first: int = 0
    columns: int | None = None
    stride: int = 1
    fill: float = 0.0


_COPIES = {
    "small_slots": _Copy("f16", 32),
    "from_element_1": _Copy("f32", 64, first=1),
    "window": _Copy("i32", 32, columns=32),
    "every_second": _Copy("f32", 64, stride=2),
    "filled": _Copy("f32", 128, fill=-99.0),
}


def _copies(targets: tuple[str, ...]) -> Iterator[Kernel]:
    source = (PIPELINES / "copy-loops.mlir").read_text(encoding="utf-8")
    for target in targets:
        for name, copy in _COPIES.items():
            yield Kernel(
                f"{target}-copy-{name}",
                "copies",
                target,
                source,
                lambda rng, count, copy=copy: _copy_runs(copy, rng),
                (f"--kernel={name}",),
                kind=name,
            )


def _copy_runs(copy: _Copy, rng: np.random.Generator) -> Iterator[Run]:
    """Whole tiles and ragged ones, C as long as A, longer and shorter; fewer trips than either has tiles."""
    for length, out_length, upper in [(128, 128, 128), (200, 200, 200), (77, 300, 300), (300, 77, 300), (300, 300, 65)]:
        yield _copy_run(copy, length, out_length, upper, rng)


def _copy_run(copy: _Copy, length: int, out_length: int, upper: int, rng: np.random.Generator) -> Run:
    width = () if copy.columns is None else (copy.columns + int(rng.integers(-8, 9)),)
    numbers = rng.integers(-100, 101, (length * copy.stride, *width))
    a, c = embedded(copy.dtype, numbers), poisoned(copy.dtype, (out_length, *width))
    if copy.stride > 1:
        a.slices = (slice(a.slices[0].start, a.slices[0].stop, copy.stride),)
    trips = max(-(-(upper - copy.first) // copy.step), 0)
    last = min(copy.first + trips * copy.step, out_length)
    expected = c.view.copy()
    # A window reads from the second column of A on.
    right = slice(None) if copy.columns is None else slice(0, min(copy.columns, width[0]))
    whole = np.full((max(length, last), *(w + copy.columns + 1 for w in width)), copy.fill)
    whole[(slice(0, length), *(slice(0, w) for w in width))] = a.view
    if copy.columns is None:
        expected[copy.first : last] = whole[copy.first : last]
    else:
        expected[copy.first : last, right] = whole[copy.first : last, 1 : 1 + right.stop]
    label = f"{length} to {out_length} elements, {trips} trips"
    return Run(label, [a, c, upper], 1, lambda after: judge_exact(c, after, expected))


#: Of product.mlir: element type of the operands and of C, the source's names for them, a tile.
_PRODUCTS = (
    ("bf16", "f32", "T=bf16", 64, 64),
    ("f16", "f32", "T=f16", 128, 64),
    ("e4m3", "f32", "T=f8E4M3FN", 128, 64),
    ("i8", "i32", "T=i8,ACC=i32,ZERO=0", 64, 64),
)


def _products(targets: tuple[str, ...]) -> Iterator[Kernel]:
    source = (PIPELINES / "Inputs" / "product.mlir").read_text(encoding="utf-8")
    for target in targets:
        for orientation in compile_gemm_kernels.ORIENTATIONS:
            for dtype, out, values, bm, bn in _PRODUCTS:
                problem = Problem(orientation, dtype, out)
                yield Kernel(
                    f"{target}-product-{orientation}-{dtype}-{bm}x{bn}",
                    "products",
                    target,
                    source,
                    lambda rng, count, problem=problem, bm=bm, bn=bn: _one_tile_runs(problem, rng, count, bm, bn),
                    (f"--kernel={orientation.lower()}", f"--set={values},BM={bm},BN={bn}"),
                    must_compile=False,
                    kind=dtype,
                    variant=orientation,
                )


def _one_tile_runs(problem: Problem, rng: np.random.Generator, count: int, bm: int, bn: int) -> Iterator[Run]:
    """Products whose C is at most one tile: the kernel computes no other. K is an argument of its own."""
    for run in product_runs(problem, rng, count, extents=(1, 16, 63, min(bm, bn)), large=(min(bm, bn),)):
        a, b, c = run.args
        k = problem.logical(a.view, b.view)[0].shape[1]
        yield dataclasses.replace(run, args=[a, b, c, k])


_SETS = {"examples": _examples, "loops": _loops, "copies": _copies, "products": _products}
SETS = ("examples", *compile_gemm_kernels.SETS, "loops", "copies", "products")


def kernels(sets: tuple[str, ...] = SETS, targets: tuple[str, ...] = TARGETS) -> list[Kernel]:
    """The kernels of the sets, each name once."""
    result = {}
    for name in sets:
        for kernel in _SETS[name](targets) if name in _SETS else _gemms(name, targets):
            result.setdefault(kernel.name, kernel)
    return list(result.values())
