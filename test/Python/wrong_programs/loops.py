"""Loops and the grid."""

# ruff: noqa: N803, PIE808

from refused import HALF, MATRIX, VECTOR, refused

import headrace as hr


@refused(
    "expected a positive step, got -1: count up and turn the number round, for i in range(n): j = n - 1 - i",
    X=VECTOR,
    n=int,
)
def loop_that_counts_down(X, n):
    hr.grid(1)
    for i in range(n, 0, -1):  # <--
        X[i] = 0.0


@refused("expected a positive step, got 0: write by how much the loop counts up, such as BK", A=HALF)
def pipelined_step_of_zero(A):
    hr.grid(1)
    for k in hr.pipelined(0, A.shape[1], 0):  # <--
        A[0:64, k : k + 64] = A[0:64, k : k + 64] * 2


@refused("expected stages to be 'auto' or 0 to 64, got 100", A=HALF)
def too_many_stages(A):
    hr.grid(1)
    for k in hr.pipelined(0, A.shape[1], 64, stages=100):  # <--
        A[0:64, k : k + 64] = A[0:64, k : k + 64] * 2


@refused(
    "expected a whole number beside a run-time int in '*', got 0.5: a Python float has no size of its "
    "own, write x.to(hr.f32)",
    X=VECTOR,
)
def loop_to_a_float(X):
    hr.grid(1)
    for i in range(0, X.shape[0] * 0.5):  # <--
        X[i] = 0.0


@refused(
    "expected hr.grid at the kernel's top level, got it in a loop or a branch: move it out, and write "
    "hr.program_id where the place is needed",
    X=VECTOR,
)
def grid_in_a_loop(X):
    for i in range(4):
        j = hr.grid(8)  # <--
        X[i + j] = 0.0


@refused("expected one grid, got hr.grid after another: write one hr.grid(x, y, z) with all sizes", X=VECTOR)
def two_grids(X):
    i = hr.grid(8)
    j = hr.grid(4)  # <--
    X[i + j] = 0.0


@refused("expected an axis of 0 to 2 in hr.program_id, got 3", X=VECTOR)
def axis_of_the_grid(X):
    X[hr.program_id(3)] = 0.0  # <--


@refused(
    "expected a shape (rows, columns) in hr.tile_index, got (a run-time int,): write both, each by hr.cdiv",
    X=MATRIX,
)
def tile_index_without_columns(X):
    i = hr.grid(8)
    m, n = hr.tile_index(i, (hr.cdiv(X.shape[0], 64),))  # <--
    X[m * 64 : m * 64 + 64, n * 64 : n * 64 + 64] = 0.0


@refused("pipeline needs ...", A=HALF, B=HALF, C=MATRIX)
def more_shared_memory_than_there_is(A, B, C):
    hr.grid(1)
    acc = hr.zeros((128, 256))
    for k in hr.pipelined(0, A.shape[1], 64, stages=40):  # <--
        acc = hr.dot(A[0:128, k : k + 64], B[0:256, k : k + 64].T, acc)
    C[0:128, 0:256] = acc


@refused(
    "the accumulator takes ...",
    A=HALF,
    B=HALF,
    C=MATRIX,
)
def more_registers_than_there_are(A, B, C):
    hr.grid(1)
    acc = hr.zeros((1024, 256))
    for k in hr.pipelined(0, A.shape[1], 64):
        acc = hr.dot(A[0:1024, k : k + 64], B[0:256, k : k + 64].T, acc)  # <--
    C[0:1024, 0:256] = acc


@refused(
    "expected a combining function that only computes, got loads, stores or loops: load before, as a tile",
    X=VECTOR,
)
def reduction_with_a_load(X):
    hr.grid(1)
    X[0] = hr.reduce(X[0:64], 0, lambda a, b: a + b + X[0])  # <--


@refused(
    "expected a combining function of its parameters and constants, got a run-time value from outside: "
    "apply it before or after",
    X=VECTOR,
    n=float,
)
def reduction_with_a_value_from_outside(X, n):
    hr.grid(1)
    X[0] = hr.reduce(X[0:64], 0, lambda a, b: a + b * n)  # <--


@refused("expected a multiple of 32 in hr.assume, got 48", X=VECTOR)
def assumption_that_is_wrong(X, BLOCK: hr.constexpr = 48):
    hr.grid(1)
    X[0] = hr.assume(BLOCK, multiple_of=32)  # <--


@refused(
    "expected a tile that fits the registers of 384 threads, got 'tensor<256x256xf32>': 512 registers of 255 in each",
    knobs={"warps": 12},
    A=HALF,
    X=VECTOR,
)
def product_in_a_loop_that_does_not_fit(A, X):
    hr.grid(1)
    sums = hr.zeros((256,))
    for n in range(0, A.shape[0], 256):
        sums = sums + hr.sum(A[0:256, 0:32] @ A[n : n + 256, 0:32].T, 1)  # <--
    X[0:256] = sums
