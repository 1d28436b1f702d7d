"""Arrays in device memory, whoever owns them: torch, cupy, __cuda_array_interface__, DLPack or a raw pointer.

No array library is imported: a torch tensor can only reach the launcher if its caller has imported torch.
"""

from __future__ import annotations

import ctypes
import math
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from headrace.errors import LaunchError
from headrace.runtime.dtypes import BY_NAME, SIZES


@dataclass(frozen=True)
class DeviceArray:
    """A strided array in device memory.

    `ptr` is the address of element (0, ..., 0), `shape` and `strides` are in elements (strides None: row-major without
    gaps), `dtype` one of bf16 f16 f32 f64 e4m3 e5m2 i1 i8 i16 i32 i64, or u8 / u16 for raw bits. `device` is the CUDA
    ordinal if known. `owner` keeps the memory alive.
    """

    ptr: int
    shape: tuple[int, ...]
    strides: tuple[int, ...] | None
    dtype: str
    device: int | None = None
    owner: Any = None

    def __post_init__(self):
        object.__setattr__(self, "shape", tuple(self.shape))
        strides = compact_strides(self.shape) if self.strides is None else tuple(self.strides)
        object.__setattr__(self, "strides", strides)
        if self.dtype not in SIZES:
            raise LaunchError(f"device array: expected a dtype among {', '.join(SIZES)}, got '{self.dtype}'")
        if len(self.shape) != len(strides):
            raise LaunchError(f"device array: expected {len(self.shape)} strides, as its shape, got {len(strides)}")

    @property
    def empty(self) -> bool:
        """Whether the array has no elements."""
        return 0 in self.shape

    @property
    def key(self) -> tuple:
        """What a launch depends on: equal keys mean an identical launch."""
        return self.ptr, self.shape, self.strides, self.dtype, self.device


