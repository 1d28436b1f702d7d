"""Kernels that Python runs itself: what they compute, print, raise, and what is refused."""

from __future__ import annotations

import inspect
import sys
import traceback
import types

import ml_dtypes
import numpy as np
import pytest
from interpreted_kernels import (
    add_places,
    carried_numbers,
    choose_numbers,
    count_programs,
    debugged,
    doubled,
    integers,
    nothing_to_do,
    options_of_loads,
    plain_grid,
    products,
    share_out,
    strange_lambdas,
    tuned,
)
from language_kernels import CASES
from language_tools import use_tools
from test_language_wrong_programs import PROGRAMS

import headrace as hr
from headrace.interpreter.types import ELEMENTS
from headrace.language.dtypes import ArrayType, DType

#: Wrong programs that are right here, or are refused later than by the language, and why.
ACCEPTED = {
    "more_shared_memory_than_there_is": "there is no machine",
    "more_registers_than_there_are": "there is no machine",
    "product_in_a_loop_that_does_not_fit": "there is no machine",
    "groups_that_take_turns": "there is no machine",
}


@pytest.fixture(autouse=True)
def _interpreted(monkeypatch):
    monkeypatch.setenv("HEADRACE_INTERPRET", "1")


@pytest.mark.parametrize("name", CASES)
def test_construct_agrees_with_numpy(name):
    case = CASES[name]
    values = case.make(np.random.default_rng())
    copies = {key: value.copy() if isinstance(value, np.ndarray) else value for key, value in values.items()}
    expected = case.expected(**copies)
    run = case.kernel.run_on("sim", **values)
    assert run.runs == 0
    for key, wanted in expected.items():
        got, wanted = values[key].astype(np.float64), wanted.astype(np.float64)
        np.testing.assert_allclose(got, wanted, rtol=case.tolerance, atol=case.tolerance, err_msg=key)


def small(rng, dtype, *shape):
    """Whole numbers, of which sums and products are exact."""
    return rng.integers(-4, 5, shape).astype(dtype)


#: Kernels on whole numbers: arguments, the last of which is written, its old content poisoned.
EXACT = {
    "products": (products, lambda rng: (*(small(rng, ml_dtypes.bfloat16, 40, 48) for _ in range(2)), 40)),
    "products_e4m3": (products, lambda rng: (*(small(rng, ml_dtypes.float8_e4m3fn, 40, 48) for _ in range(2)), 40)),
    "integers": (integers, lambda rng: (*(rng.integers(-(2**31), 2**31, 70).astype(np.int32) for _ in range(2)), 70)),
    "carried_numbers": (carried_numbers, lambda rng: (rng.integers(-50, 50, 8).astype(np.int32), 5, 8)),
    "choose_numbers": (choose_numbers, lambda rng: (np.array([0, 11, -3, *rng.integers(-50, 50, 5)], np.int32), 8)),
    "options_of_loads": (options_of_loads, lambda rng: (small(rng, np.float32, 50, 20), 50)),
    "strange_lambdas": (strange_lambdas, lambda rng: (small(rng, np.float32, 16, 32), 16)),
    "add_places": (add_places, lambda rng: (rng.integers(0, 8, 100).astype(np.int32), 9)),
    "share_out": (share_out, lambda rng: (small(rng, np.float32, 70, 70), 70)),
}


@pytest.mark.parametrize("name", EXACT)
def test_same_bits_as_on_the_simulator(name, monkeypatch, tmp_path):
    kernel, make = EXACT[name]
    *inputs, rows = make(np.random.default_rng())
    shape, dtype = kernel.function.shape(rows), kernel.function.dtype
    zero = name == "add_places"
    ours, theirs = (np.full(shape, 0 if zero else 77).astype(dtype) for _ in range(2))
    kernel.run_on("sim", *inputs, ours)
    monkeypatch.delenv("HEADRACE_INTERPRET")
    use_tools(monkeypatch, tmp_path)
    assert kernel.run_on("sim", *inputs, theirs, target="sm_90a").runs == 1
    assert np.array_equal(ours.view(np.uint8), theirs.view(np.uint8)), (ours, theirs)


def is_of_python(name: str) -> bool:
    """Asserts and prints are Python's own, which take more than the language's."""
    return PROGRAMS[name].kernel.function.__module__ == "wrong_programs_messages"


@pytest.mark.parametrize("name", sorted(name for name in PROGRAMS if name not in ACCEPTED and not is_of_python(name)))
def test_wrong_program_is_refused_at_its_line(name):
    wrong = PROGRAMS[name]
    with pytest.raises(hr.CompileError) as caught:
        wrong.kernel(**{name: argument(type_) for name, type_ in wrong.signature.items()})
    assert caught.value.message == wrong.message
    assert caught.value.place.line == wrong.line


def argument(type_):
    """Something of that type to pass."""
    if isinstance(type_, ArrayType):
        return np.zeros((128,) * type_.rank if type_.rank < 4 else (2,) * type_.rank, ELEMENTS[type_.dtype.mlir])
    if isinstance(type_, DType):
        return np.ones((), ELEMENTS[type_.mlir])[()]
    return type_(1) if type_ in (int, float, bool) else type_


def line_of(kernel, mark: str) -> int:
    lines, first = inspect.getsourcelines(kernel.function)
    (found,) = (first + i for i, line in enumerate(lines) if f"# {mark}" in line)
    return found


def test_print_shows_numbers(capsys):
    x = np.arange(12, dtype=np.float32)
    debugged(x, -1)
    printed = capsys.readouterr().out.splitlines()
    assert printed[0] == "0 of 12 0.0"
    assert printed[1:] == ["f32[4]", "[0. 1. 2. 3.]", "4 of 12 4.0", "f32[4]", "[4. 5. 6. 7.]", "8 of 12 8.0",
                           "f32[4]", "[ 8.  9. 10. 11.]"]  # fmt: skip


