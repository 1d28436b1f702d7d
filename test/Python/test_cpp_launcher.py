"""The C++ launcher asks the CUDA driver for just what the Python launcher asks for; it fails with the same words."""

from __future__ import annotations

import ctypes
import importlib
import json
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from language_tools import use_tools

import headrace as hr
from headrace import Kernel, LaunchError
from headrace.runtime import driver
from headrace.runtime.arrays import DeviceArray
from headrace.runtime.dtypes import SIZES, is_integer
from records import BASE, array, gemm_arguments, gemm_record

api = pytest.importorskip("cuda.bindings.driver")

from test_launch import FakeDriver  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
_SOURCES = Path(__file__).resolve().parent / "cpp_launcher"
_FIRST_BUFFER, _BUFFER_STEP = 0x500000, 0x1000
_STREAM = 9


def compile_cpp(*arguments: str | Path) -> subprocess.CompletedProcess:
    cuda = [Path(folder) / "include" for folder in (os.environ.get("CUDA_HOME"), "/usr/local/cuda") if folder]
    command = ["g++", "-std=c++17", "-Wall", "-Wextra", "-Werror", f"-I{ROOT / 'include'}", *(f"-I{p}" for p in cuda)]
    return subprocess.run([*command, *map(str, arguments)], capture_output=True, text=True, check=False)


@pytest.fixture(scope="session")
def compiler(tmp_path_factory) -> None:
    if shutil.which("g++") is None:
        pytest.skip("g++ is not installed")
    for header in ("cuda.h", "nlohmann/json.hpp"):
        source = tmp_path_factory.mktemp("header") / "header.cpp"
        source.write_text(f"#include <{header}>\n")
        if compile_cpp("-E", source, "-o", os.devnull).returncode:
            pytest.skip(f"{header} is not installed, or not in $CPATH")


@pytest.fixture(scope="session")
def probe(compiler, tmp_path_factory) -> Path:
    """The program that launches, linked with a driver that writes down what it is asked for."""
    folder = tmp_path_factory.mktemp("probe")
    library, program = folder / "libcuda.so.1", folder / "probe"
    for arguments in (
        ("-shared", "-fPIC", "-Wl,-soname,libcuda.so.1", _SOURCES / "stub_cuda.cpp", "-o", library),
        (_SOURCES / "probe.cpp", library, f"-Wl,-rpath,{folder}", "-o", program),
    ):
        done = compile_cpp(*arguments)
        assert done.returncode == 0, done.stderr
    return program


def test_example_compiles(compiler):
    done = compile_cpp("-fsyntax-only", "-Wconversion", ROOT / "examples" / "cpp" / "vector_add.cpp")
    assert done.returncode == 0, done.stderr


