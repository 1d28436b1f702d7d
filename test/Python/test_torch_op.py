"""Kernels as operators of torch, against a torch that only has what an operator needs."""

from __future__ import annotations

import itertools
import math
import sys
import types

import pytest
from language_tools import use_tools

import headrace as hr
from headrace.driver import launcher
from headrace.driver.cache import Entry
from headrace.driver.compiled import Compiled
from headrace.runtime import driver
from headrace.torch_operator import torch_op
from headrace.tuning import autotune, search_space

pytest.importorskip("cuda.bindings.driver")

from tuning_device import TimedDriver


@hr.kernel
def linear(X, W, Y, scale: hr.f32 = 1.0, BM: hr.constexpr = 64, BN: hr.constexpr = 64):  # noqa: N803
    i, j = hr.grid(hr.cdiv(Y.shape[0], BM), hr.cdiv(Y.shape[1], BN))
    acc = hr.zeros((BM, BN), hr.f32)
    for k in hr.pipelined(0, X.shape[1], 64):
        acc += X[i * BM : i * BM + BM, k : k + 64] @ W[j * BN : j * BN + BN, k : k + 64].T
    Y[i * BM : i * BM + BM, j * BN : j * BN + BN] = (acc * scale).to(Y.dtype)


@hr.kernel
def split(X, low, high, n: int, flip: hr.constexpr, BLOCK: hr.constexpr = 256):  # noqa: N803
    start = hr.grid(hr.cdiv(n, BLOCK)) * BLOCK
    x = X[start : start + BLOCK]
    low[start : start + BLOCK] = -x if flip else x
    high[start : start + BLOCK] = x + 1.0


class Tensor:
    """Just what is asked of a torch tensor: a shape, a place, and tensors like it."""

    _addresses = itertools.count(0x7F0000000000, 1 << 24)

    def __init__(self, *shape: int, dtype: str = "torch.bfloat16", fake: bool = False):
        self.shape, self.dtype, self.fake = shape, dtype, fake
        self.ndim = len(shape)
        self.device, self.is_cuda = types.SimpleNamespace(type="cuda", index=0), True
        self.address = next(self._addresses)

    def data_ptr(self) -> int:
        assert not self.fake, "a fake tensor has no memory"
        return self.address

    def stride(self) -> tuple[int, ...]:
        return tuple(math.prod(self.shape[i + 1 :]) for i in range(self.ndim))

    def get_device(self) -> int:
        return self.device.index

    def new_empty(self, *shape: int) -> Tensor:
        return Tensor(*shape, dtype=self.dtype, fake=self.fake)


class Operator:
    """What torch.library.custom_op makes."""

    def __init__(self, name, run, mutates_args, device_types, schema):
        self.name, self.run, self.mutates, self.devices, self.schema = name, run, mutates_args, device_types, schema

    def register_fake(self, fake) -> None:
        self.fake = fake

    def __call__(self, *args):
        return self.run(*args)


@pytest.fixture
def torch(monkeypatch):
    library = types.ModuleType("torch.library")
    library.custom_op = lambda name, fn, *, mutates_args, device_types, schema: Operator(
        name, fn, mutates_args, device_types, schema
    )
    module = types.ModuleType("torch")
    module.library, module.Tensor = library, Tensor
    module.cuda = types.SimpleNamespace(current_stream=lambda device: types.SimpleNamespace(cuda_stream=77))
    monkeypatch.setitem(sys.modules, "torch", module)
    monkeypatch.setitem(sys.modules, "torch.library", library)
    return module


@pytest.fixture
def gpu(monkeypatch, tmp_path, torch):
    """A GPU that launches nothing; kernels are compiled to their records."""
    use_tools(monkeypatch, tmp_path)
    fake = TimedDriver(lambda grid, shared: 10.0 * grid[0] * grid[1])
    monkeypatch.setattr(driver, "bindings", lambda: fake)
    monkeypatch.setattr(launcher, "_CAPABILITIES", {})
    monkeypatch.setattr("headrace.tuning.measuring.time.sleep", lambda seconds: None)
    monkeypatch.setattr(Compiled, "entry", lambda self, level: Entry(b"cubin", self.record))
    return fake


OUTPUTS = {"Y": lambda X, W: X.new_empty(X.shape[0], W.shape[0])}  # noqa: N803


def make(kernel=linear, outputs=OUTPUTS, **options):
    return torch_op(kernel, "mylib::linear", outputs=outputs, **options)


@pytest.mark.parametrize(
    ("options", "schema"),
    [
        ({"outputs": OUTPUTS}, "(Tensor X, Tensor W, float scale=1.0) -> Tensor"),
        ({"outputs": OUTPUTS, "constants": {"scale": 2.0}}, "(Tensor X, Tensor W) -> Tensor"),
        ({"outputs": OUTPUTS, "types": {"BM": "int"}}, "(Tensor X, Tensor W, float scale=1.0, int BM=64) -> Tensor"),
        ({"mutates": ["Y"]}, "(Tensor X, Tensor W, Tensor(a0!) Y, float scale=1.0) -> ()"),
        (
            {"kernel": split, "outputs": dict.fromkeys(("low", "high")), "constants": {"flip": True}},
            "(Tensor X, SymInt n) -> (Tensor, Tensor)",
        ),
        (
            {"kernel": split, "mutates": ("high", "low"), "types": {"flip": "bool", "BLOCK": "SymInt"}},
            "(Tensor X, Tensor(a1!) low, Tensor(a0!) high, SymInt n, bool flip, SymInt BLOCK=256) -> ()",
        ),
    ],
)
def test_schema(torch, options, schema):
    options = {"kernel": linear, **options}
    operator = torch_op(options.pop("kernel"), "mylib::linear", **options)
    assert operator.schema == schema
    assert operator.mutates == tuple(options.get("mutates", ()))
    assert (operator.name, operator.devices) == ("mylib::linear", ("cpu", "cuda"))


