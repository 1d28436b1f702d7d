"""Arrays of other libraries, played by numpy arrays that claim to lie in device memory."""

import ml_dtypes
import numpy as np
import pytest

from headrace import DeviceArray, LaunchError
from headrace.runtime.arrays import adapt, compact_strides


class InterfaceArray:
    """Has __cuda_array_interface__; strides None when contiguous, as cupy and numba say it."""

    def __init__(self, values, **changes):
        interface = values.__array_interface__
        self.values = values
        self.__cuda_array_interface__ = {
            "shape": values.shape,
            "typestr": interface["typestr"],
            "data": interface["data"],
            "strides": interface["strides"],
            "version": 3,
            **changes,
        }


class NamedDtypeArray(InterfaceArray):
    """As cupy's arrays: the dtype attribute knows the name that typestr cannot spell."""

    @property
    def dtype(self):
        return self.values.dtype


class DlpackArray:
    """Hands out numpy's own capsule, but claims a CUDA device."""

    def __init__(self, values, device=(2, 3)):
        self.values, self.device = values, device

    def __dlpack_device__(self):
        return self.device

    def __dlpack__(self, stream=None):
        self.stream = stream
        return self.values.__dlpack__()


def test_compact_strides():
    assert compact_strides((2, 3, 5)) == (15, 5, 1)
    assert compact_strides(()) == ()
    assert compact_strides((4, 0)) == (0, 1)


def test_device_array_passes_through():
    given = DeviceArray(4096, [2, 3], None, "f32")
    assert adapt(given, "x") is given
    assert (given.shape, given.strides, given.empty) == ((2, 3), (3, 1), False)


def test_device_array_refuses_other_dtypes_and_ranks():
    with pytest.raises(LaunchError, match=r"expected a dtype among bf16, .*, got 'c64'"):
        DeviceArray(0, (1,), None, "c64")
    with pytest.raises(LaunchError, match="expected 2 strides, as its shape, got 1"):
        DeviceArray(0, (1, 1), (1,), "f32")


@pytest.mark.parametrize(
    ("kind", "dtype"),
    [
        (np.float16, "f16"), (np.float32, "f32"), (np.float64, "f64"), (np.bool_, "i1"), (np.int8, "i8"),
        (np.int16, "i16"), (np.int32, "i32"), (np.int64, "i64"), (np.uint8, "u8"), (np.uint16, "u16"),
        (ml_dtypes.bfloat16, "u16"), (ml_dtypes.float8_e4m3fn, "u8"),
    ],
)  # fmt: skip
def test_interface_dtypes(kind, dtype):
    values = np.zeros((3, 4), kind)
    adapted = adapt(InterfaceArray(values), "x")
    assert (adapted.ptr, adapted.shape, adapted.strides, adapted.dtype) == (values.ctypes.data, (3, 4), (4, 1), dtype)


@pytest.mark.parametrize(
    ("kind", "dtype"),
    [(ml_dtypes.bfloat16, "bf16"), (ml_dtypes.float8_e4m3fn, "e4m3"), (ml_dtypes.float8_e5m2, "e5m2")],
)
def test_interface_with_named_dtype(kind, dtype):
    assert adapt(NamedDtypeArray(np.zeros(4, kind)), "x").dtype == dtype


def test_interface_strides_are_in_elements():
    values = np.zeros((6, 8), np.float32)[::2, ::4].T
    adapted = adapt(InterfaceArray(values), "x")
    assert (adapted.shape, adapted.strides) == ((2, 3), (4, 16))


def test_interface_keeps_its_owner():
    given = InterfaceArray(np.zeros(4, np.float32))
    assert adapt(given, "x").owner is given


def test_interface_of_an_empty_array():
    given = InterfaceArray(np.zeros((0, 4), np.float32), data=(None, False))
    assert adapt(given, "x").ptr == 0


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"typestr": "<c8"}, "argument 'x': expected a little-endian dtype of the kernel, got typestr '<c8'"),
        ({"typestr": ">f4"}, "argument 'x': expected a little-endian dtype of the kernel, got typestr '>f4'"),
        (
            {"strides": (6,)},
            "argument 'x': expected strides that are multiples of the element's 4 bytes, got (6,)",
        ),
    ],
)
def test_interface_refuses(changes, message):
    with pytest.raises(LaunchError) as caught:
        adapt(InterfaceArray(np.zeros(4, np.float32), **changes), "x")
    assert str(caught.value) == message


@pytest.mark.parametrize(("kind", "dtype"), [(np.float32, "f32"), (np.int8, "i8"), (np.uint16, "u16"), (bool, "i1")])
def test_dlpack(kind, dtype):
    values = np.zeros((6, 8), kind)[1::2, ::4]
    adapted = adapt(DlpackArray(values), "x")
    assert (adapted.ptr, adapted.shape, adapted.strides) == (values.ctypes.data, (3, 2), (16, 4))
    assert (adapted.dtype, adapted.device) == (dtype, 3)


@pytest.mark.parametrize(("stream", "spelled"), [(0, 1), (1234, 1234)])
def test_dlpack_gets_the_stream(stream, spelled):
    given = DlpackArray(np.zeros(3, np.float32))
    adapt(given, "x", stream)
    assert given.stream == spelled


def test_dlpack_keeps_the_memory_alive():
    values = np.zeros(1000, np.float32)
    values.flags.writeable = True
    adapted = adapt(DlpackArray(values), "x")
    values[:] = 3
    del values
    read = np.ctypeslib.as_array((np.ctypeslib.ctypes.c_float * 1000).from_address(adapted.ptr))
    assert (read == 3).all()


def test_dlpack_refuses_host_memory_and_other_dtypes():
    with pytest.raises(LaunchError) as caught:
        adapt(DlpackArray(np.zeros(3), device=(1, 0)), "x")
    assert str(caught.value) == "argument 'x': expected an array in CUDA device memory, got DLPack device type 1"
    with pytest.raises(LaunchError, match="expected a dtype of the kernel, got DLPack type code 5, 64 bits, 1 lanes"):
        adapt(DlpackArray(np.zeros(3, np.complex64)), "x")


def test_refuses_what_is_no_array():
    with pytest.raises(LaunchError) as caught:
        adapt([1, 2], "x")
    assert str(caught.value) == (
        "argument 'x': expected a torch tensor, a headrace.DeviceArray or an object with __cuda_array_interface__ or "
        "__dlpack__, got list"
    )


def test_refuses_torch_tensors_of_the_host():
    torch = pytest.importorskip("torch")
    with pytest.raises(LaunchError) as caught:
        adapt(torch.zeros(3), "x")
    assert str(caught.value) == "argument 'x': expected an array in device memory, got a cpu tensor"
