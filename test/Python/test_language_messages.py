"""Asserts and prints of kernels: on the simulator, for targets of every kind, and in the interpreter."""

# ruff: noqa: N803 (arrays have capital names), N806

from __future__ import annotations

import inspect
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from language_tools import opt, use_tools

import headrace as hr
from headrace.interpreter import InterpreterError, load

TARGETS = ["sm_75", "sm_80", "sm_90a", "sm_100a", "sm_120a"]


@pytest.fixture(autouse=True)
def tools(monkeypatch, tmp_path):
    use_tools(monkeypatch, tmp_path)


@hr.kernel
def checked(X, ids, Y, n: int, N: hr.constexpr = 8):
    hr.grid(1)
    assert n > 3, 'n is "small"'
    rows = ids[0:N]
    assert (rows >= 0) & (rows < X.shape[0])
    Y[0:N] = X[rows]


@hr.kernel
def product(A, B, C, BK: hr.constexpr = 64):
    hr.grid(1)
    acc = hr.zeros((128, 128), hr.f32)
    for k in hr.pipelined(0, A.shape[1], BK, stages=2):
        acc = hr.dot(A[0:128, k : k + BK], B[0:128, k : k + BK].T, acc)
        assert k + BK <= A.shape[1], "K is no multiple"
    assert hr.abs(acc) < 1000.0, "a large sum"
    C[0:128, 0:128] = acc


@hr.kernel
def prints(X, n: int, N: hr.constexpr = 3):
    i = hr.grid(2)
    x = X[0:N]
    print("start")
    print("n", n, i, 7, 0.5, True)
    print("x", x, x > 1.5, n)


def line_of(kernel, text: str) -> int:
    lines, first = inspect.getsourcelines(kernel.function)
    return first + next(number for number, line in enumerate(lines) if text in line)


def vectors(ids):
    x = np.arange(10, dtype=np.float32)
    return x, np.array(ids, np.int32), np.full(8, -1, np.float32)


@pytest.mark.parametrize("target", TARGETS)
def test_what_holds_is_silent(target, capsys):
    x, ids, y = vectors([9, 0, 1, 2, 3, 4, 5, 6])
    checked.run_on("sim", x, ids, y, 4, target=target)
    assert (y == x[ids]).all()
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("target", TARGETS)
def test_a_scalar_fails_at_its_line(target):
    x, ids, y = vectors(range(8))
    with pytest.raises(hr.SimulationError) as caught:
        checked.run_on("sim", x, ids, y, 3, target=target)
    assert caught.value.message == 'assert failed: n is "small" [assert]'
    assert caught.value.place.line == line_of(checked, "n > 3")
    assert Path(caught.value.place.filename) == Path(__file__)
    assert (y == -1).all()


@pytest.mark.parametrize("target", TARGETS)
def test_one_element_fails_and_the_condition_is_the_message(target):
    x, ids, y = vectors([0, 1, 2, 10, 4, 5, 6, 7])
    with pytest.raises(hr.SimulationError) as caught:
        checked.run_on("sim", x, ids, y, 4, target=target)
    assert caught.value.message == "assert failed: (rows >= 0) & (rows < X.shape[0]) [assert]"
    assert caught.value.place.line == line_of(checked, "rows < X.shape[0]")


def matrices(k: int, value: float, dtype):
    a = np.full((128, k), value, dtype)
    return a, np.full((128, k), 1.0, dtype), np.empty((128, 128), np.float32)


@pytest.mark.parametrize("target", TARGETS)
def test_pipelined_product_holds_and_fails(target):
    dtype = np.float16 if target == "sm_75" else ml_dtypes.bfloat16
    a, b, c = matrices(256, 2.0, dtype)
    product.run_on("sim", a, b, c, target=target, seeds=3)
    assert (c == 512).all()
    a[77, 200] = 600.0
    with pytest.raises(hr.SimulationError) as caught:
        product.run_on("sim", a, b, c, target=target)
    assert caught.value.message == "assert failed: a large sum [assert]"
    assert caught.value.place.line == line_of(product, "a large sum")


