"""How long the first call of a GEMM takes, beside Triton's, and what a call costs afterwards.

    python3 python/benchmarks/first_call.py [--rounds 3]

Each measurement is a process of its own with an empty cache, in turn with the other compiler's. The clock starts when
arrays are on the GPU and both packages are imported, and stops when the product is there. Reported: that time; the same
in a second process, which finds the first one's cache, and how long finding takes; what the compiler takes in this
process down to PTX, for a kernel that it has not seen; and the host's time of a call once everything is loaded.
"""

# ruff: noqa: N803

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

_SIZE, _CALLS = 2048, 2000
#: Of a product so small that the GPU is done before the next call.
_FEW = 128
_TILE = {"BM": 128, "BN": 256, "BK": 64}


def product_arrays():
    """A and B with a product that is not yet there, on the GPU."""
    import torch

    a, b = (torch.randn((_SIZE, _SIZE), device="cuda").to(torch.bfloat16) for _ in range(2))
    c = torch.full((_SIZE, _SIZE), float("nan"), device="cuda", dtype=torch.bfloat16)
    torch.cuda.synchronize()
    return a, b, c


def check(a, b, c) -> None:
    import torch

    torch.cuda.synchronize()
    wanted = a.float() @ b.float().T
    assert torch.allclose(c.float(), wanted, rtol=2e-2, atol=2.0), "wrong product"


def time_of_call(call) -> float:
    """The host's part of a call, in seconds: the least of some rounds."""
    import torch

    times = []
    for _ in range(5):
        torch.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(_CALLS // 5):
            call()
        times.append((time.perf_counter() - start) / (_CALLS // 5))
    return min(times)


def headrace_process(cached: bool) -> dict[str, float]:
    import torch

    import headrace as hr
    from headrace.driver import compiler
    from headrace.driver.compiled import Compiled
    from headrace.driver.launcher import device_target
    from headrace.kernels.gemm import gemm_kernel

    a, b, c = product_arrays()
    target = device_target(0)
    result = {}
    if cached:
        arguments = {"A": a, "B": b, "bias": None, "R": None, "C": c, **_TILE}
        program = gemm_kernel.program(gemm_kernel.facts((), arguments)[1])
        start = time.perf_counter()
        Compiled(program, target).entry("cubin")
        result["cache"] = time.perf_counter() - start
    start = time.perf_counter()
    gemm_kernel(a, b, None, None, c, **_TILE)
    torch.cuda.synchronize()
    result["first"] = time.perf_counter() - start
    check(a, b, c)

    few = [array[:_FEW, :_FEW] for array in (a, b, c)]
    result["call"] = time_of_call(lambda: gemm_kernel(few[0], few[1], None, None, few[2], **_TILE))

    times = []
    for columns in (64, 128, 192, 256):
        arguments = {"A": a, "B": b, "bias": None, "R": None, "C": c, **_TILE, "BN": columns}
        text = hr.compile(gemm_kernel, arguments, target).program.text
        start = time.perf_counter()
        compiler.run(text, target, "ptx")
        times.append(time.perf_counter() - start)
    result["ptx"] = max(times[1:])
    return result


def triton_process() -> dict[str, float]:
    import torch
    import triton
    import triton.language as tl

    @triton.jit
    def gemm(A, B, C, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
        pid = tl.program_id(0)
        columns = tl.cdiv(N, BN)
        m = pid // columns * BM + tl.arange(0, BM)
        n = pid % columns * BN + tl.arange(0, BN)
        k = tl.arange(0, BK)
        a, b = A + m[:, None] * K + k[None, :], B + n[None, :] * K + k[:, None]
        acc = tl.zeros((BM, BN), tl.float32)
        for i in range(tl.cdiv(K, BK)):
            inside = k < K - i * BK
            x = tl.load(a, (m[:, None] < M) & inside[None, :], 0.0)
            y = tl.load(b, (n[None, :] < N) & inside[:, None], 0.0)
            acc = tl.dot(x, y, acc)
            a += BK
            b += BK
        inside = (m[:, None] < M) & (n[None, :] < N)
        tl.store(C + m[:, None] * N + n[None, :], acc.to(tl.bfloat16), inside)

    a, b, c = product_arrays()
    grid = (_SIZE // _TILE["BM"] * (_SIZE // _TILE["BN"]),)

    def call() -> None:
        gemm[grid](a, b, c, _SIZE, _SIZE, _SIZE, **_TILE, num_warps=8, num_stages=3)

    start = time.perf_counter()
    call()
    torch.cuda.synchronize()
    result = {"first": time.perf_counter() - start}
    check(a, b, c)
    few = [array[:_FEW, :_FEW].contiguous() for array in (a, b, c)]
    result["call"] = time_of_call(lambda: gemm[(1,)](*few, _FEW, _FEW, _FEW, **_TILE, num_warps=8, num_stages=3))
    return result


def run(which: str, cache: str, state: str) -> dict[str, float]:
    """The times of one process."""
    environment = {**os.environ, "HEADRACE_CACHE": cache, "TRITON_CACHE_DIR": cache}
    done = subprocess.run(
        [sys.executable, __file__, "--process", which, "--state", state],
        env=environment,
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise SystemExit(f"{which} failed:\n{done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--process", choices=["headrace", "triton"], help=argparse.SUPPRESS)
    parser.add_argument("--state", choices=["cold", "warm"], help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.process:
        cached = options.state == "warm"
        print(json.dumps(headrace_process(cached) if options.process == "headrace" else triton_process()))
        return 0
    times: dict[tuple[str, str], list[float]] = {}
    for _ in range(options.rounds):
        for which in ("headrace", "triton"):
            with tempfile.TemporaryDirectory() as cache:
                for state in ("cold", "warm"):
                    for name, value in run(which, cache, state).items():
                        times.setdefault((which, name if name != "first" else f"{state} first"), []).append(value)
    for (which, name), values in sorted(times.items()):
        unit, scale = ("us", 1e6) if name == "call" else ("ms", 1e3)
        spread = ", ".join(f"{scale * value:.1f}" for value in values)
        print(f"{which:9} {name:11} {scale * statistics.median(values):9.1f} {unit}   ({spread})")
    ratio = statistics.median(times["headrace", "cold first"]) / statistics.median(times["triton", "cold first"])
    print(f"cold first call: {ratio:.2f} of Triton's")
    return 0


if __name__ == "__main__":
    sys.path.append(str(Path(__file__).resolve().parents[1]))  # where the package is not installed
    sys.exit(main())
