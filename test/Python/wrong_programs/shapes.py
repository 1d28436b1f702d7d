"""Extents that do not go together."""

# ruff: noqa: N803

from refused import HALF, MATRIX, VECTOR, refused

import headrace as hr


@refused(
    "expected shapes that broadcast in '+', got [64] and [32]: make the extents equal, or one of them 1",
    X=VECTOR,
    Y=VECTOR,
)
def sum_of_different_lengths(X, Y):
    hr.grid(1)
    x = X[0:64]
    y = Y[0:32]
    Y[0:64] = x + y  # <--


@refused(
    "expected shapes that broadcast in '*', got [64, 32] and [64]: write x[:, None] or x[None, :] to say "
    "which axis is missing",
    X=MATRIX,
    Y=VECTOR,
)
def vector_along_the_wrong_axis(X, Y):
    hr.grid(1)
    x = X[0:64, 0:32]
    X[0:64, 0:32] = x * Y[0:64]  # <--


@refused(
    "expected [M, K] and [K, N] in hr.dot, got [64, 16] and [32, 16], K of 16 and 32: write b.T for a "
    "second operand of [N, K]",
    A=HALF,
    B=HALF,
    C=MATRIX,
)
def dot_without_transpose(A, B, C):
    hr.grid(1)
    C[0:64, 0:32] = hr.dot(A[0:64, 0:16], B[0:32, 0:16])  # <--


@refused(
    "expected [M, K] and [K, N] in '@', got [64, 16] and [32, 64], K of 16 and 32: load both with the same K",
    A=HALF,
    B=HALF,
    C=MATRIX,
)
def dot_of_different_depth(A, B, C):
    hr.grid(1)
    C[0:64, 0:64] = A[0:64, 0:16] @ B[0:32, 0:64]  # <--


@refused(
    "expected an accumulator f32[64, 32] in hr.dot, as its operands give, got f32[64, 64]: write "
    "hr.zeros((64, 32), hr.f32)",
    A=HALF,
    B=HALF,
    C=MATRIX,
)
def accumulator_of_another_shape(A, B, C):
    hr.grid(1)
    acc = hr.zeros((64, 64))
    for k in hr.pipelined(0, A.shape[1], 16):
        acc = hr.dot(A[0:64, k : k + 16], B[k : k + 16, 0:32], acc)  # <--
    C[0:64, 0:64] = acc


@refused(
    "expected tiles of rank 2 in hr.dot, got a tile f32[64]: write hr.sum(x * y) for vectors, x[None, :] for a row",
    X=VECTOR,
)
def dot_of_vectors(X):
    hr.grid(1)
    x = X[0:64]
    X[0:64] = hr.dot(x, x)  # <--


@refused(
    "expected a tile for 'X[...]' of shape [32, 64], or one that broadcasts to it, got [64, 32]: write .T",
    X=MATRIX,
)
def store_of_another_shape(X):
    hr.grid(1)
    x = X[0:64, 0:32]
    X[0:32, 0:64] = x  # <--


@refused("expected a scalar for a single element of 'Y', got a tile f32[64]: write a slice, n:n+BN", X=MATRIX, Y=VECTOR)
def store_of_a_tile_to_an_element(X, Y):
    hr.grid(1)
    Y[0] = X[0:64, 0:32].sum(axis=1)  # <--


@refused(
    "expected a shape of 2048 elements, as f32[64, 32] has, got [64, 64] with 4096: write -1 for the "
    "extent that follows from the others",
    X=MATRIX,
)
def reshape_of_other_size(X):
    hr.grid(1)
    X[0:64, 0:64] = X[0:64, 0:32].reshape(64, 64)  # <--


@refused("expected a tile of rank 2 to transpose, got a tile f32[64]: write x[:, None] for a column", X=VECTOR)
def transpose_of_a_vector(X):
    hr.grid(1)
    X[0:64] = X[0:64].T  # <--


@refused("expected an axis of -2 to 1 for hr.sum, got 2: the tile has 2 dimensions", X=MATRIX)
def axis_that_is_not_there(X):
    hr.grid(1)
    X[0:64, 0] = hr.sum(X[0:64, 0:32], axis=2)  # <--


@refused(
    "expected only ':', '...' and None in the subscript of a tile: a tile has no parts, load the part "
    "from its array, or pick by hr.where and reduce; this one is f32[64]",
    X=VECTOR,
)
def part_of_a_tile(X):
    hr.grid(1)
    x = X[0:64]
    X[0:32] = x[0:32]  # <--


@refused(
    "expected an array before '[' on the left of '=', got a tile f32[64]: a tile cannot be changed in "
    "part, write x = hr.where(mask, new, x)",
    X=VECTOR,
)
def change_of_a_part_of_a_tile(X):
    hr.grid(1)
    x = X[0:64]
    x[0:32] = 0.0  # <--
    X[0:64] = x


@refused(
    "expected constants in the shape of a tile, got a run-time int: the extents of a tile are part of "
    "its type, make it an hr.constexpr parameter",
    X=VECTOR,
    n=int,
)
def extent_known_at_run_time(X, n):
    hr.grid(1)
    X[0:64] = hr.zeros((n,))  # <--


@refused(
    "expected a tile of at most 16777216 elements, got [8192, 8192], 67108864 elements: write a loop over smaller ones",
    X=MATRIX,
)
def tile_that_is_too_large(X):
    hr.grid(1)
    X[0:8192, 0:8192] = X[0:8192, 0:8192] * 2  # <--


@refused(
    "expected a tile of rank 2 to 4 whose last extent is 2 in hr.split, got a tile f32[64, 32]: write "
    "x.reshape(64, 16, 2) for its pairs of neighbours",
    X=MATRIX,
)
def split_of_columns(X):
    hr.grid(1)
    even, odd = hr.split(X[0:64, 0:32])  # <--
    X[0:64, 0:16] = even + odd


@refused(
    "expected a tile of rank 2 to 4 whose last extent is 2 in hr.split, got a tile f32[2]",
    X=VECTOR,
)
def split_of_two_elements(X):
    hr.grid(1)
    first, _ = hr.split(X[0:2])  # <--
    X[0:2] = first


@refused("expected a tile for hr.split, got a run-time f32", X=VECTOR)
def split_of_a_scalar(X):
    hr.grid(1)
    first, second = hr.split(X[0])  # <--
    X[0] = first + second


@refused(
    "expected one dtype on both sides of hr.join, got f32 and bf16: cast one, such as .to(hr.f32)", X=VECTOR, Y=HALF
)
def join_of_two_dtypes(X, Y):
    hr.grid(1)
    X[0:64] = hr.join(X[0:32], Y[0, 0:32]).reshape(64)  # <--


@refused("expected a tile in hr.join, got a run-time f32 and 1.0: write hr.full for a tile of one", X=VECTOR)
def join_of_scalars(X):
    hr.grid(1)
    X[0:2] = hr.join(X[0], 1.0)  # <--


@refused("expected tiles of rank 1 to 3 in hr.join, got a tile f32[2, 2, 2, 8]", X=VECTOR)
def join_of_four_dimensions(X):
    hr.grid(1)
    x = X[0:64].reshape(2, 2, 2, 8)
    X[0:128] = hr.join(x, x).reshape(128)  # <--


@refused("expected a shape of 1 to 4 extents for hr.reshape, got 5", X=VECTOR)
def reshape_to_five_dimensions(X):
    hr.grid(1)
    X[0:64] = X[0:64].reshape(2, 2, 2, 2, 4).reshape(64)  # <--
