"""Launches kernels that print and assert on a GPU and compares what a user gets to see: needs torch and a GPU.

    python3 test/EndToEnd/gpu_messages_check.py

A failed assert ends the process's use of the GPU, so each launch has a process of its own. Exits with 1 if one differs.
"""

# ruff: noqa: N803

from __future__ import annotations

import subprocess
import sys

import torch

import headrace as hr


@hr.kernel(warps=1)
def printed(X, Y, BLOCK: hr.constexpr = 8):
    i = hr.grid(hr.cdiv(X.shape[0], BLOCK)) * BLOCK
    x = X[i : i + BLOCK]
    print("from", i)
    print("x", x)
    Y[i : i + BLOCK] = x + 1.0


@hr.kernel
def checked(X, Y, limit: hr.f32, BLOCK: hr.constexpr = 256):
    i = hr.grid(hr.cdiv(X.shape[0], BLOCK)) * BLOCK
    x = X[i : i + BLOCK]
    assert x < limit, "a number over the limit"
    Y[i : i + BLOCK] = x + 1.0


@hr.kernel
def product(A, B, C, limit: hr.f32, BM: hr.constexpr = 128, BN: hr.constexpr = 128, BK: hr.constexpr = 64):
    m, n = hr.grid(hr.cdiv(C.shape[0], BM), hr.cdiv(C.shape[1], BN))
    m, n = m * BM, n * BN
    total = hr.zeros((BM, BN), hr.f32)
    for k in hr.pipelined(0, A.shape[1], BK):
        total = hr.dot(A[m : m + BM, k : k + BK], B[n : n + BN, k : k + BK].T, total)
    assert total < limit, "a product over the limit"
    C[m : m + BM, n : n + BN] = total.to(C.dtype)


def run_printed() -> None:
    x = torch.arange(11, device="cuda", dtype=torch.float32)
    y = torch.zeros_like(x)
    printed(x, y)
    torch.cuda.synchronize()
    assert torch.equal(y, x + 1)


def run_checked(limit: float) -> None:
    x = torch.arange(1000, device="cuda", dtype=torch.float32)
    y = torch.zeros_like(x)
    checked(x, y, limit)
    torch.cuda.synchronize()
    assert torch.equal(y, x + 1)


def run_product(limit: float) -> None:
    a, b = (torch.ones((256, 192), device="cuda", dtype=torch.bfloat16) for _ in range(2))
    c = torch.zeros((256, 256), device="cuda", dtype=torch.bfloat16)
    product(a, b, c, limit)
    torch.cuda.synchronize()
    assert bool((c == 192).all())


RUNS = {
    "print": run_printed,
    "assert that holds": lambda: run_checked(1e6),
    "assert that fails": lambda: run_checked(500.0),
    "assert beside wgmma that holds": lambda: run_product(193.0),
    "assert beside wgmma that fails": lambda: run_product(192.0),
}
_PRINTED = [
    *("(0, 0, 0) from: 0", "(1, 0, 0) from: 8"),
    *(f"({i // 8}, 0, 0) x [{i % 8}]: {i if i < 11 else 0}" for i in range(16)),
]
#: What the process prints, in any order, and its errors; none if it must end well.
WANTED = {
    "print": (_PRINTED, []),
    "assert that holds": ([], []),
    "assert that fails": ([], ["a number over the limit", "gpu_messages_check.py:33", "device-side assert"]),
    "assert beside wgmma that holds": ([], []),
    "assert beside wgmma that fails": ([], ["unspecified launch failure"]),
}


def differs(name: str) -> str:
    """Runs one in a process of its own; what is not as it should be, empty if nothing."""
    run = subprocess.run([sys.executable, __file__, name], capture_output=True, text=True, timeout=120)
    lines, errors = WANTED[name]
    if sorted(run.stdout.splitlines()) != sorted(lines):
        return f"expected the lines {sorted(lines)}, got {run.stdout}"
    missing = [error for error in errors if error not in run.stderr]
    if missing or bool(run.returncode) != bool(errors):
        return f"expected {errors} among the errors, missing {missing}, exit code {run.returncode}: {run.stderr[-600:]}"
    return ""


def main() -> int:
    if len(sys.argv) == 2:
        RUNS[sys.argv[1]]()
        return 0
    wrong = 0
    for name in RUNS:
        why = differs(name)
        wrong += bool(why)
        print(f"WRONG  {name}: {why}" if why else f"right  {name}", flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
