"""Checks a call's arguments against the launch record before anything reaches the driver.

Every violation is one LaunchError that names the argument, what was expected, what was given and why it matters.
"""

from __future__ import annotations

from headrace.errors import LaunchError
from headrace.runtime.arrays import DeviceArray
from headrace.runtime.dtypes import SIZES, accepts, checked_integer, is_integer
from headrace.runtime.schema import Arg, Record, Requirement

#: Kernels index with 32 bits, so every dimension must stay below this; byte offsets may exceed it.
DIM_LIMIT = 2**31


def check(record: Record, args) -> None:
    """Checks `args` (a DeviceArray per array, a number per scalar, in the record's order). Raises LaunchError."""
    check_count(record, args)
    for arg, value in zip(record.args, args, strict=True):
        if arg.kind == "array":
            _check_array(arg, value)
        elif is_integer(arg.dtype):
            checked_integer(value, arg.dtype, arg.name)
    for requirement in record.contract:
        _CHECKS[requirement.what](record.args[requirement.arg], args[requirement.arg], requirement)


def check_count(record: Record, args) -> None:
    """Checks that there are as many arguments as the kernel takes. Raises LaunchError."""
    if len(args) != len(record.args):
        names = ", ".join(arg.name for arg in record.args)
        raise LaunchError(f"kernel '{record.kernel}': expected {len(record.args)} arguments ({names}), got {len(args)}")


def _check_array(arg: Arg, array: DeviceArray) -> None:
    if not accepts(arg.dtype, array.dtype):
        _fail(arg, arg.dtype, array.dtype, "the kernel was compiled for that dtype")
    if len(array.shape) != len(arg.shape):
        _fail(arg, f"{len(arg.shape)} dimensions", f"{len(array.shape)}", "the kernel was compiled for that rank")
    for dim, (expected, extent) in enumerate(zip(arg.shape, array.shape, strict=True)):
        if not 0 <= extent < DIM_LIMIT:
            _fail(arg, f"dimension {dim} from 0 to {DIM_LIMIT - 1}", extent, "the kernel indexes with 32 bits")
        if expected is not None and extent != expected:
            _fail(arg, f"dimension {dim} to be {expected}", extent, "the kernel was compiled for that size")
    if not array.ptr and not array.empty:
        _fail(arg, "a device pointer", "null", f"the array has shape {array.shape}")
    for dim, (expected, stride) in enumerate(zip(arg.strides, array.strides, strict=True)):
        if _stride_is_free(array, dim):
            continue
        if stride < 0:
            _fail(arg, f"stride {dim} of at least 0", stride, "kernels address forward only")
        if expected is not None and stride != expected:
            _fail(arg, f"stride {dim} to be {expected}", stride, "the kernel was compiled for that stride")


def _stride_is_free(array: DeviceArray, dim: int) -> bool:
    """A stride that no element's address depends on."""
    return array.shape[dim] <= 1 or array.empty


def _check_pointer_multiple(arg: Arg, array: DeviceArray, requirement: Requirement) -> None:
    if not array.empty and array.ptr % requirement.of:
        _fail(arg, f"a pointer that is a multiple of {requirement.of} bytes", f"{array.ptr:#x}", requirement.because)


def _check_stride_multiple(arg: Arg, array: DeviceArray, requirement: Requirement) -> None:
    size = SIZES[arg.dtype]
    stride = array.strides[requirement.dim]
    if not _stride_is_free(array, requirement.dim) and stride * size % requirement.of:
        _fail(
            arg,
            f"stride {requirement.dim} to be a multiple of {requirement.of} bytes",
            f"{stride} elements, {stride * size} bytes",
            requirement.because,
        )


def _check_dim_multiple(arg: Arg, array: DeviceArray, requirement: Requirement) -> None:
    extent = array.shape[requirement.dim]
    if extent % requirement.of:
        _fail(arg, f"dimension {requirement.dim} to be a multiple of {requirement.of}", extent, requirement.because)


def _check_scalar_multiple(arg: Arg, value, requirement: Requirement) -> None:
    if value % requirement.of:
        _fail(arg, f"a multiple of {requirement.of}", value, requirement.because)


_CHECKS = {
    "pointer_multiple": _check_pointer_multiple,
    "stride_multiple": _check_stride_multiple,
    "dim_multiple": _check_dim_multiple,
    "scalar_multiple": _check_scalar_multiple,
}


def _fail(arg: Arg, expected, got, because: str):
    raise LaunchError(f"argument '{arg.name}': expected {expected}, got {got}, because {because}")