class NumberedDriver(FakeDriver):
    """Numbers its tensor maps and buffers as the stub in C++ does, and keeps the bytes of the launched parameters."""

    def __init__(self, record: dict):
        major, minor = divmod(int(record["target"].strip("sm_af")), 10)
        capability = {"COMPUTE_CAPABILITY_MAJOR": major, "COMPUTE_CAPABILITY_MINOR": minor}
        super().__init__({**FakeDriver().attributes, **capability})
        self.sizes, self.maps, self.buffers, self.launched = parameter_sizes(record), 0, 0, []

    def do_cuTensorMapEncodeTiled(self, *args):  # noqa: N802
        self.maps += 1
        tensor_map = api.CUtensorMap()
        ctypes.memset(tensor_map.getPtr(), self.maps, 128)
        return tensor_map

    def do_cuMemAlloc(self, size):  # noqa: N802
        self.buffers += 1
        return _FIRST_BUFFER + (self.buffers - 1) * _BUFFER_STEP

    def do_cuLaunchKernel(self, function, *args):  # noqa: N802
        self._keep(args[:3], args[3:6], args[6], args[7], [], args[8])

    def do_cuLaunchKernelEx(self, config, function, params, extra):  # noqa: N802
        cluster = config.attrs[0].value.clusterDim
        self._keep(
            (config.gridDimX, config.gridDimY, config.gridDimZ), (config.blockDimX, config.blockDimY, config.blockDimZ),
            config.sharedMemBytes, int(config.hStream),
            [[int(config.attrs[0].id), cluster.x, cluster.y, cluster.z]], params,
        )  # fmt: skip

    def _keep(self, grid, block, shared, stream, attributes, params):
        pointers = (ctypes.c_uint64 * len(self.sizes)).from_address(params)
        values = [ctypes.string_at(pointer, size).hex() for pointer, size in zip(pointers, self.sizes, strict=True)]
        self.launched.append([list(grid), list(block), shared, stream, attributes, values])

    def told(self) -> dict[str, list]:
        """What it was asked for, as the stub in C++ writes it."""
        encoded = [
            [int(kind), int(address), [int(d) for d in dims], [int(s) for s in strides][: rank - 1],
             [int(b) for b in box], [int(s) for s in steps], *map(int, rest)]
            for kind, rank, address, dims, strides, box, steps, *rest in self.named("cuTensorMapEncodeTiled")
        ]  # fmt: skip
        return {
            "cuTensorMapEncodeTiled": encoded,
            "cuLaunchKernelEx": self.launched,
            "cuMemAlloc": [list(args) for args in self.named("cuMemAlloc")],
            "cuMemsetD8Async": [list(map(int, args)) for args in self.named("cuMemsetD8Async")],
            "cuFuncSetAttribute": [[int(a), v] for _, a, v in self.named("cuFuncSetAttribute")],
            "cuModuleGetFunction": [[name.decode()] for _, name in self.named("cuModuleGetFunction")],
        }


def parameter_sizes(record: dict) -> list[int]:
    def size(param: dict) -> int:
        if param["kind"] == "tensor_map":
            return 128
        return 8 if param["kind"] == "pointer" else SIZES[param["type"]]

    return [size(param) for param in record["params"]]


def by_python(monkeypatch, record: dict, args: list, grid=None) -> tuple[dict | None, str]:
    """What the Python launcher asks for, and its error."""
    fake = NumberedDriver(record)
    monkeypatch.setattr(driver, "bindings", lambda: fake)
    try:
        Kernel(record, b"cubin")(*args, stream=_STREAM, grid=grid)
    except LaunchError as error:
        return None, str(error)
    return fake.told(), ""


