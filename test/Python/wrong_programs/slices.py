"""Subscripts of arrays."""

# ruff: noqa: N803

from refused import MATRIX, VECTOR, refused

import headrace as hr


@refused(
    "expected a slice of known length in 'X[...]', got 0:n: the length must be a constant, write 0:0+BM "
    "with BM: hr.constexpr, and leave what lies outside the array to the fill",
    X=VECTOR,
    n=int,
)
def slice_of_run_time_length(X, n):
    hr.grid(1)
    X[0:n] = X[0:n] * 2  # <--


@refused(
    "expected a slice of known length in 'X[...]': write 0:BM with a constant BM; what lies outside the "
    "array reads as the fill and is not written",
    X=MATRIX,
)
def whole_dimension(X):
    hr.grid(1)
    X[0:64, 0:32] = X[0:64, :] * 2  # <--


@refused(
    "expected a slice of known length in 'X[...]': write i:i+BM with a constant BM; what lies outside "
    "the array reads as the fill and is not written",
    X=VECTOR,
)
def open_slice(X):
    i = hr.grid(4) * 64
    X[i : i + 64] = X[i:] * 2  # <--


@refused(
    "expected slices of step 1 in 'X[...]': pass an array with that stride, or places, X[hr.arange(BM) * 2 + m, ...]",
    X=VECTOR,
)
def slice_with_a_step(X):
    hr.grid(1)
    X[0:32] = X[0:64:2] * 2  # <--


@refused("expected a slice of 1 to 16777216 elements in 'X[...]', got 0 from 64:64: write 64 + BM as its end", X=VECTOR)
def empty_slice(X):
    hr.grid(1)
    X[0:64] = X[64:64] * 2  # <--


@refused(
    "expected a slice of 1 to 16777216 elements in 'X[...]', got -64 from i:i - 64: write i + BM as its end",
    X=VECTOR,
)
def slice_backwards(X):
    i = hr.grid(4) * 64
    X[i : i + 64] = X[i : i - 64] * 2  # <--


@refused("expected one position for each of the 2 dimensions of 'X', got 1: write X[i:i+BI, j:j+BJ]", X=MATRIX)
def too_few_positions(X):
    hr.grid(1)
    X[0:64, 0:32] = X[0:64] * 2  # <--


@refused("expected one position for each of the 1 dimensions of 'X', got 2: write X[i:i+BI]", X=VECTOR)
def too_many_positions(X):
    hr.grid(1)
    X[0:64] = X[0:64, 0:32] * 2  # <--


@refused(
    "expected the start of a slice in 'X[...]' to be an integer, got 0.0: write a whole number, or // for a quotient",
    X=VECTOR,
)
def position_that_is_a_float(X):
    hr.grid(1)
    X[0:64] = X[0.0:64.0] * 2  # <--


@refused(
    "expected a tile or a number in '*', got the array f32[:, ::1]: load a part of it, X[i:i+BI, j:j+BJ]",
    X=MATRIX,
)
def arithmetic_on_an_array(X):
    hr.grid(1)
    X[0:64, 0:32] = X * 2  # <--


@refused(
    "expected a part of an array as the first argument of hr.load: write hr.load(A[m:m+BM, k:k+BK], ...)",
    X=VECTOR,
)
def load_of_no_part(X):
    hr.grid(1)
    x = X[0:64]
    X[0:64] = hr.load(x, fill=1.0)  # <--


@refused(
    "expected one tile of rank 1 beside slices in 'X[...]', or a tile for each dimension: write k + "
    "hr.arange(BK)[None, :] for a slice",
    X=MATRIX,
    places=hr.i32[::1],
)
def two_tiles_of_places_and_a_slice(X, places):
    hr.grid(1)
    X[0:64, 0:32] = X[places[0:64][:, None], 0:32]  # <--
