"""Launching, against a driver that records what it is asked to do."""

import ctypes
import functools
import json
import types

import pytest

from headrace import Kernel, LaunchError
from headrace.runtime import context, driver
from headrace.runtime.context import runs_on, stream_handle
from records import BASE, array, gemm_arguments, gemm_record

api = pytest.importorskip("cuda.bindings.driver")

SUCCESS = api.CUresult.CUDA_SUCCESS
_ATTRIBUTES = {
    "COMPUTE_CAPABILITY_MAJOR": 9,
    "COMPUTE_CAPABILITY_MINOR": 0,
    "MAX_SHARED_MEMORY_PER_BLOCK_OPTIN": 232448,
    "MULTIPROCESSOR_COUNT": 132,
}
_ZEROS = 0x500000


class FakeDriver(types.SimpleNamespace):
    """Enumerations and structures of cuda-bindings, functions of its own. `calls` lists (name, arguments)."""

    def __init__(self, attributes=_ATTRIBUTES, failing=()):
        super().__init__(calls=[], attributes=attributes, failing=failing, addresses={})

    def __getattr__(self, name):
        is_function = name.startswith("cu") and name[2].isupper()
        return functools.partial(self.record, name) if is_function else getattr(api, name)

    def record(self, name, *args):
        self.calls.append((name, args))
        if name in self.failing:
            return (api.CUresult.CUDA_ERROR_INVALID_VALUE,)
        answer = getattr(type(self), f"do_{name}", None)
        result = answer(self, *args) if answer else None
        return (SUCCESS,) if result is None else (SUCCESS, result)

    def do_cuGetErrorString(self, status):  # noqa: N802
        return b"invalid argument"

    def do_cuCtxGetCurrent(self):  # noqa: N802
        return 77

    def do_cuCtxGetDevice(self):  # noqa: N802
        return 0

    def do_cuDeviceGetAttribute(self, attribute, device):  # noqa: N802
        return self.attributes[attribute.name.removeprefix("CU_DEVICE_ATTRIBUTE_")]

    def do_cuModuleLoadData(self, image):  # noqa: N802
        return "module"

    def do_cuModuleGetFunction(self, module, name):  # noqa: N802
        return f"function {name.decode()}"

    def do_cuGetProcAddress(self, name, version, flags):  # noqa: N802
        return self.addresses.get(name, 0), 0

    def do_cuMemAlloc(self, size):  # noqa: N802
        return _ZEROS

    def do_cuTensorMapEncodeTiled(self, *args):  # noqa: N802
        return api.CUtensorMap()

    def do_cuLaunchKernel(self, *args):  # noqa: N802
        self.params = args[-2]

    def do_cuLaunchKernelEx(self, config, function, params, extra):  # noqa: N802
        self.params = params

    def named(self, name):
        return [args for called, args in self.calls if called == name]

    def param(self, index, kind):
        """The value of kernel parameter `index` as the driver would read it."""
        return kind.from_address((ctypes.c_uint64 * (index + 1)).from_address(self.params)[index]).value


@pytest.fixture
def fake(monkeypatch):
    installed = FakeDriver()
    monkeypatch.setattr(driver, "bindings", lambda: installed)
    return installed


def test_launches_with_the_record_s_parameters(fake):
    kernel = Kernel(gemm_record(), b"cubin")
    kernel(*gemm_arguments(), stream=9)
    ((function, *launch, _, _),) = fake.named("cuLaunchKernel")
    assert (function, launch) == ("function gemm", [9, 1, 1, 384, 1, 1, 213248, 9])
    assert fake.param(2, ctypes.c_uint64) == BASE
    assert fake.param(3, ctypes.c_int64) == 520
    assert fake.param(4, ctypes.c_int32) == 300
    assert fake.param(5, ctypes.c_float) == 0.5
    assert fake.param(6, ctypes.c_int32) == 4
    assert [(a.name, v) for _, a, v in fake.named("cuFuncSetAttribute")] == [
        ("CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES", 213248)
    ]


def test_a_repetition_calls_the_driver_itself(fake, monkeypatch):
    launches, status = [], [0]
    kind = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, *(ctypes.c_uint,) * 7, *(ctypes.c_void_p,) * 3)
    entry = kind(lambda *args: (launches.append((*args, fake.params)), status[0])[1])
    fake.addresses = {b"cuLaunchKernel": ctypes.cast(entry, ctypes.c_void_p).value}
    monkeypatch.setattr(FakeDriver, "do_cuModuleGetFunction", lambda self, module, name: 2**40 + 8)
    again = Kernel(gemm_record(), b"cubin").launch(*gemm_arguments(), stream=9)
    assert again(2**33)
    ((function, *shape, stream, params, extra, first),) = launches
    assert (function, shape, stream, extra) == (2**40 + 8, [9, 1, 1, 384, 1, 1, 213248], 2**33, None)
    assert params == first
    status[0] = 1
    assert not again(0)


def test_without_the_driver_s_address_nothing_is_repeated(fake):
    assert Kernel(gemm_record(), b"cubin").launch(*gemm_arguments()) is None
    assert len(fake.named("cuLaunchKernel")) == 1


