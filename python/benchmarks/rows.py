"""Times compiled kernels over rows (softmax, layer norm, RMS norm) against torch's copy in one process.

    python3 python/benchmarks/rows.py KIND-COLUMNS-ANY.json... [--rows-bytes 1e9] [--json PATH]

Kernels are test/EndToEnd/library/softmax_rows.mlir, softmax_online.mlir, layer_norm.mlir and rms_norm.mlir for bf16,
compiled to .cubin under names that start with their kind and number of columns. Before timing, each result is compared
with torch's in float32 on a poisoned output; a wrong kernel is not timed. Reported is what must move, a row read and a
row written, for each second, and its ratio to a copy of as many bytes. The arrays are far larger than the L2 cache.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import torch
from torch.nn import functional

from headrace.runtime.launch import Kernel

_LAUNCHES, _ROUNDS, _EPSILON = 5, 7, 1e-5


def seconds(launch: Callable[[], None]) -> float:
    """Median over rounds of the mean time of a launch."""
    times = []
    for _ in range(_ROUNDS):
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        start.record()
        for _ in range(_LAUNCHES):
            launch()
        end.record()
        torch.cuda.synchronize()
        times.append(start.elapsed_time(end) / _LAUNCHES / 1e3)
    return statistics.median(times)


class Rows:
    """The arrays of one number of columns."""

    def __init__(self, columns: int, total_bytes: float):
        rows = int(total_bytes / 2 / columns)
        self.x = torch.randn((rows, columns), device="cuda").to(torch.bfloat16)
        self.y = torch.empty_like(self.x)
        # Numbers that bfloat16 has, too.
        self.weight, self.bias = (torch.randn(columns, device="cuda").bfloat16().float() for _ in range(2))
        self.mean, self.rstd = (torch.empty(rows, device="cuda") for _ in range(2))

    def launcher(self, kind: str, kernel: Kernel) -> Callable[[], None]:
        """A launch of a kernel of this kind on the arrays, weights in the type that it takes."""
        if kind.startswith("softmax"):
            return lambda: kernel(self.x, self.y)
        narrow = {arg.name: arg.dtype for arg in kernel.record.args}["weight"] == "bf16"
        weight, bias = (w.to(torch.bfloat16) if narrow else w for w in (self.weight, self.bias))
        if kind == "layer_norm":
            return lambda: kernel(self.x, weight, bias, self.y, self.mean, self.rstd, _EPSILON)
        return lambda: kernel(self.x, weight, self.y, self.rstd, _EPSILON)

    def wanted(self, kind: str, rows: slice) -> torch.Tensor:
        """torch's result for some rows, in float32."""
        x = self.x[rows].float()
        if kind.startswith("softmax"):
            return torch.softmax(x, 1)
        if kind == "layer_norm":
            return functional.layer_norm(x, x.shape[1:], self.weight, self.bias, _EPSILON)
        return x * torch.rsqrt(x.square().mean(1, keepdim=True) + _EPSILON) * self.weight

    def is_right(self, kind: str, launch: Callable[[], None]) -> bool:
        self.y.fill_(float("nan"))
        launch()
        for rows in (slice(0, 64), slice(-64, None)):
            wanted = self.wanted(kind, rows)
            error = (self.y[rows].float() - wanted).abs() / wanted.abs().max()
            if not bool((error < 0.01).all()):
                return False
        return True


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kernels", nargs="+", type=Path)
    parser.add_argument("--rows-bytes", type=float, default=1e9)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    by_columns: dict[int, list[tuple[str, str, Kernel]]] = {}
    for path in options.kernels:
        kind, columns = path.stem.split("-")[:2]
        by_columns.setdefault(int(columns), []).append((kind, path.stem, Kernel(path)))
    results = []
    for columns, kernels in sorted(by_columns.items()):
        arrays = Rows(columns, options.rows_bytes)
        moved = 2 * arrays.x.numel() * arrays.x.element_size()
        copy = moved / seconds(lambda arrays=arrays: arrays.y.copy_(arrays.x)) / 1e12
        print(f"{columns} copy: {copy:.2f} TB/s", flush=True)
        for kind, name, kernel in kernels:
            launch = arrays.launcher(kind, kernel)
            if not arrays.is_right(kind, launch):
                print(f"{name}: wrong, not timed", flush=True)
                continue
            rate = moved / seconds(launch) / 1e12
            results.append({"name": name, "columns": columns, "rate": rate, "copy": copy})
            print(f"{name}: {rate:.2f} TB/s, {rate / copy:.3f} of the copy", flush=True)
    if options.json:
        options.json.write_text(json.dumps(results, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
