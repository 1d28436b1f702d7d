"""Products of scaled blocks whose operands do not fit."""

# ruff: noqa: N803

from refused import HALF, MATRIX, refused

import headrace as hr

BYTES = hr.i8[:, ::1]
EIGHT = hr.e4m3[:, ::1]


@refused(
    "expected e4m3, e5m2 or i8 (two numbers of 4 bits) as b of hr.dot_scaled, got bf16",
    A=EIGHT,
    B=HALF,
    S=BYTES,
    C=MATRIX,
)
def numbers_of_bf16(A, B, S, C):
    hr.grid(1)
    C[0:64, 0:64] = hr.dot_scaled(A[0:64, 0:64], S[0:64, 0:2], B[0:64, 0:64], S[0:64, 0:2])  # <--


@refused("expected scales of i8 for numbers of 8 bits in hr.dot_scaled, got e4m3", A=EIGHT, C=MATRIX)
def factors_of_8_bits(A, C):
    hr.grid(1)
    C[0:64, 0:64] = hr.dot_scaled(A[0:64, 0:64], A[0:64, 0:4], A[0:64, 0:64], A[0:64, 0:4])  # <--


@refused(
    "expected scales of i8 (powers of two) or e4m3 for both operands of hr.dot_scaled, got i8 and e4m3",
    A=EIGHT,
    S=BYTES,
    C=MATRIX,
)
def scales_of_two_kinds(A, S, C):
    hr.grid(1)
    C[0:64, 0:64] = hr.dot_scaled(A[0:64, 0:64], S[0:64, 0:2], A[0:64, 0:64], A[0:64, 0:4])  # <--


@refused("expected a_scale of [64, 2], one for 32 numbers, got [64, 4]", A=EIGHT, S=BYTES, C=MATRIX)
def too_many_scales(A, S, C):
    hr.grid(1)
    C[0:64, 0:64] = hr.dot_scaled(A[0:64, 0:64], S[0:64, 0:4], A[0:64, 0:64], S[0:64, 0:2])  # <--


@refused(
    "expected one K in hr.dot_scaled, got 64 numbers in a row of a and 128 of b: load both as [M, K] and [N, K]",
    A=EIGHT,
    P=BYTES,
    C=MATRIX,
)
def pairs_beside_single_numbers(A, P, C):
    hr.grid(1)
    C[0:64, 0:64] = hr.dot_scaled(A[0:64, 0:64], P[0:64, 0:2], P[0:64, 0:64], P[0:64, 0:2])  # <--


@refused(
    "expected a multiple of 32 numbers in a row, as many as have a scale of i8, got 48", A=EIGHT, S=BYTES, C=MATRIX
)
def part_of_a_block(A, S, C):
    hr.grid(1)
    C[0:64, 0:64] = hr.dot_scaled(A[0:64, 0:48], S[0:64, 0:1], A[0:64, 0:48], S[0:64, 0:1])  # <--


@refused(
    "expected an accumulator f32[64, 64] in hr.dot_scaled, as its operands give, got f32[64, 32]: write "
    "hr.zeros((64, 64))",
    A=EIGHT,
    S=BYTES,
    C=MATRIX,
)
def accumulator_of_scaled_blocks(A, S, C):
    hr.grid(1)
    acc = hr.zeros((64, 32))
    C[0:64, 0:64] = hr.dot_scaled(A[0:64, 0:64], S[0:64, 0:2], A[0:64, 0:64], S[0:64, 0:2], acc)  # <--
