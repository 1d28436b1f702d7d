"""Runs calls of kernels compiled into a folder on a GPU, through headrace.Kernel: the child's side of on_gpu.

Needs torch, for device memory, and cuda-bindings.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from sim_reference import Array, Verdict

from headrace.errors import LaunchError
from headrace.runtime.arrays import DeviceArray
from headrace.runtime.launch import Kernel
from library.case import Call, Variant
from library.catalog import variants


class Worker:
    """Loads each kernel of `folder` (NAME.json with its code beside it) once."""

    def __init__(self, folder: Path, seed: int):
        self._folder, self._seed = folder, seed
        self._kernels: dict[str, Kernel] = {}
        self._variants: dict[str, Variant] = {variant.name: variant for variant in variants()}
        torch.ones(16, device="cuda").sum().item()

    def run(self, request: tuple[str, str, int, int]) -> tuple[str, str, float, bool]:
        """(status, detail, error over tolerance, whether the CUDA context is lost) of a call: (kernel's file without
        suffix, name of the variant, number of the call, launches that must repeat the first bit for bit)."""
        stem, name, index, repeats = request
        try:
            call = list(self._variants[name].launches(self._seed))[index]
            verdict = self._check(self._kernel(stem), call, repeats)
        except LaunchError as error:
            fatal = "CUDA_ERROR" in str(error)
            return ("error" if fatal else "refused"), str(error), 0.0, fatal
        except RuntimeError as error:
            return "error", str(error).splitlines()[0], 0.0, True
        return verdict.status, verdict.detail, verdict.ratio, False

    def _kernel(self, stem: str) -> Kernel:
        if stem not in self._kernels:
            self._kernels[stem] = Kernel(self._folder / f"{stem}.json")
        return self._kernels[stem]

    def _check(self, kernel: Kernel, call: Call, repeats: int) -> Verdict:
        first = _launched(kernel, call)
        verdict = call.judge(first)
        for _ in range(repeats if verdict.status == "ok" and call.ordered else 0):
            again = _launched(kernel, call)
            different = [i for i in first if first[i].tobytes() != again[i].tobytes()]
            if different:
                return Verdict("unstable", f"arguments {different} differ from the first launch", verdict.ratio)
        return verdict


def _launched(kernel: Kernel, call: Call) -> dict[int, np.ndarray]:
    """The storage of each array after a launch with fresh copies of all."""
    memory = {i: _uploaded(call.args[i].storage) for i in call.arrays()}
    kernel(*(_placed(arg, memory[i]) if i in memory else arg for i, arg in enumerate(call.args)))
    torch.cuda.synchronize()
    return {i: _downloaded(memory[i], call.args[i].storage) for i in memory}


def _uploaded(storage: np.ndarray) -> torch.Tensor:
    return torch.from_numpy(storage.reshape(-1).view(np.uint8).copy()).cuda()


def _downloaded(memory: torch.Tensor, storage: np.ndarray) -> np.ndarray:
    return memory.cpu().numpy().view(storage.dtype).reshape(storage.shape)


def _placed(array: Array, memory: torch.Tensor) -> DeviceArray:
    """The part of `array` within its storage's copy."""
    size = array.storage.itemsize
    strides = tuple(stride // size for stride in array.storage.strides)
    start = sum(part.start * stride for part, stride in zip(array.slices, strides, strict=True))
    return DeviceArray(
        memory.data_ptr() + start * size, array.view.shape, strides, array.dtype, memory.device.index, memory
    )


def serve(connection, folder: str, seed: int) -> None:
    """Answers each request of `Worker.run`; leaves after an error that spoils the CUDA context."""
    worker = Worker(Path(folder), seed)
    connection.send("ready")
    while True:
        answer = worker.run(connection.recv())
        connection.send(answer)
        if answer[3]:
            return