def by_cpp(probe: Path, folder: Path, record: dict, args: list, grid=None, repeat=1, **variables) -> tuple[dict, str]:
    """What the C++ launcher asks for, and its error."""
    described = [
        {"ptr": a.ptr, "dtype": a.dtype, "shape": list(a.shape), "strides": list(a.strides)}
        if isinstance(a, DeviceArray) else a for a in args
    ]  # fmt: skip
    call = {"args": described, "repeat": repeat, **({} if grid is None else {"grid": list(grid)})}
    (folder / "kernel.json").write_text(json.dumps(record))
    (folder / "kernel.cubin").write_bytes(variables.pop("cubin", b"cubin"))
    (folder / "call.json").write_text(json.dumps(call))
    log = folder / "log"
    log.unlink(missing_ok=True)
    sizes = ",".join(map(str, parameter_sizes(record)))
    environment = {**os.environ, "STUB_CUDA_LOG": str(log), "STUB_CUDA_SIZES": sizes, **variables}
    done = subprocess.run([probe, folder / "kernel.json", folder / "call.json"], capture_output=True, text=True,
                          env=environment, check=False)  # fmt: skip
    assert done.returncode in (0, 1), done.stderr
    calls = [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []
    names = ("cuTensorMapEncodeTiled", "cuLaunchKernelEx", "cuMemAlloc", "cuMemsetD8Async", "cuFuncSetAttribute",
             "cuModuleGetFunction", "cuModuleLoadData")  # fmt: skip
    return {name: [entry["args"] for entry in calls if entry["call"] == name] for name in names}, done.stderr


def compare(monkeypatch, probe: Path, folder: Path, record: dict, args: list, grid=None) -> None:
    wanted, error = by_python(monkeypatch, record, args, grid)
    got, said = by_cpp(probe, folder, record, args, grid)
    assert said == error
    if wanted is not None:
        for name, calls in wanted.items():
            assert got[name] == calls, name


def tutorial(name: str):
    sys.path.insert(0, str(ROOT / "python" / "examples" / "tutorial"))
    try:
        return importlib.import_module(name)
    finally:
        sys.path.pop(0)


_MATRIX, _VECTOR, _ROWS = hr.bf16[:, ::1], hr.f32[::1], hr.f32[:, ::1]
_HEADS = hr.bf16[:, :, ::1]

#: Module, kernel, signature of the examples.
EXAMPLES = [
    ("01_vector_add", "add", {"X": _VECTOR, "Y": _VECTOR, "Z": _VECTOR}),
    ("02_row_softmax", "softmax", {"X": _ROWS, "Y": _ROWS}),
    ("03_gemm", "gemm", {"A": _MATRIX, "B": _MATRIX, "C": _MATRIX}),
    ("04_fused_epilogue", "linear", {"X": _MATRIX, "W": _MATRIX, "bias": _VECTOR, "Y": _ROWS, "activation": None}),
    ("05_layer_norm", "layer_norm", {"X": _ROWS, "weight": _VECTOR, "bias": _VECTOR, "Y": _ROWS}),
    ("06_attention", "attention", {"Q": _HEADS, "K": _HEADS, "V": _HEADS, "O": _HEADS, "scale": 0.125}),
]


def random_arguments(record: dict, rng: random.Random) -> list:
    """Arguments within the record's contract: arrays at aligned addresses, with gaps between rows."""
    multiples = {(c["what"], c["arg"], c.get("dim")): c.get("of", c.get("bytes")) for c in record["contract"]}

    def one(index: int, info: dict):
        if info["kind"] == "scalar":
            of = multiples.get(("scalar_multiple", index, None), 1)
            return of * rng.randrange(100) if is_integer(info["dtype"]) else rng.uniform(-9, 9)
        size, pitch, strides, shape = SIZES[info["dtype"]], 1, [], []
        for dim in reversed(range(len(info["shape"]))):
            extent = rng.choice([0, 1, 1, rng.randrange(2, 40), rng.randrange(40, 3000)])
            shape.append(info["shape"][dim] or extent * multiples.get(("dim_multiple", index, dim), 1))
            strides.append(info["strides"][dim] or pitch)
            pitch = -(-strides[-1] * max(shape[-1], 1) * size // 256 + rng.randrange(2)) * 256 // size
            pitch = max(pitch, 256 // size)
        return DeviceArray(BASE + 256 * rng.randrange(1000), shape[::-1], strides[::-1], info["dtype"])

    return [one(index, info) for index, info in enumerate(record["args"])]


@pytest.mark.parametrize("target", ["sm_80", "sm_90a", "sm_100a"])
@pytest.mark.parametrize(("module", "name", "signature"), EXAMPLES, ids=[name for _, name, _ in EXAMPLES])
def test_examples_are_launched_alike(monkeypatch, probe, tmp_path, module, name, signature, target):
    use_tools(monkeypatch, tmp_path)
    record = hr.compile(getattr(tutorial(module), name), signature, target).record
    seed = random.SystemRandom().randrange(2**31)
    rng = random.Random(seed)
    print("seed", seed)
    for _ in range(12):
        compare(monkeypatch, probe, tmp_path, record, random_arguments(record, rng))


#: Changes of the record, of the arguments, and a grid.
CALLS = {
    "plain": ({}, {}, None),
    "cluster": ({"cluster": [2, 1, 1], "shared_bytes": 1024}, {}, None),
    "large cluster": ({"cluster": [16, 1, 1]}, {"m": 128 * 64, "n": 4096}, None),
    "several programs on a processor": ({"min_ctas_per_sm": 2}, {"m": 128 * 100, "n": 25600}, None),
    "rounds": ({}, {"m": 128 * 133, "n": 256}, None),
    "no programs": ({}, {"m": 0}, None),
    "empty arrays": ({}, {"k": 0}, None),
    "a row": ({}, {"m": 1, "k": 63, "A": array((1, 63), (7, 1)), "B": array((520, 63), (64, 1))}, None),
    "a grid of the caller's": ({}, {}, (5, 2, 1)),
    "a scalar that overflows": ({}, {"alpha": 1e300}, None),
    "negative scalar": ({}, {"groups": -4, "alpha": -0.0}, None),
}


@pytest.mark.parametrize("name", CALLS)
def test_calls(monkeypatch, probe, tmp_path, name):
    record, args, grid = CALLS[name]
    compare(monkeypatch, probe, tmp_path, gemm_record(**record), gemm_arguments(**args), grid)


EXPRESSIONS = [
    ["min", ["sub", ["dim", 0, 0], 301], 7], ["floordiv", ["sub", 0, ["dim", 0, 0]], 7],
    ["ceildiv", ["sub", 5, ["dim", 0, 0]], 7], ["mod", ["sub", 0, ["dim", 0, 0]], 7], ["max", ["scalar", 4], 3],
    ["ceildiv", 5, ["sub", ["dim", 0, 0], 300]], ["add", ["dim", 1, 0], ["floordiv", 9, 2]],
]  # fmt: skip


@pytest.mark.parametrize("expression", EXPRESSIONS, ids=json.dumps)
def test_grid_expressions(monkeypatch, probe, tmp_path, expression):
    record = gemm_record(grid={"x": expression, "y": 1, "z": 2, "persistent": False})
    compare(monkeypatch, probe, tmp_path, record, gemm_arguments())


def test_trips(monkeypatch, probe, tmp_path):
    record = gemm_record(grid={"x": ["mul", ["dim", 0, 0], 3], "y": 1, "z": 1, "persistent": True, "trips": 3})
    compare(monkeypatch, probe, tmp_path, record, gemm_arguments())


REFUSED = {
    "too few arguments": gemm_arguments()[:4],
    "pointer": gemm_arguments(A=array((300, 64), ptr=BASE + 8)),
    "stride": gemm_arguments(A=array((300, 64), (65, 1))),
    "broadcast": gemm_arguments(B=array((520, 64), (0, 1))),
    "inner stride": gemm_arguments(A=array((300, 64), (128, 2))),
    "dimension": gemm_arguments(n=521),
    "scalar": gemm_arguments(groups=3),
    "dtype": gemm_arguments(A=array((300, 64), dtype="f16")),
    "rank": gemm_arguments(A=array((300, 64, 1))),
    "extent": gemm_arguments(C=array((2**31, 520))),
    "null": gemm_arguments(C=array((300, 520), ptr=0)),
    "negative stride": gemm_arguments(C=array((300, 520), (-520, 1))),
    "range": gemm_arguments(groups=2**31),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused_calls(monkeypatch, probe, tmp_path, name):
    _, error = by_python(monkeypatch, gemm_record(), REFUSED[name])
    _, said = by_cpp(probe, tmp_path, gemm_record(), REFUSED[name])
    assert error
    # The Python launcher also lists the names of all arguments and the shape.
    assert said == error or name in ("too few arguments", "null")
    assert said.split("expected")[0] == error.split("expected")[0]


@pytest.mark.parametrize("dtype", ["bf16", "f16", "e4m3", "e5m2", "f32", "f64", "i8", "i16", "i64", "i1"])
def test_scalars(monkeypatch, probe, tmp_path, dtype):
    record = gemm_record(contract=[])
    record["args"][3]["dtype"] = record["params"][5]["type"] = dtype
    rng = random.SystemRandom()
    values = [0, 1] if dtype == "i1" else [-128, 5, 127] if is_integer(dtype) else [
        0.0, -0.0, 448.0, 464.0, 465.0, 57344.0, 61440.0, 65504.0, 65520.0, 3.4e38, 1e300, 2.0**-9, 2.0**-10,
        1.5 * 2.0**-10, 2.0**-17, 1.0625001, 1.125, -1.1875,
        *(rng.uniform(-2, 2) * 2.0 ** rng.randrange(-30, 30) for _ in range(5)),
    ]  # fmt: skip
    for value in values:
        compare(monkeypatch, probe, tmp_path, record, gemm_arguments(alpha=value))


def test_repeated_launch_loads_and_allocates_once(probe, tmp_path):
    calls, said = by_cpp(probe, tmp_path, gemm_record(), gemm_arguments(k=0), repeat=3)
    assert not said
    assert {name: len(made) for name, made in calls.items()} == {
        "cuModuleLoadData": 1, "cuModuleGetFunction": 1, "cuFuncSetAttribute": 1, "cuMemAlloc": 2, "cuMemsetD8Async": 6,
        "cuTensorMapEncodeTiled": 6, "cuLaunchKernelEx": 3,
    }  # fmt: skip
    assert [encoded[1] for encoded in calls["cuTensorMapEncodeTiled"]] == [0x500000, 0x501000] * 3


def test_other_device_gets_the_ptx(probe, tmp_path):
    (tmp_path / "kernel.ptx").write_text(".version 8.0")
    calls, said = by_cpp(probe, tmp_path, gemm_record(), gemm_arguments(), cubin=b"othr")
    assert (calls["cuModuleLoadData"], said) == ([["othr"], [".ver"]], "")
    (tmp_path / "kernel.ptx").unlink()
    _, said = by_cpp(probe, tmp_path, gemm_record(), gemm_arguments(), cubin=b"othr")
    assert said == "CUDA_ERROR_INVALID_VALUE, invalid argument, loading kernel 'gemm' for sm_90a"


def test_driver_errors_name_what_was_done(probe, tmp_path):
    _, said = by_cpp(probe, tmp_path, gemm_record(), gemm_arguments(), STUB_CUDA_FAIL="cuTensorMapEncodeTiled")
    assert said == "CUDA_ERROR_INVALID_VALUE, invalid argument, encoding the tensor map of argument 'A'"


def test_device_with_less_shared_memory(probe, tmp_path):
    _, said = by_cpp(probe, tmp_path, gemm_record(), gemm_arguments(), STUB_CUDA_DEVICE="101376,108")
    assert said == "kernel 'gemm': expected at least 213248 bytes of shared memory, the device has 101376"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"version": 2}, "expected version 1, got 2"),
        ({"params": [{"kind": "pointer"}]}, "key 'arg' not found"),
        ({"args": []}, "expected 0 arguments, got 5"),
        ({"grid": {"x": ["dim", 9, 0], "y": 1, "z": 1, "persistent": False}}, "expected references to arguments"),
        ({"tensor_maps": []}, "array index 0 is out of range"),
        ({"grid": {"x": ["dim", 0, 9], "y": 1, "z": 1, "persistent": False}}, "expected references to arguments"),
    ],
)
def test_broken_records(probe, tmp_path, change, message):
    whole = gemm_record(contract=[])
    folder = tmp_path
    record = {**whole, **change}
    sizes = parameter_sizes(whole)
    (folder / "kernel.json").write_text(json.dumps(record))
    (folder / "kernel.cubin").write_bytes(b"cubin")
    args = [vars(a) if isinstance(a, DeviceArray) else a for a in gemm_arguments()]
    (folder / "call.json").write_text(json.dumps({"args": args}))
    environment = {**os.environ, "STUB_CUDA_LOG": str(folder / "log"), "STUB_CUDA_SIZES": ",".join(map(str, sizes))}
    done = subprocess.run([probe, folder / "kernel.json", folder / "call.json"], capture_output=True, text=True,
                          env=environment, check=False)  # fmt: skip
    assert done.returncode == 1
    assert message in done.stderr
