"""Kernels as objects: binding, specialisation, levels of a compilation, the cache, launches, and the .mlir twin."""

# ruff: noqa: N803, N806

from __future__ import annotations

import json
import re
import subprocess
import sys
import time

import ml_dtypes
import numpy as np
import pytest
from language_tools import ROOT, use_tools

import headrace as hr
from headrace.driver import cache, compiled, compiler, launcher

VECTOR = hr.f32[::1]
HALF = hr.bf16[:, ::1]
FACTOR = 2


@pytest.fixture(autouse=True)
def _tools(monkeypatch, tmp_path):
    use_tools(monkeypatch, tmp_path)


@hr.kernel
def scale(X, n, BLOCK: hr.constexpr = 64):
    i = hr.grid(hr.cdiv(X.shape[0], BLOCK)) * BLOCK
    X[i : i + BLOCK] = X[i : i + BLOCK] * n * FACTOR


@hr.kernel
def gemm(
    A, B, C, BM: hr.constexpr = 128, BN: hr.constexpr = 128, BK: hr.constexpr = 64, GROUP: hr.constexpr = 16
):  # fmt: skip
    M, N = C.shape
    for row, column in hr.persistent(hr.cdiv(M, BM), hr.cdiv(N, BN), group=GROUP):
        m, n = row * BM, column * BN
        acc = hr.zeros((BM, BN), hr.f32)
        for k in hr.pipelined(0, A.shape[1], BK):
            acc += A[m : m + BM, k : k + BK] @ B[n : n + BN, k : k + BK].T
        C[m : m + BM, n : n + BN] = acc.to(C.dtype)


# ---- binding


@pytest.mark.parametrize(
    ("args", "kwargs", "message"),
    [
        ((VECTOR,), {}, "expected a value for 'n' of scale(X, n, BLOCK), got none"),
        ((VECTOR, 1, 64, 2), {}, "expected at most 3 arguments of scale(X, n, BLOCK), got 4"),
        ((VECTOR, 1), {"X": 2}, "expected one value for 'X' of scale(X, n, BLOCK), got two"),
        ((VECTOR, 1), {"WARPS": 2}, "expected a parameter of scale(X, n, BLOCK), got 'WARPS'"),
        (
            (VECTOR, "ab"),
            {},
            "expected an array, a number or a type for 'n', got str: annotate the parameter with hr.constexpr if it is "
            "a compile-time constant",
        ),
        (
            (VECTOR, 1, [64]),
            {},
            "expected a number, a string, a dtype, an @hr.inline function, None or a tuple of such for the constexpr "
            "'BLOCK', got list",
        ),
        (
            (None, [1]),
            {},
            "expected an array, a number or a type for 'n', got list: annotate the parameter with hr.constexpr if it "
            "is a compile-time constant",
        ),
        (
            (np.zeros(4, np.uint16), 1),
            {},
            "expected elements of bf16, f16, f32, f64, e4m3, e5m2, i1, i8, i16, i32, i64 in 'X', got u16: annotate the "
            "parameter, such as hr.bf16[:, ::1], to say what raw bits are",
        ),
    ],
)
def test_arguments_that_do_not_fit(args, kwargs, message):
    with pytest.raises(hr.CompileError) as caught:
        scale.mlir(*args, **kwargs)
    assert caught.value.message == message
    assert caught.value.place.filename == __file__


def test_annotations_give_raw_bits_their_type():
    @hr.kernel
    def kernel(X: hr.bf16[::1], n: hr.i64, a: float):
        hr.grid(1)
        X[0:64] = X[0:64] * 2

    text = kernel.mlir(np.zeros(64, np.uint16), 3, 1)
    assert "memref<?xbf16, strided<[1]>>" in text
    assert "%n: i64" in text
    assert "%a: f32" in text
    with pytest.raises(hr.CompileError, match=r"expected an array bf16\[::1\] for 'X', got f32 of rank 1"):
        kernel.mlir(np.zeros(64, np.float32), 3, 1)
    with pytest.raises(hr.CompileError, match="got stride 2 in dimension 0"):
        kernel.mlir(np.zeros(64, np.uint16)[::2], 3, 1)


def test_none_is_for_parameters_without_a_type_or_with_that_default():
    @hr.kernel
    def kernel(X, Y: hr.f32[::1], Z: hr.f32[::1] = None):
        hr.grid(1)
        if Z is None:
            X[0:64] = Y[0:64]

    assert "%Z" not in kernel.mlir(VECTOR, VECTOR)
    with pytest.raises(hr.CompileError, match="expected an array, a number or a type for 'Y', got NoneType"):
        kernel.mlir(VECTOR, None)


def test_annotation_that_is_no_type_is_refused():
    @hr.kernel
    def kernel(X: str):
        pass

    with pytest.raises(hr.CompileError, match=r"expected hr\.constexpr, an array type such as"):
        kernel.mlir(VECTOR)


