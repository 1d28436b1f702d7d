"""Compiles examples/gemm.mlir for every generation, prints what the compiler chose, and runs what this machine can.

    python3 python/examples/demo_gemm.py --compiler build/bin/headrace-compile --out build/demo

A kernel is run where torch or cupy finds a GPU that takes it, and compared with a float32 product made by numpy.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))

from headrace import Kernel, LaunchError  # noqa: E402
from headrace.runtime.context import runs_on  # noqa: E402

SOURCE = ROOT / "examples" / "gemm.mlir"
TARGETS = ("sm_75", "sm_80", "sm_90a", "sm_100a", "sm_120a")

#: M, N, K of the product that is run. Rows are 16-byte multiples, as the source promises; no extent divides into tiles.
SHAPE = (1000, 1096, 520)

#: Half the distance from 1 to the next number of the output's type.
UNIT = {"bf16": 2.0**-8, "f16": 2.0**-11}


def compile_gemm(compiler: Path, target: str, out: Path) -> dict:
    """Compiles to OUT/gemm_TARGET.cubin with its launch record; returns the report."""
    report = out / f"gemm_{target}.report.json"
    command = [compiler, SOURCE, f"--target={target}", f"--report={report}", "-o", out / f"gemm_{target}.cubin"]
    subprocess.run(command, check=True)
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


def print_table(rows: list[list[str]]) -> None:
    header = ["target", "copies", "matmul", "stages", "shared bytes", "TMEM columns", "registers", "spill bytes"]
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
    put: object
    get: object


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
    parser.add_argument("--compiler", type=Path, default=ROOT / "build" / "bin" / "headrace-compile")
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "demo", help="folder for cubins and records")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    try:
        reports = [compile_gemm(options.compiler, target, options.out) for target in TARGETS]
    except subprocess.CalledProcessError as failure:
        return failure.returncode
    print_table([table_row(report) for report in reports])
    return 0 if run_what_can_run(find_gpu(), options.out) else 1


if __name__ == "__main__":
    sys.exit(main())
