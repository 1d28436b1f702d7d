"""Compiles examples/gemm.mlir for every generation, prints what the compiler chose, and runs it.

    python3 python/examples/demo_gemm.py --tools build/bin --out build/demo

Every kernel runs on headrace-sim, which looks for races, deadlocks and other faults, and is compared with a float64
product made by numpy. Where torch or cupy finds a GPU, the kernels that it takes run there too.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))

from headrace import Kernel, LaunchError  # noqa: E402
from headrace.runtime.context import runs_on  # noqa: E402

SOURCE = ROOT / "examples" / "gemm.mlir"
TARGETS = ("sm_75", "sm_80", "sm_90a", "sm_100a", "sm_120a")

#: M, N, K of the product that is run. Rows are 16-byte multiples, as the source promises; no extent divides into tiles.
SHAPE = (1000, 1096, 520)

#: M, N, K of the product on the simulator: several tiles and trips.
SIMULATED_SHAPE = (256, 256, 256)

#: Orders of asynchronous operations that the simulator tries: early, late, reversed and a random one.
ORDERS = 4

#: Half the distance from 1 to the next number of the output's type.
UNIT = {"bf16": 2.0**-8, "f16": 2.0**-11}

#: Relative error of an accumulation in a tensor core, which truncates float32, and the products that it adds at least.
ACCUMULATION = 2.0**-23
PRODUCTS = 8


def compile_gemm(compiler: Path, target: str, out: Path) -> dict:
    """Compiles to OUT/gemm_TARGET.cubin with its launch record, and to OUT/simulated_TARGET.ptx; returns the report."""
    report = out / f"gemm_{target}.report.json"
    command = [str(compiler), str(SOURCE), f"--target={target}"]
    subprocess.run([*command, f"--report={report}", "-o", str(out / f"gemm_{target}.cubin")], check=True)
    subprocess.run([*command, "--emit=ptx", "-o", str(out / f"simulated_{target}.ptx")], check=True)
    return json.loads(report.read_text(encoding="utf-8"))


def table_row(report: dict) -> list[str]:
    """The cells of one target: how tiles get in and out, the matmul, depths and sizes, what ptxas says."""
    ways = {
        direction: "+".join(sorted({c["mechanism"] for c in report["copies"] if c["direction"] == direction}))
        for direction in ("load", "store")
    }
    matmul = report["matmuls"][0]
    return [
        report["target"],
        f"{ways['load']} in, {ways['store']} out",
        f"{matmul['family']} {'x'.join(map(str, matmul['atom']))}",
        str(report["loops"][0]["stages"]),
        str(report["shared_bytes"]),
        str(report["tmem_columns"]),
        str(report["ptxas"]["registers"]),
        str(report["ptxas"]["spill_bytes"]),
    ]


@dataclass(frozen=True)
class Simulated:
    """A product on the simulator: the largest error as a part of its bound, and what was found."""

    ratio: float
    findings: list[str]

    @property
    def right(self) -> bool:
        return self.ratio <= 1 and not self.findings

    def cells(self) -> list[str]:
        return [f"{self.ratio:.2f} of bound", str(len(self.findings) or "none")]


def simulate_gemm(simulator: Path, target: str, out: Path) -> Simulated:
    """Runs OUT/simulated_TARGET.ptx on random inputs. The output starts as NaN."""
    m, n, k = SIMULATED_SHAPE
    record = out / f"simulated_{target}.json"
    dtype = json.loads(record.read_text(encoding="utf-8"))["args"][0]["dtype"]
    rng = np.random.default_rng()
    # Cutting the numbers to the type makes them exact; the simulator takes bf16 as its bits.
    a, b = (to_bits(rng.standard_normal(shape), dtype) for shape in ((m, k), (n, k)))
    file_type = np.float16 if dtype == "f16" else np.uint16
    command = [
        str(simulator),
        str(record),
        "--arg",
        f"C=new:{m}x{n}",
        f"--seeds={ORDERS}",
        f"--seed={rng.integers(2**31)}",
    ]
    for name, array in (("A", a), ("B", b)):
        np.save(out / f"simulated_{name}.npy", array.view(file_type))
        command += ["--arg", f"{name}={out / f'simulated_{name}.npy'}"]
    result = out / "simulated_C.npy"
    result.unlink(missing_ok=True)
    run = subprocess.run([*command, "--out", f"C={result}"], stderr=subprocess.PIPE, text=True)
    sys.stderr.write(run.stderr)
    findings = [line for line in run.stderr.splitlines() if "error: " in line]
    if run.returncode and not findings:
        findings = [f"{simulator}: exit code {run.returncode}"]
        print(findings[0], file=sys.stderr)
    computed = to_float32(np.load(result).view(np.uint16), dtype) if result.exists() else np.full((m, n), np.nan)
    return Simulated(error_ratio(computed, to_float32(a, dtype), to_float32(b, dtype), UNIT[dtype]), findings)


def error_ratio(computed: np.ndarray, a: np.ndarray, b: np.ndarray, unit: float) -> float:
    """The largest error of a product with B transposed, as a part of what roundings explain.

    Partial sums of independent products stay below 6 * sqrt(sum of squared products); each accumulation errs by a unit
    of that, and the result is rounded once more.
    """
    exact = a.astype(np.float64) @ b.astype(np.float64).T
    scale = np.sqrt(a.astype(np.float64) ** 2 @ b.astype(np.float64).T ** 2)
    bound = (a.shape[1] / PRODUCTS + 4) * ACCUMULATION * 6 * scale
    ratio = np.abs(computed - exact) / (bound + unit * (np.abs(exact) + bound))
    return math.inf if np.isnan(ratio).any() else float(ratio.max())


def print_table(rows: list[list[str]]) -> None:
    header = ["target", "copies", "matmul", "stages", "shared bytes", "TMEM columns", "registers", "spill bytes"]
    header += ["simulated", "findings"]
    widths = [max(len(row[i]) for row in [header, *rows]) for i in range(len(header))]
    for row in [header, *rows]:
        left = [cell.ljust(width) for cell, width in zip(row[:3], widths[:3], strict=True)]
        right = [cell.rjust(width) for cell, width in zip(row[3:], widths[3:], strict=True)]
        print("  ".join([*left, *right]))


@dataclass(frozen=True)
class Gpu:
    """A device and the library that holds its arrays. `put` takes a 16-bit numpy array, `get` gives one back."""

    library: str
    name: str
    capability: tuple[int, int]
    put: Callable[[np.ndarray, str], Any]
    get: Callable[[Any], np.ndarray]


def find_gpu() -> Gpu | None:
    """The first GPU that torch or cupy sees."""
    try:
        import torch
    except ImportError:
        torch = None
    if torch and torch.cuda.is_available():

        def put(bits: np.ndarray, dtype: str):
            kind = {"bf16": torch.bfloat16, "f16": torch.float16}[dtype]
            return torch.from_numpy(bits.view(np.int16)).cuda().view(kind)

        def get(array) -> np.ndarray:
            return array.view(torch.int16).cpu().numpy().view(np.uint16)

        return Gpu("torch", torch.cuda.get_device_name(), torch.cuda.get_device_capability(), put, get)
    try:
        import cupy

        if cupy.cuda.runtime.getDeviceCount() == 0:
            return None
    except Exception:  # cupy raises errors of its own where there is no driver
        return None
    properties = cupy.cuda.runtime.getDeviceProperties(0)
    return Gpu(
        "cupy",
        properties["name"].decode(),
        (properties["major"], properties["minor"]),
        lambda bits, dtype: cupy.asarray(bits),
        lambda array: cupy.asnumpy(array),
    )


def to_bits(values: np.ndarray, dtype: str) -> np.ndarray:
    """Numbers that the type holds exactly, as its 16-bit patterns."""
    if dtype == "f16":
        return values.astype(np.float16).view(np.uint16)
    return (values.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)


def to_float32(bits: np.ndarray, dtype: str) -> np.ndarray:
    if dtype == "f16":
        return bits.view(np.float16).astype(np.float32)
    return (bits.astype(np.uint32) << 16).view(np.float32)


def run_gemm(kernel: Kernel, gpu: Gpu) -> float:
    """Largest error of one product, in units of the output type's rounding error (at most 1 is right).

    Inputs are random multiples of 1/8 in [-2, 2]: their products add up exactly in float32, so the only error is the
    rounding of the result. The output starts as NaN.
    """
    m, n, k = SHAPE
    dtype = kernel.record.args[0].dtype
    rng = np.random.default_rng()
    a, b = (rng.integers(-16, 17, shape).astype(np.float32) / 8 for shape in ((m, k), (n, k)))
    c = gpu.put(np.full((m, n), 0x7FFF, np.uint16), dtype)
    kernel(gpu.put(to_bits(a, dtype), dtype), gpu.put(to_bits(b, dtype), dtype), c)
    expected = a @ b.T
    error = np.abs(to_float32(gpu.get(c), dtype) - expected) / np.maximum(np.abs(expected) * UNIT[dtype], 1e-30)
    return float("inf") if np.isnan(error).any() else float(error.max())


def run_what_can_run(gpu: Gpu | None, out: Path) -> bool:
    """Runs the kernels that the GPU takes; whether all were right."""
    if gpu is None:
        print("not run: neither torch nor cupy finds a GPU")
        return True
    targets = [target for target in TARGETS if runs_on(target, gpu.capability)]
    if not targets:
        print(f"not run: {gpu.name} has compute capability {gpu.capability[0]}.{gpu.capability[1]}")
    right = True
    for target in targets:
        try:
            error = run_gemm(Kernel(out / f"gemm_{target}.json"), gpu)
        except LaunchError as failure:
            print(f"{target} on {gpu.name}: {failure}")
            right = False
            continue
        right = right and error <= 1
        verdict = "right" if error <= 1 else "WRONG"
        print(f"{target} on {gpu.name} ({gpu.library}), {'x'.join(map(str, SHAPE))}: {verdict}, "
              f"largest error {error:.2f} roundings")  # fmt: skip
    return right


def main() -> int:
    parser = argparse.ArgumentParser(description="Compile examples/gemm.mlir for every generation and run it.")
    parser.add_argument("--tools", type=Path, default=ROOT / "build" / "bin", help="folder of the tools")
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "demo", help="folder for cubins and records")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    try:
        reports = [compile_gemm(options.tools / "headrace-compile", target, options.out) for target in TARGETS]
    except subprocess.CalledProcessError as failure:
        return failure.returncode
    simulated = [simulate_gemm(options.tools / "headrace-sim", target, options.out) for target in TARGETS]
    print_table([table_row(report) + run.cells() for report, run in zip(reports, simulated, strict=True)])
    print(f"simulated: {'x'.join(map(str, SIMULATED_SHAPE))} of random numbers on headrace-sim, {ORDERS} orders of "
          "asynchronous operations; the largest error against float64")  # fmt: skip
    right = all(run.right for run in simulated)
    return 0 if run_what_can_run(find_gpu(), options.out) and right else 1


if __name__ == "__main__":
    sys.exit(main())
