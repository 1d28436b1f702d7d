"""Element types that do not go together."""

# ruff: noqa: N803

from refused import HALF, MATRIX, VECTOR, refused

import headrace as hr

INTS = hr.i32[::1]


@refused(
    "expected one dtype on both sides of '+', got bf16 and f32: cast one, such as .to(hr.f32)",
    X=hr.bf16[::1],
    Y=VECTOR,
)
def sum_of_bf16_and_f32(X, Y):
    hr.grid(1)
    Y[0:64] = X[0:64] + Y[0:64]  # <--


@refused(
    "expected a pair of dtypes that can be multiplied in hr.dot, got bf16 and f32: cast one with .to; "
    "legal are f16, bf16, f32 or 8-bit float pairs into f32, i8 into i32, f64 into f64",
    A=HALF,
    B=MATRIX,
    C=MATRIX,
)
def dot_of_bf16_and_f32(A, B, C):
    hr.grid(1)
    C[0:64, 0:64] = hr.dot(A[0:64, 0:64], B[0:64, 0:64])  # <--


@refused("expected a tile of 'C', bf16, got a tile f32[64, 64]: write .to(C.dtype)", A=HALF, C=HALF)
def store_of_f32_to_bf16(A, C):
    hr.grid(1)
    acc = A[0:64, 0:64] @ A[0:64, 0:64]
    C[0:64, 0:64] = acc  # <--


@refused(
    "expected an accumulator f32[64, 64] in hr.dot, as its operands give, got bf16[64, 64]: write "
    "hr.zeros((64, 64), hr.f32)",
    A=HALF,
    C=MATRIX,
)
def accumulator_of_bf16(A, C):
    hr.grid(1)
    acc = hr.zeros((64, 64), hr.bf16)
    C[0:64, 0:64] = hr.dot(A[0:64, 0:64], A[0:64, 0:64], acc)  # <--


@refused("expected a whole number for i32, got 0.5: cast the other side, such as x.to(hr.f32)", X=INTS)
def float_with_an_int_tile(X):
    hr.grid(1)
    X[0:64] = X[0:64] * 0.5  # <--


@refused("expected floats in '/', got i32: write // for the quotient rounded down, or cast with .to(hr.f32)", X=INTS)
def true_division_of_ints(X):
    hr.grid(1)
    X[0:64] = X[0:64] / 2  # <--


@refused("expected integers in '//', got f32: write hr.floor(x / y)", X=VECTOR)
def floor_division_of_floats(X):
    hr.grid(1)
    X[0:64] = X[0:64] // 2.0  # <--


@refused("expected integers in '&', got f32: cast with .to(hr.i32), or see hr.bitcast", X=VECTOR)
def bits_of_floats(X):
    hr.grid(1)
    X[0:64] = X[0:64] & 1  # <--


@refused(
    "expected a number that i8 holds, -128 to 127, got 300: write a smaller one, or cast the other side "
    "to a wider dtype",
    X=hr.i8[::1],
)
def number_that_does_not_fit(X):
    hr.grid(1)
    X[0:64] = X[0:64] + 300  # <--


@refused("expected numbers in '+', got i1: cast with .to(hr.i32) to count, or write & and | for logic", X=VECTOR)
def sum_of_conditions(X):
    hr.grid(1)
    positive = X[0:64] > 0
    X[0:64] = (positive + positive).to(hr.f32)  # <--


@refused("expected f16, bf16, f32 in hr.exp, got a tile i32[64]: write .to(hr.f32)", X=INTS)
def exponential_of_ints(X):
    hr.grid(1)
    X[0:64] = hr.exp(X[0:64])  # <--


@refused(
    "expected operands of 16 bits or more in '*', got e4m3: 8-bit floats have only casts, write .to(hr.f32)",
    X=hr.e4m3[::1],
)
def arithmetic_on_8_bit_floats(X):
    hr.grid(1)
    X[0:64] = X[0:64] * X[0:64]  # <--


@refused("expected a dtype of 32 bits in hr.bitcast, as f32 has, got f16 of 16: write .to to convert", X=VECTOR)
def bitcast_to_another_width(X):
    hr.grid(1)
    X[0:64] = hr.bitcast(X[0:64], hr.f16).to(hr.f32)  # <--


@refused(
    "expected one dtype on both sides of '*', got a tile of f32 and a scalar of f16: cast one, such as .to(hr.f32)",
    X=VECTOR,
    scale=hr.f16,
)
def scalar_of_another_dtype(X, scale):
    hr.grid(1)
    X[0:64] = X[0:64] * scale  # <--


@refused("expected a condition of i1 in hr.where, got a tile f32[64]: compare it, such as x != 0", X=VECTOR)
def condition_that_is_a_number(X):
    hr.grid(1)
    x = X[0:64]
    X[0:64] = hr.where(x, x, 0.0)  # <--


@refused(
    "expected an array of i32, i64, f16, bf16, f32 or f64 to combine atomically, got i8: keep the result "
    "in a wider array",
    X=hr.i8[::1],
)
def atomics_on_bytes(X):
    hr.grid(1)
    hr.atomic_add(X[0:64], 1)  # <--


@refused("expected places of i32 or i64 in 'Y[...]', got a tile f32[64]: write .to(hr.i32)", X=VECTOR, Y=VECTOR)
def places_that_are_floats(X, Y):
    hr.grid(1)
    X[0:64] = Y[X[0:64]]  # <--
