"""Arguments of an interpreted kernel: arrays as numpy sees them, without a copy, and numbers of the kernel's types."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from headrace.errors import LaunchError
from headrace.interpreter.types import ELEMENTS
from headrace.language.dtypes import ArrayType, index
from headrace.language.facts import ScalarType
from headrace.runtime.arrays import DeviceArray, is_torch_tensor
from headrace.runtime.dtypes import BY_NAME, checked_integer

#: numpy's integers that carry the bits of types which torch cannot hand to numpy.
_BITS = {"bfloat16": "int16", "float8_e4m3fn": "uint8", "float8_e5m2": "uint8"}
_CPU = 1  # kDLCPU of dlpack.h


def on_host(name: str, value: Any) -> Any:
    """The array `value` as numpy's, which shares its memory; what is no array stays. Raises LaunchError."""
    if isinstance(value, (np.ndarray, np.generic, bool, int, float, str, tuple)) or value is None:
        return value
    if is_torch_tensor(value):
        return _from_torch(name, value)
    if isinstance(value, DeviceArray) or hasattr(value, "__cuda_array_interface__"):
        raise _on_gpu(name, "an array in device memory", "a numpy copy of it, such as cupy.asnumpy(x)")
    if hasattr(value, "__array_interface__"):
        return np.asarray(value)
    if hasattr(value, "__dlpack_device__"):
        if value.__dlpack_device__()[0] != _CPU:
            raise _on_gpu(name, "an array in device memory", "a numpy copy of it")
        return np.from_dlpack(value)
    return value


def _on_gpu(name: str, got: str, instead: str) -> LaunchError:
    return LaunchError(f"argument '{name}': expected an array on the CPU to interpret the kernel, got {got}: pass "
                       f"{instead}, or unset HEADRACE_INTERPRET to run on the GPU")  # fmt: skip


def _from_torch(name: str, tensor: Any) -> Any:
    if tensor.device.type != "cpu":
        raise _on_gpu(name, f"a tensor on {tensor.device}", "x.cpu()")
    tensor = tensor.detach()
    spelled = str(tensor.dtype).removeprefix("torch.")
    if spelled not in _BITS:
        return tensor.numpy()
    torch = sys.modules["torch"]
    return tensor.view(getattr(torch, _BITS[spelled])).numpy().view(ELEMENTS_BY_SPELLING[spelled])


#: numpy's types by the names that torch gives them.
ELEMENTS_BY_SPELLING = {
    spelled: ELEMENTS[{"e4m3": "f8E4M3FN", "e5m2": "f8E5M2"}.get(ours, ours)]
    for spelled, ours in BY_NAME.items()
    if ours not in ("u8", "u16")
}


def array_of(name: str, fact: ArrayType, value: np.ndarray, is_written: bool) -> np.ndarray:
    """`value` with elements of the kernel's type. Raises LaunchError if it is to be written and cannot be."""
    if is_written and not value.flags.writeable:
        raise LaunchError(f"argument '{name}': expected an array that can be written, got a read-only one")
    dtype = ELEMENTS[fact.dtype.mlir]
    return value if value.dtype == dtype else value.view(dtype)


def scalar_of(name: str, fact: ScalarType, value: Any) -> np.ndarray:
    """The number `value` in the kernel's type. Raises LaunchError if it does not fit."""
    dtype = ELEMENTS[fact.dtype.mlir]
    if fact.dtype.is_float:
        return np.array(value, np.float64).astype(dtype)
    return np.array(checked_integer(value, "i32" if fact.dtype is index else fact.dtype.name, name), dtype)