def test_persistent_grid_is_bounded_by_the_device(fake):
    kernel = Kernel(gemm_record(min_ctas_per_sm=2), b"cubin")
    kernel(*gemm_arguments(m=128 * 100, n=256 * 100))
    assert fake.named("cuLaunchKernel")[0][1] == 264


def test_persistent_grid_is_no_larger_than_its_rounds_need(fake):
    kernel = Kernel(gemm_record(), b"cubin")
    kernel(*gemm_arguments(m=128 * 32, n=256 * 16))  # 512 tiles on 132 processors: 4 rounds of 128
    kernel(*gemm_arguments(m=128 * 133, n=256))  # 2 rounds, of 67 and 66
    assert [call[1] for call in fake.named("cuLaunchKernel")] == [128, 67]


def test_trips_bound_the_rounds_of_a_persistent_grid(fake):
    record = gemm_record()
    record["grid"]["trips"] = 4
    Kernel(record, b"cubin")(*gemm_arguments(m=128 * 1000, n=256))  # 4 rounds instead of 8
    Kernel(record, b"cubin")(*gemm_arguments(m=128 * 200, n=256))  # 2 rounds anyway
    assert [call[1] for call in fake.named("cuLaunchKernel")] == [250, 100]


def test_grid_override(fake):
    Kernel(gemm_record(), b"cubin")(*gemm_arguments(), grid=[5, 2])
    assert fake.named("cuLaunchKernel")[0][1:4] == (5, 2, 1)


def test_no_programs_no_launch(fake):
    kernel = Kernel(gemm_record(), b"cubin")
    kernel(*gemm_arguments(m=0))
    kernel(*gemm_arguments(n=0))
    assert not fake.named("cuLaunchKernel")


def test_repeated_launch_does_nothing_but_launch(fake):
    kernel = Kernel(gemm_record(), b"cubin")
    kernel(*gemm_arguments())
    fake.calls.clear()
    kernel(*gemm_arguments())
    assert [name for name, _ in fake.calls] == ["cuCtxGetCurrent", "cuLaunchKernel"]


def test_tensor_maps_are_kept_for_arrays_that_stay(fake):
    kernel = Kernel(gemm_record(), b"cubin")
    kernel(*gemm_arguments())
    kernel(*gemm_arguments(alpha=2.0, A=array((300, 64), ptr=BASE + 256)))
    assert len(fake.named("cuTensorMapEncodeTiled")) == 3
    assert len(fake.named("cuModuleLoadData")) == 1


@pytest.mark.parametrize(("first", "second"), [(0.0, -0.0), (1.0, 1.5)])
def test_scalars_do_not_share_a_plan(fake, first, second):
    kernel = Kernel(gemm_record(), b"cubin")
    kernel(*gemm_arguments(alpha=first))
    kernel(*gemm_arguments(alpha=second))
    assert str(fake.param(5, ctypes.c_float)) == str(second)


def test_empty_array_reads_a_zeroed_buffer(fake):
    kernel = Kernel(gemm_record(), b"cubin")
    for _ in range(2):
        kernel(*gemm_arguments(k=0), stream=9)
    assert [args[2] for args in fake.named("cuTensorMapEncodeTiled")] == [_ZEROS] * 2
    assert fake.named("cuMemAlloc") == [(256,)] * 2
    assert fake.named("cuMemsetD8Async") == [(_ZEROS, 0, 256, 9)] * 4


def test_cluster_launch(fake):
    Kernel(gemm_record(cluster=[2, 1, 1], shared_bytes=1024), b"cubin")(*gemm_arguments(), stream=9)
    ((config, function, _, _),) = fake.named("cuLaunchKernelEx")
    assert (function, config.gridDimX, config.blockDimX, config.sharedMemBytes) == ("function gemm", 10, 384, 1024)
    assert (config.numAttrs, int(config.hStream)) == (1, 9)
    dimensions = config.attrs[0].value.clusterDim
    assert (dimensions.x, dimensions.y, dimensions.z) == (2, 1, 1)
    assert not fake.named("cuFuncSetAttribute")


def test_grid_must_fill_clusters(fake):
    kernel = Kernel(gemm_record(cluster=[2, 1, 1]), b"cubin")
    with pytest.raises(LaunchError) as caught:
        kernel(*gemm_arguments(), grid=3)
    assert str(caught.value) == (
        "kernel 'gemm': expected a multiple of 2 programs along x, got 3, because of its cluster (2, 1, 1)"
    )


def test_grid_limits(fake):
    with pytest.raises(LaunchError) as caught:
        Kernel(gemm_record(), b"cubin")(*gemm_arguments(), grid=(1, 65536))
    assert str(caught.value) == "kernel 'gemm': expected 0 to 65535 programs along y, got 65536"


def test_contract_is_checked_before_the_driver_is_asked(fake):
    with pytest.raises(LaunchError, match="groups are handled in pairs"):
        Kernel(gemm_record(), b"cubin")(*gemm_arguments(groups=3))
    assert [name for name, _ in fake.calls] == ["cuCtxGetCurrent"]


