"""Names that are not there, or are no constants."""

# ruff: noqa: N803, F821

import math

import numpy as np
from refused import HALF, MATRIX, VECTOR, refused

import headrace as hr

TABLE = [1, 2, 3]
WEIGHTS = np.ones(4)


def plain(x):
    return x * 2


@refused("unknown name 'BLOK'; did you mean 'BLOCK'?", X=VECTOR)
def unknown_name(X, BLOCK: hr.constexpr = 64):
    hr.grid(1)
    X[0:BLOCK] = X[0:BLOK] * 2  # <--


@refused("unknown name 'hr.expp'; did you mean hr.exp?", X=VECTOR)
def unknown_function(X):
    hr.grid(1)
    X[0:64] = hr.expp(X[0:64])  # <--


@refused("unknown name 'hr.float32'; did you mean hr.f32?", X=VECTOR)
def dtype_by_another_name(X):
    hr.grid(1)
    X[0:64] = hr.zeros((64,), hr.float32)  # <--


@refused(
    "expected 'TABLE' to be a constant from outside of the kernel, got list: use a number or a tuple, or "
    "pass an array as a parameter",
    X=VECTOR,
)
def list_from_outside(X):
    hr.grid(1)
    X[0:64] = X[0:64] * TABLE[0]  # <--


@refused(
    "expected 'WEIGHTS' to be a constant from outside of the kernel, got ndarray: use a number or a "
    "tuple, or pass an array as a parameter",
    X=VECTOR,
)
def array_from_outside(X):
    hr.grid(1)
    X[0:4] = X[0:4] * WEIGHTS  # <--


@refused(
    "'plain' is a plain Python function: write @hr.inline above its def, or compute its value outside "
    "and pass it as a constant",
    X=VECTOR,
)
def plain_function(X):
    hr.grid(1)
    X[0:64] = plain(X[0:64])  # <--


@refused("expected constants in math.exp, got a tile f32[64]: write hr.exp", X=VECTOR)
def function_of_math(X):
    hr.grid(1)
    X[0:64] = math.exp(X[0:64])  # <--


@refused("'np.exp' is a function of numpy, which runs outside of kernels: write hr.exp", X=VECTOR)
def function_of_numpy(X):
    hr.grid(1)
    X[0:64] = np.exp(X[0:64])  # <--


@refused("a tile has no '.astype': write .to(dtype)", X=VECTOR)
def unknown_method(X):
    hr.grid(1)
    X[0:64] = X[0:64].astype(hr.f32)  # <--


@refused("an array has no '.size': write .shape", X=VECTOR)
def unknown_attribute_of_an_array(X):
    hr.grid(1)
    X[0:64] = X[0:64] * X.size  # <--


@refused(
    "expected arguments of hr.load(part, *, fill=None, cache=None), got another call, got an unexpected "
    "keyword argument 'mask': elements outside of the array read as the fill and are not written; for "
    "other masks write hr.where",
    X=VECTOR,
)
def unknown_keyword(X):
    hr.grid(1)
    X[0:64] = hr.load(X[0:64], mask=True)  # <--


@refused(
    "expected arguments of hr.dot(a, b, acc=None, *, precision=None), got another call, missing a "
    "required argument: 'b'",
    A=HALF,
    C=MATRIX,
)
def missing_argument(A, C):
    hr.grid(1)
    C[0:64, 0:64] = hr.dot(A[0:64, 0:64])  # <--


@refused(
    "expected a kernel's name of ASCII letters, digits and '_' that starts with neither 'headrace_' nor "
    "'llvm', got 'headrace_kernel'",
    X=VECTOR,
)
def headrace_kernel(X):  # <--
    hr.grid(1)
    X[0:64] = X[0:64] + 1


@refused("unknown name 'hr.static_range'; did you mean hr.unroll?", X=VECTOR)
def name_of_triton(X):
    hr.grid(1)
    for _ in hr.static_range(4):  # <--
        X[0:64] = X[0:64] + 1
