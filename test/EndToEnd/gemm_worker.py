"""Runs one product at a time on the GPU and judges it: the child's side of gpu_gemm_check."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path

import torch

from gemm_kernels import CompiledKernel, from_record
from gemm_reference import Matrix, Verdict, bits, case_seed, empty_matrix, judge, make_inputs
from headrace.errors import LaunchError
from headrace.runtime.launch import Kernel


class Worker:
    """Loads each kernel of `folder` once. `load` turns a record's path into a callable (A, B, C)."""

    def __init__(self, folder: Path, seed: int, device: str = "cuda", load: Callable = Kernel):
        self.folder, self.seed, self.device, self.load = folder, seed, device, load
        self._kernels: dict[str, tuple[CompiledKernel, Callable]] = {}
        # Library initialization belongs to the start, not to the first case's time.
        warm = torch.ones(16, 16, dtype=torch.float64, device=device)
        (warm @ warm).sum().item()

    def run(self, case) -> tuple[str, str, float, bool]:
        """(status, detail, error over tolerance, whether the CUDA context is lost) of `case`."""
        try:
            verdict = self._check(case)
        except LaunchError as error:
            fatal = "CUDA_ERROR" in str(error)
            return ("error" if fatal else "refused"), str(error), 0.0, fatal
        except (torch.OutOfMemoryError, ValueError) as error:
            return "error", str(error).splitlines()[0], 0.0, False
        except RuntimeError as error:
            return "error", str(error).splitlines()[0], 0.0, True
        return verdict.status, verdict.detail, verdict.ratio, False

    def _check(self, case) -> Verdict:
        compiled, kernel = self._kernel(case.kernel)
        ratio = 0.0
        for integers in (True,) if compiled.problem.exact else (True, False):
            seed = case_seed(self.seed, case.kernel, case.m, case.n, case.k, integers)
            a, b = make_inputs(compiled.problem, case.m, case.n, case.k, integers, seed, self.device)
            c = empty_matrix(case.m, case.n, compiled.problem.out, compiled.problem.align, self.device)
            launch = functools.partial(kernel, a.view, b.view, c.view)
            launch()
            self._synchronize()
            verdict = judge(compiled.problem, a.view, b.view, c, integers)
            if verdict.status != "ok":
                kind = "integers" if integers else "random"
                return Verdict(verdict.status, f"{kind}: {verdict.detail}", verdict.ratio)
            ratio = max(ratio, verdict.ratio)
        different = self._different_repeats(launch, c, case.repeats)
        if different:
            return Verdict("unstable", f"{different} of {case.repeats} repeats differ from the first launch", ratio)
        return Verdict("ok", ratio=ratio)

    def _different_repeats(self, launch: Callable, c: Matrix, repeats: int) -> int:
        """How many of `repeats` launches, each on a poisoned output, leave other bits than are in `c` now."""
        first = bits(c.storage).clone()
        different = torch.zeros((), dtype=torch.int64, device=self.device)
        for _ in range(repeats):
            c.poison()
            launch()
            different += (bits(c.storage) != first).any()
        return int(different.item())

    def _kernel(self, name: str) -> tuple[CompiledKernel, Callable]:
        if name not in self._kernels:
            compiled = from_record(self.folder / f"{name}.json")
            self._kernels[name] = compiled, self.load(compiled.record)
        return self._kernels[name]

    def _synchronize(self) -> None:
        if self.device != "cpu":
            torch.cuda.synchronize()