def test_stride_that_does_not_fit_its_parameter(fake):
    record = gemm_record()
    record["params"][3]["type"] = "i32"
    with pytest.raises(LaunchError) as caught:
        Kernel(record, b"cubin")(*gemm_arguments(C=array((300, 520), (2**32, 1))))
    assert str(caught.value) == "argument 'C': expected a value of i32, -2147483648 to 2147483647, got 4294967296"


def test_driver_errors_name_the_call(fake):
    fake.failing = ("cuModuleLoadData",)
    with pytest.raises(LaunchError) as caught:
        Kernel(gemm_record(), b"cubin")(*gemm_arguments())
    assert str(caught.value) == ("cuModuleLoadData: CUDA_ERROR_INVALID_VALUE, invalid argument, loading kernel 'gemm'")


def test_tensor_map_errors_show_the_parameters(fake):
    fake.failing = ("cuTensorMapEncodeTiled",)
    with pytest.raises(
        LaunchError, match=r"of argument 'A' from EncodeParameters\(.*dims=\(64, 300\), strides=\(128,\)"
    ):
        Kernel(gemm_record(), b"cubin")(*gemm_arguments())


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("COMPUTE_CAPABILITY_MAJOR", 8, "expected a device that runs sm_90a, got compute capability 8.0"),
        (
            "MAX_SHARED_MEMORY_PER_BLOCK_OPTIN",
            101376,
            "expected at least 213248 bytes of shared memory, the device has 101376",
        ),
    ],
)
def test_device_that_cannot_run_the_kernel(fake, name, value, message):
    fake.attributes = {**_ATTRIBUTES, name: value}
    with pytest.raises(LaunchError) as caught:
        Kernel(gemm_record(), b"cubin")(*gemm_arguments())
    assert str(caught.value) == f"kernel 'gemm': {message}"


def test_array_of_another_device(fake):
    with pytest.raises(LaunchError) as caught:
        Kernel(gemm_record(), b"cubin")(*gemm_arguments(B=array((520, 64), device=1)))
    assert str(caught.value) == (
        "argument 'B': expected an array on device 0, got device 1, because that is the current context's device"
    )


def test_makes_the_primary_context_current_if_there_is_none(monkeypatch):
    calls = []
    answers = {"cuCtxGetCurrent": 0, "cuDeviceGet": 1, "cuDevicePrimaryCtxRetain": 55}
    monkeypatch.setattr(driver, "call", lambda name, *args: calls.append((name, *args)) or answers.get(name))
    assert context.current_context(1) == 55
    assert calls[1:] == [("cuDeviceGet", 1), ("cuDevicePrimaryCtxRetain", 1), ("cuCtxSetCurrent", 55)]


@pytest.mark.parametrize(
    ("target", "capability", "runs"),
    [
        ("sm_90a", (9, 0), True), ("sm_90a", (10, 0), False), ("sm_100a", (10, 3), False), ("sm_100f", (10, 3), True),
        ("sm_80", (8, 9), True), ("sm_86", (8, 0), False), ("sm_80", (9, 0), False), ("sm_75", (7, 5), True),
    ],
)  # fmt: skip
def test_targets(target, capability, runs):
    assert runs_on(target, capability) == runs


def test_streams():
    assert stream_handle(None, []) == 0
    assert stream_handle(12, []) == 12
    assert stream_handle(types.SimpleNamespace(cuda_stream=13), []) == 13
    assert stream_handle(types.SimpleNamespace(ptr=14), []) == 14
    assert stream_handle(types.SimpleNamespace(__cuda_stream__=lambda: (0, 15)), []) == 15
    with pytest.raises(LaunchError, match="expected a stream or its handle, got str"):
        stream_handle("main", [])


def test_kernel_from_files(fake, tmp_path):
    path = tmp_path / "gemm.v1.json"
    path.write_text(json.dumps(gemm_record()))
    with pytest.raises(LaunchError, match=r"gemm\.v1\.cubin': cannot read it: No such file or directory"):
        Kernel(path)
    path.with_suffix(".cubin").write_bytes(b"image")
    Kernel(path)(*gemm_arguments())
    assert fake.named("cuModuleLoadData") == [(b"image",)]


def test_record_without_cubin():
    with pytest.raises(LaunchError, match="kernel 'gemm': expected the cubin's bytes with a record, got none"):
        Kernel(gemm_record())


def test_missing_bindings_say_how_to_install(monkeypatch):
    driver.bindings.cache_clear()
    monkeypatch.setitem(__import__("sys").modules, "cuda.bindings", None)
    with pytest.raises(LaunchError, match="because kernels are launched through it: pip install cuda-bindings"):
        driver.bindings()


def test_scalar_that_is_no_number(fake):
    with pytest.raises(LaunchError) as caught:
        Kernel(gemm_record(), b"cubin")(*gemm_arguments(alpha=[1.0]))
    assert str(caught.value) == "argument 'alpha': expected a number, got list"
