"""What each construct of the language emits is legal MLIR of the tile dialect, with locations in the Python file."""

# ruff: noqa: N803

from __future__ import annotations

import re
import subprocess

import numpy as np
import pytest
from language_kernels import CASES
from language_tools import opt

import headrace as hr

MATRIX = hr.f32[:, ::1]
VECTOR = hr.f32[::1]


@pytest.mark.parametrize("name", CASES)
def test_headrace_opt_verifies(name, tmp_path):
    case = CASES[name]
    source = tmp_path / "kernel.mlir"
    source.write_text(case.kernel.mlir(locations=True, **case.make(np.random.default_rng(0))), encoding="utf-8")
    done = subprocess.run([opt(), source], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def body(kernel, *args, **kwargs):
    """The kernel's operations without indentation."""
    return [line.strip() for line in kernel.mlir(*args, **kwargs).splitlines()]


def test_transpose_of_a_loaded_operand_is_a_flag_of_the_dot():
    @hr.kernel
    def kernel(A, B, C):
        hr.grid(1)
        C[0:32, 0:32] = hr.dot(A[0:16, 0:32].T, B[0:32, 0:16].T)

    text = kernel.mlir(MATRIX, MATRIX, MATRIX)
    assert re.search(r"tile\.dot %a transpose_a, %b transpose_b, %\w+ :", text)
    assert "tile.transpose" not in text


@pytest.mark.parametrize("form", ["dot with acc", "augmented dot", "augmented product", "sum on the left"])
def test_sum_with_a_product_is_its_accumulator(form):
    @hr.kernel
    def kernel(A, C, FORM: hr.constexpr):
        hr.grid(1)
        acc = C[0:32, 0:32]
        a = A[0:32, 0:32]
        if FORM == "dot with acc":
            acc = hr.dot(a, a, acc)
        elif FORM == "augmented dot":
            acc += hr.dot(a, a)
        elif FORM == "augmented product":
            acc += a @ a
        else:
            acc = acc + a @ a
        C[0:32, 0:32] = acc

    text = kernel.mlir(MATRIX, MATRIX, form)
    assert re.search(r"tile\.dot %a, %a, %acc :", text)
    assert "addf" not in text


def test_ends_of_slices_are_not_computed():
    @hr.kernel
    def kernel(X, B: hr.constexpr = 64):
        i = hr.grid(hr.cdiv(X.shape[0], B))
        X[i * B : (i + 1) * B] = X[i * B : i * B + B] * 2

    assert not [line for line in body(kernel, VECTOR) if "arith.addi" in line]


def test_only_live_variables_are_carried_by_a_loop():
    @hr.kernel
    def kernel(X, n):
        hr.grid(1)
        x, scratch = X[0:64], 0.0
        for i in range(n):
            scratch = i * 2
            x = x * scratch
        X[0:64] = x

    (loop,) = [line for line in body(kernel, VECTOR, int) if "scf.for" in line]
    assert loop.count("tensor<64xf32>") == 1
    assert "index" not in loop


def test_constant_before_a_loop_becomes_what_the_loop_makes_of_it():
    @hr.kernel
    def kernel(X, n):
        hr.grid(1)
        total, count = 0.0, 0
        for i in range(n):
            total = total + X[i : i + 64]
            count += 1
        X[0:64] = total / count

    (loop,) = [line for line in body(kernel, VECTOR, int) if "scf.for" in line]
    assert "(tensor<64xf32>, index)" in loop


def test_branch_on_a_constant_leaves_the_other_one_out():
    @hr.kernel
    def kernel(X, FAST: hr.constexpr):
        hr.grid(1)
        X[0:64] = X[0:64] * 2 if FAST else no_such_name  # noqa: F821

    assert "scf.if" not in kernel.mlir(VECTOR, True)


def test_right_operand_of_and_is_lazy_only_if_that_shows():
    @hr.kernel
    def pure(X, n):
        hr.grid(1)
        if n > 0 and n < 5:
            X[0] = 1.0

    @hr.kernel
    def loads(X, n):
        hr.grid(1)
        if n > 0 and X[n] > 0:
            X[0] = 1.0

    assert "arith.andi" in pure.mlir(VECTOR, int)
    assert "-> (i1)" in loads.mlir(VECTOR, int)


def test_facts_of_arrays_are_in_their_types():
    @hr.kernel
    def kernel(X, Y):
        hr.grid(1)
        Y[0:16, 0:16] = X[0:16, 0:16]

    padded = np.zeros((32, 40), np.float32)[:, :33]
    text = kernel.mlir(padded, np.zeros((32, 33), np.float32))
    assert '%X: memref<?x?xf32, strided<[?, 1]>> {tile.name = "X", tile.align = 16 : i64}' in text
    assert '%Y: memref<?x?xf32, strided<[?, 1]>> {tile.name = "Y"}' in text
    assert re.search(r"%X_0\w* = tile\.assume %X_0\w* multiple_of 16", text)
    columns = kernel.mlir(padded.T, padded.T)
    assert "%X: memref<?x?xf32, strided<[1, ?]>>" in columns


def test_locations_are_the_python_lines_with_the_calls_around_them():
    @hr.inline
    def twice(x):
        return x * 2

    @hr.kernel
    def kernel(X):
        hr.grid(1)
        X[0:64] = twice(X[0:64])

    line = kernel.function.__code__.co_firstlineno + 3
    (product,) = [text for text in kernel.mlir(VECTOR, locations=True).splitlines() if "mulf" in text]
    assert re.search(rf'callsite\("[^"]*{__name__}.py":{line - 5}:16 at "[^"]*{__name__}.py":{line}:19\)', product)


def test_knobs_are_numbers_or_names_of_constants():
    @hr.kernel(warps="WARPS", occupancy=2)
    def kernel(X, WARPS: hr.constexpr = 8):
        hr.grid(1)
        X[0:64] = X[0:64] * 2

    assert "attributes {warps = 8 : i64, occupancy = 2 : i64}" in kernel.mlir(VECTOR)
    assert "warps = 4" in kernel.mlir(VECTOR, WARPS=4)


@pytest.mark.parametrize("value", [0.1, 1e-5, 1e30, float("inf"), float("-inf"), float("nan"), 3, 2.5e-40])
def test_float_constants_survive(value, tmp_path):
    @hr.kernel
    def kernel(X, V: hr.constexpr):
        hr.grid(1)
        X[0:64] = X[0:64] + V

    source = tmp_path / "kernel.mlir"
    for dtype in (hr.f32, hr.f64, hr.bf16, hr.f16):
        if dtype is hr.f16 and abs(value) > 1e5 and np.isfinite(value):
            continue
        source.write_text(kernel.mlir(dtype[::1], value), encoding="utf-8")
        done = subprocess.run([opt(), source], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr


def test_loop_that_starts_for_certain_has_its_test_at_the_end():
    @hr.kernel
    def kernel(X):
        n, going = X[hr.grid(1)], True
        while going:
            n = n // 2
            going = n > 1
        X[0] = n

    text = kernel.mlir(hr.i32[::1])
    first, second = text.split("scf.while")[1].split(" do {")
    assert re.findall(r"(arith\.\w+|scf\.\w+)", first) == ["arith.floordivsi", "arith.cmpi", "scf.condition"]
    assert re.findall(r"(arith\.\w+|scf\.\w+)", second.split("}")[0]) == ["scf.yield"]


def test_array_that_is_none_is_no_argument():
    @hr.kernel
    def kernel(X, Y):
        hr.grid(1)
        if Y is not None:
            X[0:64] = Y[0:64]
        else:
            X[0:64] = 0.0

    assert "%Y" in kernel.mlir(VECTOR, VECTOR)
    program = kernel.program(kernel.facts((VECTOR, None), {})[1])
    assert program.arguments == ("X",)
    assert "%Y" not in program.plain


@pytest.mark.parametrize(
    ("a", "b", "quotient"), [(0, 3, 0), (1, 3, 1), (3, 3, 1), (4, 3, 2), (-1, 3, 0), (10**30, 7, -(-(10**30) // 7))]
)
def test_cdiv_outside_of_kernels(a, b, quotient):
    assert hr.cdiv(a, b) == quotient