@pytest.mark.parametrize("target", ["sm_80", "sm_90a", "sm_100a"])
def test_the_last_trip_of_a_loop_fails(target):
    a, b, c = matrices(200, 1.0, ml_dtypes.bfloat16)
    with pytest.raises(hr.SimulationError) as caught:
        product.run_on("sim", a, b, c, target=target)
    assert caught.value.message == "assert failed: K is no multiple [assert]"
    assert caught.value.place.line == line_of(product, "K is no multiple")


PRINTED = """\
({i}, 0, 0) start
({i}, 0, 0) n: -5, {i}, 7, 0.5, 1
({i}, 0, 0) x [0]: 0.100000001, 0, -5
({i}, 0, 0) x [1]: 2, 1, -5
({i}, 0, 0) x [2]: inf, 1, -5
"""


@pytest.mark.parametrize("target", TARGETS)
def test_lines_on_the_simulator(target, capsys):
    x = np.array([0.1, 2, np.inf], np.float32)
    prints.run_on("sim", x, -5, target=target)
    printed = capsys.readouterr().out.splitlines()
    assert sorted(printed) == sorted((PRINTED.format(i=0) + PRINTED.format(i=1)).splitlines())
    assert [line for line in printed if line.startswith("(0")] == printed[:5]


def test_what_was_printed_before_a_failure_is_shown(capsys):
    @hr.kernel(warps=1)
    def stops(X):
        hr.grid(1)
        print("before", X.shape[0])
        assert X.shape[0] > 5, "short"
        print("behind")

    with pytest.raises(hr.SimulationError):
        stops.run_on("sim", np.zeros(5, np.float32), target="sm_90a")
    assert capsys.readouterr().out == "(0, 0, 0) before: 5\n"


def interpreted(kernel, arguments: dict) -> None:
    signature = {name: value if isinstance(value, np.ndarray) else type(value) for name, value in arguments.items()}
    program = load(kernel.mlir(**signature), opt=str(opt()))
    program.run(arguments)


def test_the_interpreter_says_the_same(capsys):
    interpreted(prints, {"X": np.array([0.1, 2, np.inf], np.float32), "n": -5})
    assert capsys.readouterr().out == PRINTED.format(i=0) + PRINTED.format(i=1)
    x, ids, y = vectors(range(8))
    interpreted(checked, {"X": x, "ids": ids, "Y": y, "n": 4})
    assert (y == x[:8]).all()
    with pytest.raises(InterpreterError, match=r'assert failed in program \(0, 0, 0\): n is "small"'):
        interpreted(checked, {"X": x, "ids": ids, "Y": y, "n": 3})
    ids[5] = -1
    with pytest.raises(InterpreterError, match=r"assert failed .*: \(rows >= 0\)"):
        interpreted(checked, {"X": x, "ids": ids, "Y": y, "n": 4})


def test_what_is_known_when_compiled_is_decided_then():
    @hr.kernel
    def constant(X, N: hr.constexpr = 8):
        hr.grid(1)
        assert N % 4 == 0, "N must be a multiple of 4"
        X[0:N] = X[0:N] + 1.0

    assert "tile.assert" not in constant.mlir(hr.f32[::1])
    with pytest.raises(hr.CompileError, match="N must be a multiple of 4"):
        constant.mlir(hr.f32[::1], N=6)


def test_asserts_in_branches_and_inlined_functions():
    @hr.inline
    def check(x):
        assert x < 10.0, "ten or more"
        return x

    @hr.kernel
    def branches(X, Y, n: int):
        hr.grid(1)
        if n > 2:
            Y[0:4] = check(X[0:4])
        else:
            Y[0:4] = X[0:4]

    x, y = np.full(4, 10, np.float32), np.empty(4, np.float32)
    branches.run_on("sim", x, y, 2, target="sm_80")
    with pytest.raises(hr.SimulationError) as caught:
        branches.run_on("sim", x, y, 3, target="sm_80")
    assert caught.value.message == "assert failed: ten or more [assert]"
    assert caught.value.place.line == inspect.getsourcelines(check.function)[1] + 2
