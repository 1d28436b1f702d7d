"""The kernels that are broken: examples/gemm.mlir on every target, variants of it, and GEMMs of other types and order.

Each runs on matrices so small that one run takes about half a second, and so large that one program computes several
tiles, every ring wraps at least twice, and every copy in front of a loop meets every slot: the trips of a tile and the
slots have no common factor, and there are as many tiles as slots.
"""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass, replace
from pathlib import Path

import ml_dtypes
import numpy as np

ROOT = Path(__file__).resolve().parents[3]
sys.path.append(str(ROOT / "test" / "EndToEnd"))

from gemm_source import GemmConfig, gemm_source  # noqa: E402

_TYPES = {"bf16": ml_dtypes.bfloat16, "f16": np.float16, "i8": np.int8, "f32": np.float32, "i32": np.int32}


_INT8 = GemmConfig(dtype="i8", out="i32")


@dataclass(frozen=True)
class Kernel:
    """A kernel to break: source (examples/gemm.mlir unless `config`), target, and the problem M, N, K to run it on."""

    name: str
    target: str
    problem: tuple[int, int, int]
    settings: str = ""
    dtype: str = "bf16"
    out: str = "bf16"
    config: GemmConfig | None = None

    @property
    def transposed_b(self) -> bool:
        """Whether B is stored as N x K."""
        return self.config is None or self.config.orientation[1] == "N"


KERNELS = [
    Kernel("sm_75", "sm_75", (512, 64, 288), dtype="f16", out="f16"),
    Kernel("sm_75-s2", "sm_75", (192, 64, 160), "STAGES=2", dtype="f16", out="f16"),
    Kernel("sm_80", "sm_80", (384, 256, 256)),
    Kernel("sm_80-s2", "sm_80", (256, 256, 192), "STAGES=2"),
    Kernel("sm_80-a2", "sm_80", (192, 128, 256), "ALIGN=2,STAGES=3,BM=64,BN=128"),
    Kernel("sm_80-a4-s4", "sm_80", (256, 128, 320), "ALIGN=4,STAGES=4,BM=64,BN=128"),
    Kernel("sm_80-i8", "sm_80", (384, 128, 256), dtype="i8", out="i32", config=replace(_INT8, stages="3")),
    Kernel("sm_90a", "sm_90a", (512, 256, 448)),
    Kernel("sm_90a-off", "sm_90a", (512, 256, 448), "SPECIALIZE=off"),
    Kernel("sm_90a-s2-f16", "sm_90a", (384, 256, 320), "STAGES=2,T=f16", dtype="f16", out="f16"),
    Kernel("sm_90a-a2", "sm_90a", (384, 128, 256), "ALIGN=2,STAGES=3,BN=128"),
    Kernel("sm_90a-nn", "sm_90a", (512, 128, 448), config=GemmConfig(orientation="NN", stages="3")),
    Kernel("sm_100a", "sm_100a", (640, 256, 256)),
    Kernel("sm_100a-off", "sm_100a", (640, 256, 256), "SPECIALIZE=off"),
    Kernel("sm_100a-s2", "sm_100a", (640, 256, 192), "STAGES=2"),
    Kernel("sm_100a-a2", "sm_100a", (640, 128, 256), "ALIGN=2,STAGES=3,BN=128"),
    Kernel("sm_120a", "sm_120a", (384, 128, 320)),
    Kernel("sm_120a-off", "sm_120a", (384, 128, 320), "SPECIALIZE=off"),
    Kernel("sm_120a-a2", "sm_120a", (384, 128, 256), "ALIGN=2"),
]


def compile_kernel(kernel: Kernel, tools: Path, folder: Path) -> Path:
    """Writes NAME.ptx and NAME.json; the record's path. Raises CalledProcessError."""
    source = ROOT / "examples" / "gemm.mlir"
    if kernel.config:
        source = folder / f"{kernel.name}.mlir"
        source.write_text(gemm_source(kernel.config), encoding="utf-8")
    command = [tools / "headrace-compile", source, f"--target={kernel.target}", "--emit=ptx"]
    command += [f"--set={kernel.settings}"] if kernel.settings else []
    subprocess.run([*command, "-o", folder / f"{kernel.name}.ptx"], check=True, capture_output=True, text=True)
    return folder / f"{kernel.name}.json"


def write_arrays(kernel: Kernel, folder: Path, seed: int) -> np.ndarray:
    """Writes A and B of small integers and a poisoned C; the product as the kernel must leave it in memory."""
    rng = np.random.default_rng(seed)
    m, n, k = kernel.problem
    a, b = rng.integers(-4, 5, (m, k)), rng.integers(-4, 5, (n, k))
    product = a @ b.T
    if kernel.config:
        a = a if kernel.config.orientation[0] == "T" else a.T
    b = b if kernel.transposed_b else b.T
    for name, array in (("A", a), ("B", b)):
        np.save(folder / f"{kernel.name}.{name}.npy", _stored(array, kernel.dtype))
    expected = _stored(product, kernel.out)
    poison = np.empty_like(expected)
    poison.view(np.uint8)[:] = 0xFF
    np.save(folder / f"{kernel.name}.poison.npy", poison)
    return expected


def _stored(array: np.ndarray, dtype: str) -> np.ndarray:
    """In the kernel's type; bf16 as its bits, since .npy has no name for it."""
    values = np.ascontiguousarray(array).astype(_TYPES[dtype])
    return values.view(np.uint16) if dtype == "bf16" else values