def test_equal_facts_share_a_program_and_others_do_not():
    first = scale.program(scale.facts((np.zeros(64, np.float32), 3), {})[1])
    assert scale.program(scale.facts((np.zeros(128, np.float32), 5), {})[1]) is first
    for args in ((np.zeros(65, np.float32), 3), (np.zeros(64, np.float32), 16), (np.zeros(64, np.float16), 3)):
        assert scale.program(scale.facts(args, {})[1]) is not first


def test_changed_global_constant_is_seen(monkeypatch):
    x = np.ones(64, np.float32)
    scale.run_on("sim", x, 3, target="sm_80")
    assert (x == 6).all()
    monkeypatch.setitem(globals(), "FACTOR", 5)
    scale.run_on("sim", x, 1, target="sm_80")
    assert (x == 30).all()


def test_calls_outside_of_a_kernel_are_refused():
    with pytest.raises(hr.HeadraceError, match=r"hr.zeros is for kernels: call it in a function decorated"):
        hr.zeros((4, 4))

    @hr.inline
    def twice(x):
        return x * 2

    with pytest.raises(hr.HeadraceError, match=r"twice is for kernels"):
        twice(3)


# ---- levels


def test_every_level_of_a_compilation(tmp_path):
    result = hr.compile(gemm, {"A": HALF, "B": HALF, "C": HALF, "BM": 64}, "sm_90a")
    assert "tile.dot" in result.mlir
    assert "#tile.layout" in result.layout
    assert "pipe.create_channel" in result.pipe
    assert "llvm.func" in result.nvvm
    assert "define" in result.llvm
    assert ".target sm_90a" in result.ptx
    assert result.record["kernel"] == "gemm"
    assert "matmul: wgmma" in result.report()
    record = json.loads(result.save(tmp_path / "out").read_text())
    assert (tmp_path / "out" / record["ptx"]).read_text() == result.ptx
    assert (tmp_path / "out" / "gemm.mlir").read_text() == result.mlir
    assert hr.Kernel(tmp_path / "out" / "gemm.json").record.kernel == "gemm"


def test_unknown_target_is_an_error_without_a_place():
    with pytest.raises(hr.CompileError, match="unknown target 'sm_42'; known: ") as caught:
        hr.compile(scale, (VECTOR, int), "sm_42")
    assert caught.value.place is None


@pytest.mark.parametrize("target", ["sm_75", "sm_80", "sm_90a", "sm_100a", "sm_120a"])
def test_twin_in_mlir_gives_the_same_ptx(target, tmp_path):
    sizes = {"sm_75": (64, 64, 32), "sm_80": (128, 256, 64), "sm_90a": (128, 256, 64), "sm_100a": (128, 256, 64)}
    bm, bn, bk = sizes.get(target, (128, 128, 64))
    matrix = (hr.f16 if target == "sm_75" else hr.bf16)[:, ::1]
    ours = hr.compile(gemm, (matrix, matrix, matrix, bm, bn, bk), target).ptx
    theirs = tmp_path / "gemm.ptx"
    command = [
        compiler.find_tool("headrace-compile"),
        ROOT / "examples" / "gemm.mlir",
        f"--target={target}",
        "-o",
        theirs,
    ]
    subprocess.run(command, check=True)
    assert without_lines(ours) == without_lines(theirs.read_text())


def without_lines(ptx: str) -> list[str]:
    return [line for line in ptx.splitlines() if not re.match(r"\s*(\.loc|\.file|\$L__tmp|\$L__func)", line)]


# ---- cache


def test_second_compilation_comes_from_the_disk(monkeypatch):
    first = hr.compile(scale, (VECTOR, int), "sm_80").ptx
    monkeypatch.setattr(compiled.compiler, "run", lambda *args: pytest.fail("compiled again"))
    program = scale.program(scale.facts((VECTOR, int), {})[1])
    assert compiled.Compiled(program, "sm_80").ptx == first


def test_broken_entry_is_made_again():
    key = cache.key_of("a")
    made = []

    def make():
        made.append(1)
        return cache.Entry(b"code", {"x": 1})

    assert cache.get(key, make) == cache.get(key, make)
    assert len(made) == 1
    (cache.folder() / key[:2] / key / "code").write_bytes(b"cut")
    assert cache.get(key, make).code == b"code"
    assert cache.get(key, make).code == b"code"
    assert len(made) == 2