def compact_strides(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Strides, in elements, of a row-major array of `shape` without gaps."""
    return tuple(math.prod(shape[i + 1 :]) for i in range(len(shape)))


def is_torch_tensor(obj) -> bool:
    """Whether `obj` is a torch tensor, found out without importing torch."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(obj, torch.Tensor)


def device_of(values: Iterable[Any]) -> int | None:
    """The CUDA ordinal of the first of `values` that says it, as arrays of Headrace, torch and cupy do; else None."""
    for value in values:
        device = getattr(value, "device", None)
        for ordinal in (device, getattr(device, "index", None), getattr(device, "id", None)):
            if isinstance(ordinal, int):
                return ordinal
    return None


def adapt(obj, name: str, stream: int = 0) -> DeviceArray:
    """`obj` as a DeviceArray. `name` is the argument's in errors, `stream` the launch's (for DLPack's hand-over).

    Raises LaunchError if `obj` is no array, is not in CUDA device memory or has a dtype that no kernel takes.
    """
    if isinstance(obj, DeviceArray):
        return obj
    if is_torch_tensor(obj):
        return _from_torch(obj, name)
    if hasattr(obj, "__cuda_array_interface__"):
        return _from_interface(obj, name)
    if hasattr(obj, "__dlpack__"):
        return _from_dlpack(obj, name, stream)
    raise LaunchError(
        f"argument '{name}': expected a torch tensor, a headrace.DeviceArray or an object with "
        f"__cuda_array_interface__ or __dlpack__, got {type(obj).__name__}"
    )


def _known_dtype(spelling: str, name: str) -> str:
    dtype = BY_NAME.get(spelling)
    if dtype is None:
        raise LaunchError(f"argument '{name}': expected a dtype among {', '.join(BY_NAME)}, got {spelling}")
    return dtype


def _from_torch(tensor, name: str) -> DeviceArray:
    if tensor.device.type != "cuda":
        raise LaunchError(f"argument '{name}': expected an array in device memory, got a {tensor.device.type} tensor")
    dtype = _known_dtype(str(tensor.dtype).removeprefix("torch."), name)
    return DeviceArray(tensor.data_ptr(), tensor.shape, tensor.stride(), dtype, tensor.device.index, tensor)


#: typestr without its byte order. V1 and V2 are numpy's spelling of types it does not know: raw bits.
_TYPE_STRINGS = {
    "f2": "f16", "f4": "f32", "f8": "f64", "b1": "i1", "i1": "i8", "i2": "i16", "i4": "i32", "i8": "i64",
    "u1": "u8", "u2": "u16", "V1": "u8", "V2": "u16",
}  # fmt: skip


def _from_interface(obj, name: str) -> DeviceArray:
    """The caller orders its streams: the interface's `stream` entry is not waited for."""
    interface = obj.__cuda_array_interface__
    typestr = interface["typestr"]
    # cupy arrays and their like know the name of a type that typestr cannot spell (ml_dtypes).
    dtype = BY_NAME.get(str(getattr(obj, "dtype", ""))) or _TYPE_STRINGS.get(typestr[1:])
    if dtype is None or (typestr[0] == ">" and SIZES[dtype] > 1):
        raise LaunchError(f"argument '{name}': expected a little-endian dtype of the kernel, got typestr '{typestr}'")
    byte_strides = interface.get("strides")
    strides = None if byte_strides is None else _in_elements(byte_strides, SIZES[dtype], name)
    return DeviceArray(interface["data"][0] or 0, interface["shape"], strides, dtype, _ordinal(obj), obj)


def _ordinal(obj) -> int | None:
    """The CUDA ordinal of cupy's `array.device.id`, None for objects that do not say."""
    ordinal = getattr(getattr(obj, "device", None), "id", None)
    return ordinal if isinstance(ordinal, int) else None


def _in_elements(byte_strides, size: int, name: str) -> tuple[int, ...]:
    if any(stride % size for stride in byte_strides):
        raise LaunchError(
            f"argument '{name}': expected strides that are multiples of the element's {size} bytes, "
            f"got {tuple(byte_strides)}"
        )
    return tuple(stride // size for stride in byte_strides)


class _DLTensor(ctypes.Structure):
    """DLTensor of dlpack.h."""

    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


#: (DLDataTypeCode, bits) -> dtype
_DLPACK_DTYPES = {
    (2, 16): "f16", (2, 32): "f32", (2, 64): "f64", (4, 16): "bf16", (10, 8): "e4m3", (12, 8): "e5m2",
    (0, 8): "i8", (0, 16): "i16", (0, 32): "i32", (0, 64): "i64", (1, 8): "u8", (1, 16): "u16", (6, 8): "i1",
}  # fmt: skip
_DLPACK_CUDA = (2, 13)  # kDLCUDA, kDLCUDAManaged
#: Bytes before the DLTensor in a DLManagedTensorVersioned: version, manager_ctx, deleter, flags.
_VERSIONED_HEADER = 32


def _from_dlpack(obj, name: str, stream: int) -> DeviceArray:
    device_type, device_id = obj.__dlpack_device__()
    if device_type not in _DLPACK_CUDA:
        raise LaunchError(
            f"argument '{name}': expected an array in CUDA device memory, got DLPack device type {int(device_type)}"
        )
    # DLPack spells the legacy default stream 1; 0 is not allowed.
    capsule = obj.__dlpack__(stream=stream or 1)
    tensor = _DLTensor.from_address(_dltensor_address(capsule))
    dtype = _DLPACK_DTYPES.get((tensor.code, tensor.bits))
    if dtype is None or tensor.lanes != 1:
        got = f"code {tensor.code}, {tensor.bits} bits, {tensor.lanes} lanes"
        raise LaunchError(f"argument '{name}': expected a dtype of the kernel, got DLPack type {got}")
    shape = tuple(tensor.shape[: tensor.ndim])
    strides = tuple(tensor.strides[: tensor.ndim]) if tensor.strides else None
    # The capsule stays unconsumed: its own destructor gives the tensor back when the last reference goes.
    return DeviceArray((tensor.data or 0) + tensor.byte_offset, shape, strides, dtype, int(device_id), (obj, capsule))


def _dltensor_address(capsule) -> int:
    get_name = ctypes.pythonapi.PyCapsule_GetName
    get_name.restype, get_name.argtypes = ctypes.c_char_p, [ctypes.py_object]
    get_pointer = ctypes.pythonapi.PyCapsule_GetPointer
    get_pointer.restype, get_pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    capsule_name = get_name(capsule)
    header = _VERSIONED_HEADER if capsule_name == b"dltensor_versioned" else 0
    return get_pointer(capsule, capsule_name) + header