def test_exception_is_at_the_kernels_line():
    with pytest.raises(ZeroDivisionError, match="at 4") as caught:
        debugged(np.arange(12, dtype=np.float32), 4)
    last = traceback.extract_tb(caught.value.__traceback__)[-1]
    assert (last.filename, last.lineno) == (debugged.source.filename, line_of(debugged, "raised"))
    assert "raise ZeroDivisionError" in last.line


def test_run_time_assertion_is_pythons():
    with pytest.raises(AssertionError, match="too large"):
        debugged(np.full(12, 1000, np.float32), -1)


def test_breakpoint_stops_at_the_kernels_line(monkeypatch):
    stopped = []

    def hook():
        frame = inspect.currentframe().f_back
        stopped.append((frame.f_code.co_filename, frame.f_lineno, str(frame.f_locals["i"])))

    monkeypatch.setattr("sys.breakpointhook", hook)
    debugged(np.arange(12, dtype=np.float32), 8, stop=True)
    assert stopped == [(debugged.source.filename, line_of(debugged, "stops"), "8")]


def test_debugging_leaves_the_refusal_of_the_compiler(monkeypatch, tmp_path):
    monkeypatch.delenv("HEADRACE_INTERPRET")
    use_tools(monkeypatch, tmp_path)
    with pytest.raises(hr.CompileError, match="import is not part of the kernel language"):
        debugged.run_on("sim", np.arange(12, dtype=np.float32), -1)


def test_method_needs_no_variable(monkeypatch):
    monkeypatch.delenv("HEADRACE_INTERPRET")
    z = np.full(5, -1, np.int32)
    count_programs.interpret(z)
    assert z.tolist() == [5, 15, 25, 35, 45]
    with pytest.raises(hr.HeadraceError, match=r"hr\.zeros is for kernels"):
        hr.zeros((4,))
    with pytest.raises(hr.HeadraceError, match="is for kernels"):
        hr.f32(1)


@pytest.mark.parametrize("grid", [6, (3, 2), (1, 2, 3)])
def test_grid_of_the_caller(grid):
    sizes = (*grid, 1, 1)[:3] if isinstance(grid, tuple) else (grid, 1, 1)
    z = np.full(6, -1, np.int32)
    plain_grid[grid](z)
    x, y, k = np.meshgrid(*(np.arange(size) for size in sizes), indexing="ij")
    wanted = np.zeros(6, np.int32)
    wanted[(x + sizes[0] * (y + sizes[1] * k)).ravel()] = (100 * x + 10 * y + k).ravel()
    assert z.tolist() == wanted.tolist()
    with pytest.raises(hr.LaunchError, match="expected a grid, since the kernel says none"):
        plain_grid(z)


def test_empty_grid_does_nothing():
    nothing_to_do(np.zeros(0, np.float32), z := np.full(3, 5, np.float32))
    assert (z == 5).all()


def test_autotuned_kernel_takes_the_first_configuration():
    z = np.zeros(40, np.int32)
    tuned(z)
    assert (z == 8).all()
    tuned.run_on("sim", z := np.zeros(40, np.int32))
    assert (z == 8).all()


def test_strides_and_raw_bits():
    x = np.arange(40 * 60, dtype=np.float32).reshape(40, 60)[::2, 5:50]
    z = np.full((20, 99), -1, np.float32)[:, :90:2]
    CASES["tiles_over_the_edge"].kernel(x, z)
    np.testing.assert_array_equal(z, x * 2)
    assert (z.base[:, 1::2] == -1).all()


class OnGpu:
    """An array in device memory, as cupy has them."""

    __cuda_array_interface__ = {"shape": (12,), "typestr": "<f4", "data": (4096, False), "version": 3}  # noqa: RUF012


@pytest.mark.parametrize("array", [OnGpu(), hr.DeviceArray(4096, (12,), None, "f32")])
def test_array_of_a_gpu_is_refused(array):
    with pytest.raises(hr.LaunchError, match="argument 'X': expected an array on the CPU to interpret the kernel"):
        debugged(array, 0)


def test_array_that_cannot_be_written_is_refused():
    z = np.zeros(5, np.int32)
    z.flags.writeable = False
    with pytest.raises(hr.LaunchError, match="argument 'Z': expected an array that can be written"):
        count_programs(z)


class Tensor:
    """What interpreting asks of a tensor of torch: bf16 only reaches numpy by its bits."""

    def __init__(self, bits: np.ndarray, dtype: str, device: str = "cpu"):
        self.bits, self.dtype, self.device = bits, f"torch.{dtype}", types.SimpleNamespace(type=device)
        self.shape, self.ndim = bits.shape, bits.ndim

    def detach(self):
        return self

    def view(self, dtype: str):
        return Tensor(self.bits.view(dtype), dtype)

    def numpy(self):
        assert self.dtype != "torch.bfloat16"
        return self.bits


def test_tensors_of_torch_share_their_memory(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", types.SimpleNamespace(Tensor=Tensor, int16="int16"))
    x = np.random.default_rng().standard_normal(96).astype(ml_dtypes.bfloat16)
    z = np.full(96, 77, ml_dtypes.bfloat16)
    doubled(Tensor(x.view(np.uint16), "bfloat16"), Tensor(z.view(np.uint16), "bfloat16"))
    assert (z == x * 2).all()
    with pytest.raises(hr.LaunchError, match=r"got a tensor on .*: pass x.cpu\(\)"):
        doubled(Tensor(x.view(np.uint16), "bfloat16", "cuda"), z)