def test_cache_survives_a_folder_that_cannot_be_written(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("HEADRACE_CACHE", str(tmp_path / "file" / "cache"))
    assert cache.get(cache.key_of("a"), lambda: cache.Entry(b"x", {})).code == b"x"


_RACER = """
import sys
from headrace.driver import cache
for i in range(50):
    key = cache.key_of(str(i))
    entry = cache.get(key, lambda: cache.Entry(str(i).encode() * 1000, {"i": i}))
    assert entry.code == str(i).encode() * 1000 and entry.record == {"i": i}
"""


def test_many_processes_share_the_cache():
    import os

    environment = {**os.environ, "PYTHONPATH": str(ROOT / "python")}
    racers = [subprocess.Popen([sys.executable, "-c", _RACER], env=environment) for _ in range(4)]
    assert [racer.wait(60) for racer in racers] == [0] * 4
    assert len(list(cache.folder().glob("*/*"))) == 50
    assert not list(cache.folder().glob("*/.new-*"))


# ---- running


def test_program_without_a_grid_wants_one():
    @hr.kernel
    def kernel(X):
        X[hr.program_id(0)] = 1.0

    x = np.zeros(4, np.float32)
    with pytest.raises(hr.LaunchError, match=r"expected a grid, since the kernel says none"):
        kernel.run_on("sim", x)
    kernel.run_on("sim", x, grid=3, target="sm_80")
    assert x.tolist() == [1, 1, 1, 0]


def test_arrays_that_the_simulator_does_not_take():
    columns = np.zeros((64, 64), np.float32).T

    @hr.kernel
    def kernel(X):
        hr.grid(1)
        X[0:16, 0:16] = 1.0

    with pytest.raises(hr.LaunchError, match=r"argument 'X': expected an array in row-major order"):
        kernel.run_on("sim", columns)
    with pytest.raises(hr.LaunchError, match="expected 'sim' as the place to run on, got 'cpu'"):
        kernel.run_on("cpu", columns)


class _Launched:
    """Stands for headrace.Kernel: remembers how it was called."""

    calls: list = []  # noqa: RUF012

    def __init__(self, record, cubin):
        self.record, self.cubin = record, cubin

    def launch(self, *args, stream, grid):
        self.calls.append((self.record["kernel"], args, stream, grid))


@pytest.fixture
def launched(monkeypatch):
    monkeypatch.setattr(launcher, "Kernel", _Launched)
    monkeypatch.setattr(launcher, "device_target", lambda device: "sm_90a")
    monkeypatch.setattr(
        compiled.Compiled,
        "entry",
        lambda self, level: cache.Entry(b"", {"kernel": f"{self.name} {self.target} {level}"}),
    )
    monkeypatch.setattr(_Launched, "calls", [])
    return _Launched.calls


def device_array(*shape, dtype="bf16", at=0x1000):
    return hr.DeviceArray(at, shape, None, dtype)


def test_launch_passes_run_time_arguments_only(launched):
    a, b, c = (device_array(256, 256) for _ in range(3))
    gemm(a, b, c, BM=64, stream=7)
    assert launched == [("gemm sm_90a cubin", (a, b, c), 7, None)]


def test_grid_of_the_caller(launched):
    x = device_array(100, dtype="f32")
    scale[3](x, 2)
    scale[lambda: (4, 1)](x, 2)
    assert [grid for *_, grid in launched] == [3, (4, 1)]


def test_facts_of_device_arrays(launched):
    @hr.kernel
    def kernel(X):
        hr.grid(1)
        X[0:64] = X[0:64] * 2

    kernel(device_array(64, dtype="f32"))
    kernel(device_array(80, dtype="f32"))
    assert len(kernel.launchers) == 1
    kernel(device_array(64, dtype="f32", at=0x1004))
    kernel(device_array(65, dtype="f32"))
    assert len(kernel.launchers) == 3


def test_repeated_launch_is_quick(launched):
    a, b, c = (device_array(256, 256) for _ in range(3))
    gemm(a, b, c)
    start = time.perf_counter()
    for _ in range(100):
        gemm(a, b, c)
    assert (time.perf_counter() - start) / 100 < 2e-3


def test_no_gpu_is_one_sentence(monkeypatch):
    def none(name, *args, **kwargs):
        raise hr.LaunchError("CUDA: no device")

    monkeypatch.setattr(launcher, "current_context", lambda device: none("cuInit"))
    with pytest.raises(hr.LaunchError, match="no device"):
        scale(device_array(64, dtype="f32"), 1)


def test_ml_dtypes_and_raw_bits_agree():
    @hr.kernel
    def kernel(X: hr.bf16[::1], Z: hr.f32[::1]):
        hr.grid(1)
        Z[0:64] = X[0:64].to(hr.f32)

    x = np.random.default_rng().standard_normal(64).astype(ml_dtypes.bfloat16)
    first, second = np.zeros((2, 64), np.float32)
    kernel.run_on("sim", x, first, target="sm_80")
    kernel.run_on("sim", x.view(np.uint16), second, target="sm_80")
    np.testing.assert_array_equal(first, x.astype(np.float32))
    np.testing.assert_array_equal(second, first)
