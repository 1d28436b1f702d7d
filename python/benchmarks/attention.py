"""Times compiled attention kernels against torch's in one process.

    python3 python/benchmarks/attention.py KERNEL.json... [--shapes 1x16x16384,2x16x4096] [--causal] [--json PATH]

Kernels are test/EndToEnd/library/attention.mlir, compiled to .cubin; the head dimension and whether it is causal are
read from what the kernel was compiled with, given here. Shapes are batch x heads x length. Before timing, each kernel's
result is compared with torch's in float32 on a poisoned output; a wrong kernel is not timed. Inputs are random, and
launches rotate through buffers of more than three times the L2 cache. Variants run in random order in every round:
0.15 s of rest, then about 20 ms of launches; the median of 5 rounds counts.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import torch
from torch.nn import functional
from torch.nn.attention import SDPBackend, sdpa_kernel

from headrace.runtime.launch import Kernel

_REST_SECONDS, _BURST_SECONDS, _ROUNDS = 0.15, 0.02, 5
_DTYPES = {"bf16": torch.bfloat16, "f16": torch.float16}

#: Q, K, V and O of one launch.
Buffers = tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]
Launch = Callable[[Buffers], None]


def make_buffers(shape: tuple[int, int, int, int], dtype: torch.dtype) -> list[Buffers]:
    """Enough sets of arrays [batch, heads, length, dimension] to exceed three L2 caches."""
    one = 4 * math.prod(shape) * dtype.itemsize
    cache = torch.cuda.get_device_properties(0).L2_cache_size
    count = max(2, min(16, 3 * cache // one + 1))
    where = {"dtype": dtype, "device": "cuda"}
    return [(*(torch.randn(shape, **where) for _ in range(3)), torch.empty(shape, **where)) for _ in range(count)]


def peers(causal: bool) -> dict[str, Launch]:
    """torch's own kernels by name."""

    def with_backend(backend: SDPBackend) -> Launch:
        def launch(buffers: Buffers) -> None:
            with sdpa_kernel(backend):
                functional.scaled_dot_product_attention(*buffers[:3], is_causal=causal)

        return launch

    return {"cuDNN": with_backend(SDPBackend.CUDNN_ATTENTION), "flash": with_backend(SDPBackend.FLASH_ATTENTION)}


def largest_error(launch: Launch, buffers: Buffers, causal: bool) -> float:
    """Largest difference from torch's float32 result, over the largest element of a head."""
    q, k, v, o = buffers
    o.fill_(float("nan"))
    launch(buffers)
    worst = 0.0
    for head in range(min(2, q.shape[1])):
        wanted = functional.scaled_dot_product_attention(
            *(x[:1, head : head + 1].float() for x in (q, k, v)), is_causal=causal
        )
        error = (o[:1, head : head + 1].float() - wanted).abs().max() / wanted.abs().max()
        worst = max(worst, error.item() if torch.isfinite(error) else math.inf)
    return worst


def seconds(launch: Launch, sets: list[Buffers], launches: int) -> float:
    """Mean time of so many launches."""
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    start.record()
    for i in range(launches):
        launch(sets[i % len(sets)])
    end.record()
    torch.cuda.synchronize()
    return start.elapsed_time(end) / launches / 1e3


def time_all(variants: dict[str, Launch], sets: list[Buffers]) -> dict[str, float]:
    """Median seconds of a launch of each variant."""
    launches = {name: max(2, math.ceil(_BURST_SECONDS / seconds(launch, sets, 3))) for name, launch in variants.items()}
    times: dict[str, list[float]] = {name: [] for name in variants}
    for _ in range(_ROUNDS):
        for name in random.sample(list(variants), len(variants)):
            time.sleep(_REST_SECONDS)
            times[name].append(seconds(variants[name], sets, launches[name]))
    return {name: statistics.median(values) for name, values in times.items()}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kernels", nargs="+", type=Path)
    parser.add_argument("--shapes", default="1x16x16384,4x16x4096")
    parser.add_argument("--dim", type=int, default=128)
    parser.add_argument("--dtype", choices=_DTYPES, default="bf16")
    parser.add_argument("--causal", action="store_true")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    scale = 1 / math.sqrt(options.dim)
    ours: dict[str, Launch] = {}
    for path in options.kernels:
        kernel = Kernel(path)
        ours[path.stem] = lambda buffers, kernel=kernel: kernel(*buffers, scale)
    results = []
    for text in options.shapes.split(","):
        batch, heads, length = (int(extent) for extent in text.split("x"))
        sets = make_buffers((batch, heads, length, options.dim), _DTYPES[options.dtype])
        variants = peers(options.causal)
        for name, launch in ours.items():
            error = largest_error(launch, sets[0], options.causal)
            print(f"{text} {name}: largest error {error:.2e}", flush=True)
            if error < 0.02:
                variants[name] = launch
        work = 4 * batch * heads * length * length * options.dim / (2 if options.causal else 1)
        for name, time_ in time_all(variants, sets).items():
            results.append({"shape": text, "name": name, "seconds": time_, "tflops": work / time_ / 1e12})
            print(f"{text} {name}: {work / time_ / 1e12:.1f} TFLOP/s, {time_ * 1e6:.0f} us", flush=True)
        del sets
        torch.cuda.empty_cache()
    if options.json:
        options.json.write_text(json.dumps(results, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