def test_call_makes_the_output_and_launches(gpu):
    x, w = Tensor(128, 96), Tensor(192, 96)
    y = make()(x, w, 0.5)
    assert (y.shape, y.dtype) == ((128, 192), x.dtype)
    ((grid, _, stream),) = gpu.launched
    assert (grid, stream) == ((2, 3, 1), 77)
    encoded = [int(call[2]) for call in gpu.named("cuTensorMapEncodeTiled")]
    assert {x.address, w.address, y.address} >= set(encoded)


def test_arguments_that_torch_leaves_out_are_defaults(gpu):
    make()(Tensor(64, 64), Tensor(64, 64))
    assert len(gpu.launched) == 1


def test_fake_results_touch_no_memory(gpu):
    operator = make()
    y = operator.fake(Tensor(128, 96, fake=True), Tensor(192, 96, fake=True))
    assert (y.shape, y.fake) == ((128, 192), True)
    assert not gpu.calls


def test_several_outputs_are_a_tuple_in_their_order(gpu):
    outputs = {"high": lambda X: X.new_empty(*X.shape), "low": lambda X, n: X.new_empty(n)}  # noqa: N803
    operator = torch_op(split, "mylib::split", outputs=outputs, constants={"flip": False})
    high, low = operator(Tensor(1000, dtype="torch.float32"), 1000)
    assert (high.shape, low.shape) == ((1000,), (1000,))
    assert gpu.launched[0][0] == (4, 1, 1)


def test_writes_in_place(gpu):
    operator = torch_op(linear, "mylib::linear_", mutates=["Y"])
    assert operator(Tensor(64, 64), Tensor(64, 64), Tensor(64, 64), 1.0) is None
    assert operator.fake(Tensor(64, 64, fake=True), Tensor(64, 64, fake=True), Tensor(64, 64, fake=True)) is None
    assert len(gpu.launched) == 1


def test_writes_that_torch_does_not_know_of(gpu):
    operator = torch_op(split, "mylib::split", outputs={"low": lambda X: X.new_empty(8)}, constants={"flip": True})  # noqa: N803
    with pytest.raises(hr.LaunchError) as caught:
        operator(Tensor(8, dtype="torch.float32"), Tensor(8, dtype="torch.float32"), 8)
    assert str(caught.value) == (
        "operator of kernel 'split': expected the arrays that it writes among outputs or mutates, got high in neither"
    )
    assert not gpu.launched


def test_tuned_kernel(gpu):
    tuned = autotune(search_space(BM=[64, 128], BN=[64, 128]))(linear)
    operator = make(tuned)
    assert operator.schema == "(Tensor X, Tensor W, float scale=1.0) -> Tensor"
    operator(Tensor(256, 64), Tensor(256, 64))
    assert tuned.best == {"BM": 128, "BN": 128}
    assert gpu.launched[-1][0] == (2, 2, 1)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"kernel": print}, TypeError, "expected an @hr.kernel, with or without @hr.autotune, got builtin_function"),
        (
            {"outputs": {"Z": None}},
            ValueError,
            "expected outputs to name parameters among X, W, Y, scale, BM, BN, got 'Z'",
        ),
        ({"mutates": ["Z"]}, ValueError, "expected mutates to name parameters"),
        ({"mutates": ["Y"]}, ValueError, "expected mutates to name arrays that are no outputs, got 'Y'"),
        ({"mutates": ["scale"]}, ValueError, "expected mutates to name arrays that are no outputs, got 'scale'"),
        ({"types": {"scale": "double"}}, ValueError, "expected the type of 'scale' among Tensor, SymInt, int"),
        (
            {"kernel": split, "outputs": {}},
            ValueError,
            "expected a value for the constant 'flip' in constants or its type",
        ),
        (
            {"kernel": autotune([{"BM": 64}])(linear), "constants": {"BM": 3}},
            ValueError,
            "that autotune does not choose",
        ),
    ],
)
def test_wrong_operators(torch, options, error, message):
    with pytest.raises(error) as caught:
        make(**options)
    assert message in str(caught.value)


def test_wrong_name(torch):
    with pytest.raises(ValueError, match="expected an operator's name such as 'mylib::linear', got 'linear'"):
        torch_op(linear, "linear", outputs=OUTPUTS)


def test_output_that_asks_for_what_is_not_there(gpu):
    with pytest.raises(TypeError, match="expected the parameters of the output 'Y' among"):
        make(outputs={"Y": lambda A: A})(Tensor(8, 8), Tensor(8, 8))  # noqa: N803


def test_without_torch(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(hr.HeadraceError, match=r"expected the package 'torch', got none, because hr\.torch_op"):
        make()


def test_old_torch(monkeypatch, torch):
    del torch.library.custom_op
    with pytest.raises(hr.HeadraceError, match=r"expected torch of version 2\.4 or later"):
        make()
