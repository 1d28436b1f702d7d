"""Runs the ready kernels of headrace.kernels on torch tensors and compares them with torch: needs a GPU.

    python3 test/EndToEnd/gpu_python_check.py [--seed N]

Fresh random inputs of sizes that no tile divides, outputs poisoned before. Results are compared with torch's in float64
on the same rounded inputs; the tolerance is that of rounding the result once and the operands of a product's sum. Also
launched: a kernel in a CUDA graph, as an operator under torch.compile, and autotuned. Exits with 1 if one is wrong.
"""

from __future__ import annotations

import argparse
import random
import sys

import torch
from torch.nn import functional

import headrace as hr

FAILED: list[str] = []


def compare(name: str, result: torch.Tensor, wanted: torch.Tensor, relative: float) -> None:
    """`relative`: of the largest number of `wanted`."""
    torch.cuda.synchronize()
    error = float((result.double() - wanted).abs().max() / wanted.abs().max())
    fine = error <= relative and bool(torch.isfinite(result.double()).all())
    print(f"{'right' if fine else 'WRONG'}  {name}: largest error {error:.1e} of the largest number", flush=True)
    if not fine:
        FAILED.append(name)


def normal(*shape: int, dtype: torch.dtype = torch.bfloat16) -> torch.Tensor:
    return torch.randn(shape, device="cuda").to(dtype)


def poison(*shape: int, dtype: torch.dtype = torch.bfloat16) -> torch.Tensor:
    return torch.full(shape, float("nan"), device="cuda", dtype=dtype)


def products() -> None:
    for dtype, relative in ((torch.bfloat16, 4e-3), (torch.float16, 6e-4)):
        m, n, k = (8 * random.randrange(9, 80) for _ in range(3))
        a, b, bias, residual = (
            normal(m, k, dtype=dtype),
            normal(n, k, dtype=dtype),
            normal(n, dtype=dtype),
            normal(m, n, dtype=dtype),
        )
        plain = a.double() @ b.double().T
        compare(f"gemm {dtype}", hr.kernels.gemm(a, b, out=poison(m, n, dtype=dtype)), plain, relative)
        whole = functional.silu(plain + bias.double()) + residual.double()
        out = hr.kernels.gemm(a, b, bias, activation="silu", residual=residual, out=poison(m, n, dtype=dtype))
        compare(f"gemm with epilogue {dtype}", out, whole, relative)
        gated = hr.kernels.gated_gemm(a, b, b.flip(0).contiguous(), out=poison(m, n, dtype=dtype))
        compare(f"gated_gemm {dtype}", gated, functional.silu(plain) * plain.flip(1), relative)
    x, y = normal(5, 130, 96), normal(5, 200, 96)
    compare("batched_gemm", hr.kernels.batched_gemm(x, y, out=poison(5, 130, 200)), x.double() @ y.double().mT, 4e-3)
    a, b = normal(100, 5000, dtype=torch.float16), normal(72, 5000, dtype=torch.float16)
    split = hr.kernels.split_k_gemm(a, b, 7)
    compare("split_k_gemm", split, a.double() @ b.double().T, 1e-5)
    a, b = (torch.randint(-127, 128, shape, device="cuda", dtype=torch.int8) for shape in ((200, 144), (176, 144)))
    sums = a.double() @ b.double().T
    compare("gemm int8", hr.kernels.gemm(a, b), sums, 0.0)
    scales = torch.rand(200, device="cuda"), torch.rand(176, device="cuda")
    scaled = sums * scales[0].double()[:, None] * scales[1].double()
    compare("scaled_gemm int8", hr.kernels.scaled_gemm(a, b, *scales, out=poison(200, 176)), scaled, 4e-3)


def attention() -> None:
    for heads, groups, queries, keys, d, causal in ((4, 4, 300, 300, 128, False), (8, 2, 257, 400, 64, True)):
        q, k, v = normal(2, heads, queries, d), normal(2, groups, keys, d), normal(2, groups, keys, d)
        wide = [t.double().repeat_interleave(heads // t.shape[1], 1) for t in (q, k, v)]
        scores = wide[0] @ wide[1].mT / d**0.5
        if causal:
            hidden = torch.ones(queries, keys, device="cuda", dtype=torch.bool).triu(keys - queries + 1)
            scores = scores.masked_fill(hidden, float("-inf"))
        out = hr.kernels.attention(q, k, v, causal=causal, out=poison(2, heads, queries, d))
        compare(f"attention {heads}/{groups} heads, causal={causal}", out, scores.softmax(-1) @ wide[2], 1e-2)


def rows() -> None:
    for columns in (17, 768, 4096, 16000):
        x, weight, bias = (
            normal(37, columns),
            normal(columns, dtype=torch.float32),
            normal(columns, dtype=torch.float32),
        )
        wide = x.double()
        compare(f"softmax {columns}", hr.kernels.softmax(x, out=poison(37, columns)), wide.softmax(1), 4e-3)
        wanted = functional.layer_norm(wide, (columns,), weight.double(), bias.double(), 1e-5)
        compare(f"layer_norm {columns}", hr.kernels.layer_norm(x, weight, bias, out=poison(37, columns)), wanted, 4e-3)
        wanted = wide * torch.rsqrt(wide.square().mean(1, keepdim=True) + 1e-6) * weight.double()
        compare(f"rms_norm {columns}", hr.kernels.rms_norm(x, weight, out=poison(37, columns)), wanted, 4e-3)


@hr.kernel
def scale(X, Y, factor: hr.f32, BLOCK: hr.constexpr = 1024):  # noqa: N803
    block = hr.grid(hr.cdiv(X.shape[0], BLOCK))
    start = block * BLOCK
    Y[start : start + BLOCK] = X[start : start + BLOCK] * factor


def launches() -> None:
    x = normal(100_003, dtype=torch.float32)
    y = poison(100_003, dtype=torch.float32)
    scale(x, y, 2.0)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    y.fill_(float("nan"))
    with torch.cuda.graph(graph):
        scale(x, y, 3.0)
    graph.replay()
    compare("launch in a CUDA graph", y, 3.0 * x.double(), 1e-7)

    stream = torch.cuda.Stream()
    y.fill_(float("nan"))
    torch.cuda.synchronize()
    with torch.cuda.stream(stream):
        scale(x, y, 4.0)
    compare("launch on a stream of torch", y, 4.0 * x.double(), 1e-7)

    operator = hr.torch_op(scale, "headrace_check::scale", outputs={"Y": lambda X, factor: torch.empty_like(X)})  # noqa: N803
    compiled = torch.compile(lambda x: operator(x, 5.0) + 1.0)
    compare("operator under torch.compile", compiled(x), 5.0 * x.double() + 1.0, 1e-6)

    tuned = hr.autotune([{"BLOCK": 512}, {"BLOCK": 2048}, {"BLOCK": 1 << 22}], key=[])(scale)
    y.fill_(float("nan"))
    tuned(x, y, 6.0)
    compare("autotuned kernel", y, 6.0 * x.double(), 1e-7)
    print("bench:", hr.bench(scale, x, y, 2.0))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 30))
    options = parser.parse_args()
    print("seed", options.seed)
    random.seed(options.seed)
    torch.manual_seed(options.seed)
    for part in (products, attention, rows, launches):
        try:
            part()
        except Exception as error:  # one part must not end the others
            FAILED.append(part.__name__)
            print(f"WRONG  {part.__name__}: {type(error).__name__}: {error}", flush=True)
    print(f"{len(FAILED)} wrong: {FAILED}" if FAILED else "all right")
    return 1 if FAILED else 0


if __name__ == "__main__":
    sys.exit(main())
