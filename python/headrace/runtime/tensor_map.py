"""Tensor maps: the parameters of cuTensorMapEncodeTiled, computed without a GPU, and the call itself.

A dimension of size 0 cannot be encoded. Such an array becomes one element of a zeroed buffer: reading outside an array
gives zeros, so every coordinate reads zero, as it must. A dimension of size 1 may have any stride in the array; it gets
a legal one, since no address depends on it.
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass

from headrace.errors import LaunchError
from headrace.runtime import driver
from headrace.runtime.arrays import DeviceArray
from headrace.runtime.dtypes import SIZES
from headrace.runtime.schema import TensorMap

#: Bytes: alignment of the address and of the strides, and the strides' bound (cuTensorMapEncodeTiled's documentation).
_ALIGNMENT = 16
_STRIDE_LIMIT = 2**40

#: Bytes of the zeroed buffer that stands in for an empty array; its one element is at most 16 bytes.
ZERO_BUFFER_BYTES = 256

_DATA_TYPES = {
    "u8": "UINT8", "u16": "UINT16", "u32": "UINT32", "i32": "INT32", "i64": "INT64", "f16": "FLOAT16",
    "f32": "FLOAT32", "f64": "FLOAT64", "bf16": "BFLOAT16", "tf32": "TFLOAT32",
}  # fmt: skip
_SWIZZLES = {0: "NONE", 32: "32B", 64: "64B", 128: "128B"}
_L2_PROMOTIONS = {0: "NONE", 64: "L2_64B", 128: "L2_128B", 256: "L2_256B"}


@dataclass(frozen=True)
class EncodeParameters:
    """What cuTensorMapEncodeTiled is given, innermost dimension first.

    `address` None is the zeroed buffer. dims and box are in elements; strides (all but the first dimension) in bytes.
    """

    dtype: str
    address: int | None
    dims: tuple[int, ...]
    strides: tuple[int, ...]
    box: tuple[int, ...]
    swizzle: int
    l2_promotion: int


def encode_parameters(tensor_map: TensorMap, array: DeviceArray, name: str) -> EncodeParameters:
    """The parameters for `tensor_map` of `array`. `name` is the argument's, for errors.

    Raises LaunchError if the array breaks a rule of tensor maps: address and strides in multiples of 16 bytes, strides
    below 2^40 bytes, innermost stride 1, no broadcast (stride 0) dimension.
    """
    size = tensor_map.element_bytes
    if size != SIZES[array.dtype]:
        _fail(name, f"{size}-byte elements", f"{array.dtype}, {SIZES[array.dtype]} bytes")
    if array.empty or not array.ptr:
        dims = (1,) * len(tensor_map.dims)
        address, strides = None, (_ALIGNMENT,) * (len(dims) - 1)
    else:
        dims = tuple(array.shape[d] for d in tensor_map.dims)
        address, strides = array.ptr, _byte_strides(tensor_map, array, dims, name)
        if address % _ALIGNMENT:
            _fail(name, f"a pointer that is a multiple of {_ALIGNMENT} bytes", f"{address:#x}")
    return EncodeParameters(
        tensor_map.dtype, address, dims, strides, tensor_map.box, tensor_map.swizzle, tensor_map.l2_promotion
    )


def _byte_strides(tensor_map: TensorMap, array: DeviceArray, dims, name: str) -> tuple[int, ...]:
    size = tensor_map.element_bytes
    innermost = tensor_map.dims[0]
    if dims[0] > 1 and array.strides[innermost] != 1:
        _fail(name, f"stride {innermost} to be 1", array.strides[innermost])
    strides = []
    extent = dims[0] * size
    for dim, count in zip(tensor_map.dims[1:], dims[1:], strict=True):
        stride = array.strides[dim] * size
        if count == 1:
            stride = _compact_stride(extent)
        elif stride == 0:
            _fail(name, f"dimension {dim} not to be a broadcast", f"stride 0 and size {count}")
        elif stride % _ALIGNMENT or stride >= _STRIDE_LIMIT:
            _fail(name, f"stride {dim} to be a multiple of {_ALIGNMENT} bytes below 2^40", f"{stride} bytes")
        strides.append(stride)
        extent = stride * count
    return tuple(strides)


def _compact_stride(extent: int) -> int:
    """The stride of a size-1 dimension that follows `extent` bytes without a gap, or any legal one if it is too far."""
    stride = -(-extent // _ALIGNMENT) * _ALIGNMENT
    return stride if stride < _STRIDE_LIMIT else _ALIGNMENT


def encode(parameters: EncodeParameters, zero_buffer: int | None, name: str):
    """The 128-byte tensor map as a ctypes buffer. `zero_buffer` is the address used where `parameters.address` is None.

    Raises LaunchError with the parameters if CUDA refuses them.
    """
    api = driver.bindings()
    rank = len(parameters.dims)
    address = zero_buffer if parameters.address is None else parameters.address
    tensor_map = driver.call(
        "cuTensorMapEncodeTiled",
        getattr(api.CUtensorMapDataType, f"CU_TENSOR_MAP_DATA_TYPE_{_DATA_TYPES[parameters.dtype]}"),
        rank,
        address,
        [api.cuuint64_t(d) for d in parameters.dims],
        # The driver wants a list even for rank 1, where it reads none of it.
        [api.cuuint64_t(s) for s in parameters.strides or (_ALIGNMENT,)],
        [api.cuuint32_t(b) for b in parameters.box],
        [api.cuuint32_t(1)] * rank,
        api.CUtensorMapInterleave.CU_TENSOR_MAP_INTERLEAVE_NONE,
        getattr(api.CUtensorMapSwizzle, f"CU_TENSOR_MAP_SWIZZLE_{_SWIZZLES[parameters.swizzle]}"),
        getattr(api.CUtensorMapL2promotion, f"CU_TENSOR_MAP_L2_PROMOTION_{_L2_PROMOTIONS[parameters.l2_promotion]}"),
        api.CUtensorMapFloatOOBfill.CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE,
        context=f"encoding the tensor map of argument '{name}' from {parameters}",
    )
    return (ctypes.c_char * 128).from_buffer_copy(ctypes.string_at(tensor_map.getPtr(), 128))


def _fail(name: str, expected: str, got):
    raise LaunchError(f"argument '{name}': expected {expected}, got {got}, because the kernel reads it by tensor map")
