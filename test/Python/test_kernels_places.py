"""Where functions of headrace.kernels run, what they pick there, and what they refuse."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import ml_dtypes
import numpy as np
import pytest
from language_tools import use_tools

import headrace as hr
from headrace.kernels import places, tiles
from headrace.kernels.attention import attention_kernel
from headrace.kernels.gemm import accumulator, gemm_kernel
from headrace.kernels.layer_norm import layer_norm_kernel
from headrace.kernels.rms_norm import rms_norm_kernel
from headrace.kernels.softmax import softmax_kernel

kernels = hr.kernels


class Tensor:
    """Stands for a tensor of torch on a GPU."""

    device = SimpleNamespace(index=3)

    def __init__(self, shape, dtype="torch.bfloat16"):
        self.shape, self.dtype = tuple(shape), dtype

    def new_empty(self, shape, dtype):
        return Tensor(shape, dtype)

    def __setitem__(self, item, value):
        self.filled = value


@pytest.fixture
def launched(monkeypatch):
    """Launches on a GPU that is an H200, as (kernel, arguments, constants)."""
    found: list = []
    torch = SimpleNamespace(Tensor=Tensor, bfloat16="torch.bfloat16", float32="torch.float32", int32="torch.int32")
    monkeypatch.setitem(sys.modules, "torch", torch)
    monkeypatch.setattr(places, "device_target", {3: "sm_90a"}.__getitem__)
    monkeypatch.setattr(
        hr.KernelFunction, "__call__", lambda self, *args, **constants: found.append((self, args, constants))
    )
    return found


def test_product_on_a_gpu(launched):
    a, b, bias = Tensor((4096, 512)), Tensor((8192, 512)), Tensor((8192,))
    c = kernels.gemm(a, b, bias, activation="gelu")
    assert (c.shape, c.dtype) == ((4096, 8192), "torch.bfloat16")
    ((kernel, args, constants),) = launched
    assert kernel is gemm_kernel
    assert args == (a, b, bias, None, c)
    assert (constants["BM"], constants["BN"], constants["BK"]) == (128, 256, 64)


def test_few_tiles_are_small(launched):
    kernels.gemm(Tensor((100, 64)), Tensor((200, 64)))
    kernels.gemm(Tensor((1536, 64)), Tensor((1536, 64)))
    assert [(constants["BM"], constants["BN"]) for _, _, constants in launched] == [(64, 64), (128, 128)]


def test_attention_on_a_gpu(launched):
    q, k = Tensor((1, 16, 4096, 128)), Tensor((1, 4, 4096, 128))
    kernels.attention(q, k, k, causal=True)
    ((kernel, args, constants),) = launched
    assert kernel is attention_kernel
    assert args[4] == 128**-0.5
    assert constants == {"CAUSAL": True, "D": 128, "BM": 192, "BN": 128, "WARPS": 12, "STAGES": 2}


@pytest.mark.parametrize(
    ("columns", "sizes"),
    [(1000, (2, 1024, 2, 8, 1, "off", 4)), (1024, (2, 1024, 2, 8, 1, "off", 4)), (1025, (1, 2048, 4, 8, 2, "off", 4)),
     (4096, (2, 4096, 4, 4, 1, "off", 3)), (8192, (2, 8192, 16, 2, 1, "off", 2)),
     (16384, (1, 16384, 16, 2, 1, "off", 2)), (3, (32, 64, 2, 8, 1, "off", 4)), (129, (8, 256, 2, 8, 1, "off", 4))],
)  # fmt: skip
def test_rows_on_a_gpu(launched, columns, sizes):
    kernels.softmax(Tensor((4, columns)))
    names = ("BR", "BC", "WARPS", "OCCUPANCY", "STAGES", "SPECIALIZE", "TRIPS")
    assert launched[0][2] == dict(zip(names, sizes, strict=True))


@pytest.mark.parametrize("kernel", ["softmax", "layer_norm", "rms_norm"])
@pytest.mark.parametrize(("target", "dtype"), [("sm_90a", hr.bf16), ("sm_90a", hr.f32), ("sm_80", hr.bf16)])
def test_rows_are_held_whole(kernel, target, dtype):
    for columns in range(1, tiles.LONGEST_ROW + 1):
        assert tiles.rows(kernel, target, columns, dtype)["BC"] >= columns


def test_splits_fill_a_gpu(launched):
    out = kernels.split_k_gemm(Tensor((64, 8192)), Tensor((128, 8192)))
    _, args, constants = launched[0]
    assert out.filled == 0
    assert args[3] == tiles.ENOUGH // (128 // constants["BN"])
    kernels.split_k_gemm(Tensor((64, 64)), Tensor((128, 64)))
    assert launched[1][1][3] == 1


def test_constants_of_ones_own(launched):
    kernels.gemm(Tensor((64, 64)), Tensor((64, 64)), BM=32, STAGES=2)
    assert (launched[0][2]["BM"], launched[0][2]["STAGES"]) == (32, 2)


def test_out_is_the_result(launched):
    out = Tensor((8, 16))
    assert kernels.softmax(Tensor((8, 16)), out=out) is out
    with pytest.raises(hr.LaunchError, match=r"argument 'out': expected the shape \[8, 16\], got \[8, 8\]"):
        kernels.softmax(Tensor((8, 16)), out=Tensor((8, 8)))


def test_a_gpu_runs_its_own_code_only(launched):
    kernels.softmax(Tensor((8, 16)), target="sm_90a")
    with pytest.raises(
        hr.LaunchError, match='expected no target, or sm_90a, which the GPU is, got sm_80: pass on="sim"'
    ):
        kernels.softmax(Tensor((8, 16)), target="sm_80")


def ones(*shape, dtype=ml_dtypes.bfloat16):
    return np.ones(shape, dtype)


#: Calls with numpy arrays, and what they are told.
REFUSED = {
    "no place": (lambda: kernels.softmax(ones(4, 4)), 'pass on="sim" to run on the simulator'),
    "other place": (lambda: kernels.softmax(ones(4, 4), on="cpu"), "expected 'sim' as the place to run on, got 'cpu'"),
    "K": (lambda: kernels.gemm(ones(4, 8), ones(4, 7), on="sim"), r"'b': expected the shape \[any, 8\], got \[4, 7\]"),
    "rank": (lambda: kernels.gemm(ones(8), ones(4, 8), on="sim"), r"'a': expected the shape \[any, any\], got \[8\]"),
    "no array": (lambda: kernels.gemm(3, ones(4, 8), on="sim"), r"'a': expected the shape \[any, any\], got \[\]"),
    "bias": (
        lambda: kernels.gemm(ones(4, 8), ones(5, 8), ones(4), on="sim"), r"'bias': expected the shape \[5\], got \[4\]"
    ),
    "activation": (
        lambda: kernels.gemm(ones(4, 8), ones(5, 8), activation="elu", on="sim"),
        "expected relu, gelu, silu, an @hr.inline function or None as activation, got 'elu'",
    ),
    "dtype": (
        lambda: kernels.softmax(ones(4, 8, dtype=np.complex64), on="sim"), "'x': expected elements of .*, got complex64"
    ),
    "heads": (
        lambda: kernels.attention(ones(1, 6, 4, 16), ones(1, 4, 4, 16), ones(1, 4, 4, 16), on="sim"),
        "'k': expected a number of heads that divides the 6 of q, got 4",
    ),
    "row": (
        lambda: kernels.rms_norm(ones(1, 16385), ones(16385), on="sim"),
        "'x': expected at most 16384 columns, got 16385",
    ),
    "splits": (lambda: kernels.split_k_gemm(ones(4, 8), ones(4, 8), 0, on="sim"), "splits of at least 1, got 0"),
    "bits": (
        lambda: kernels.scaled_gemm(ones(4, 8), ones(4, 8), ones(4), ones(4), on="sim"),
        "'a': expected elements of i8, e4m3 or e5m2, got bf16",
    ),
    "group": (lambda: kernels.pack_int4(np.ones((4, 96), np.int8)), "group that divides the 96 columns .*, got 64"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_is_refused(name):
    call, message = REFUSED[name]
    with pytest.raises(hr.LaunchError, match=message):
        call()


def test_array_of_no_library_needs_out(launched):
    array = hr.DeviceArray(256, (4, 16), None, "bf16", 3)
    with pytest.raises(hr.LaunchError, match="expected out, because nothing makes an array like DeviceArray"):
        kernels.softmax(array)
    kernels.softmax(array, out=array)
    assert launched[0][1] == (array, array)


#: Extents of large problems, where picks are the largest tiles.
LARGE = 8192

TARGETS = ("sm_75", "sm_80", "sm_86", "sm_89", "sm_90a", "sm_100a", "sm_120a")


@pytest.fixture
def tools(monkeypatch, tmp_path):
    use_tools(monkeypatch, tmp_path)


def half(target: str) -> hr.DType:
    return hr.f16 if target == "sm_75" else hr.bf16


@pytest.mark.parametrize("target", TARGETS)
def test_picks_of_products_fit(target, tools):
    """The pick for a large problem compiles; copies run ahead where the target has asynchronous ones."""
    for dtype, precision in ((half(target), None), (hr.f32, None), (hr.f32, "tf32"), (hr.i8, None)):
        if precision == "tf32" and target == "sm_75":
            continue
        acc = accumulator(dtype)
        types = {**dict.fromkeys("AB", dtype[:, ::1]), "C": acc[:, ::1], "bias": None, "R": None, "ACC": acc}
        sizes = tiles.product(target, LARGE, LARGE, dtype, tiles.widest(target, dtype, precision))
        report = hr.compile(gemm_kernel, {**types, "PRECISION": precision, **sizes}, target).report("record")
        assert all(loop["stages"] > 1 for loop in report.data["loops"])
        uses_fma = precision is None and dtype is hr.f32
        assert all((matmul["family"] == "fma") is uses_fma for matmul in report.data["matmuls"])


@pytest.mark.parametrize("target", TARGETS)
def test_picks_of_attention_fit(target, tools):
    for queries, dimension in ((LARGE, 64), (LARGE, 96), (LARGE, 128), (LARGE, 192), (LARGE, 256), (1, 64), (1, 256)):
        types = {**dict.fromkeys("QKVO", half(target)[:, :, :, ::1]), "scale": float}
        compiled = hr.compile(attention_kernel, {**types, **tiles.attention(target, queries, dimension)}, target)
        assert {matmul["family"] for matmul in compiled.report("record").data["matmuls"]} != {"fma"}


@pytest.mark.parametrize("target", TARGETS)
def test_picks_of_rows_fit(target, tools):
    vector = half(target)[::1]
    rows = dict.fromkeys("XY", half(target)[:, ::1])
    norm = {**rows, "weight": vector, "rstd": None, "eps": float}
    for columns in (1024, 2048, 4096, 8192, tiles.LONGEST_ROW):
        names = ("softmax", "rms_norm", "layer_norm")
        chosen = {name: tiles.rows(name, target, columns, half(target)) for name in names}
        hr.compile(softmax_kernel, {**rows, **chosen["softmax"]}, target)
        hr.compile(rms_norm_kernel, {**norm, **chosen["rms_norm"]}, target)
        hr.compile(layer_norm_kernel, {**norm, "bias": vector, "mean": None, **chosen["layer_norm"]}, target)
