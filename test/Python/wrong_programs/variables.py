"""Variables that have no value, or change their type."""

# ruff: noqa: N803, F821, F841, B007, SIM108, RET503

from refused import HALF, MATRIX, VECTOR, refused

import headrace as hr


@refused("'scale' has a value only if 'flag': assign 'scale' before the if, or under else as well", X=VECTOR, flag=bool)
def set_in_one_branch(X, flag):
    hr.grid(1)
    if flag:
        scale = 2.0
    X[0:64] = X[0:64] * scale  # <--


@refused("'last' has no value if the loop has no trip: assign 'last' before the loop", X=VECTOR, n=int)
def set_in_a_loop_only(X, n):
    hr.grid(1)
    for i in range(n):
        last = X[i : i + 64]
    X[0:64] = last  # <--


@refused(
    "'i' has no value after its loop, which may have no trip: assign it to another name in the loop",
    X=VECTOR,
    n=int,
)
def loop_variable_after_the_loop(X, n):
    hr.grid(1)
    for i in range(n):
        X[0:64] = X[0:64] * 2
    X[i] = 0.0  # <--


@refused("'scale' is read before it has a value: assign 'scale' before", X=VECTOR)
def read_before_it_is_set(X):
    hr.grid(1)
    X[0:64] = X[0:64] * scale  # <--
    scale = 2.0


@refused("'total' is read before it has a value: assign 'total' before", X=VECTOR, n=int)
def accumulator_without_a_start(X, n):
    hr.grid(1)
    for i in range(n):
        total += X[i : i + 64]  # <--
    X[0:64] = total


@refused(
    "expected 'acc' to keep its type from trip to trip, got a tile f32[64, 64] before the loop and a "
    "tile bf16[64, 64] after a trip: cast or broadcast it to what it was, or use another name",
    A=HALF,
    C=HALF,
)
def accumulator_changes_its_dtype(A, C):
    hr.grid(1)
    acc = hr.zeros((64, 64), hr.f32)
    for k in hr.pipelined(0, A.shape[1], 64):  # <--
        acc = hr.dot(A[0:64, k : k + 64], A[0:64, k : k + 64].T, acc)
        acc = acc.to(hr.bf16)
    C[0:64, 0:64] = acc


@refused(
    "expected 'x' to keep its type from trip to trip, got a tile f32[64] before the loop and a tile "
    "f32[64, 64] after a trip: cast or broadcast it to what it was, or use another name",
    X=VECTOR,
    n=int,
)
def tile_grows_in_a_loop(X, n):
    hr.grid(1)
    x = X[0:64]
    for _ in range(n):  # <--
        x = x[:, None] + x[None, :]
    X[0:64] = x


@refused(
    "expected 'x' of one type after the if, got a tile f32[64] and a tile bf16[64]: cast or broadcast "
    "one of them, or use two names",
    X=VECTOR,
    Y=hr.bf16[::1],
    flag=bool,
)
def branches_of_different_types(X, Y, flag):
    hr.grid(1)
    if flag:  # <--
        x = X[0:64]
    else:
        x = Y[0:64]
    X[0:64] = x


@refused(
    "expected one type in both branches of 'x if c else y', got a tile f32[64] and a tile f32[32]: cast "
    "or broadcast one of them",
    X=VECTOR,
    flag=bool,
)
def conditional_of_different_shapes(X, flag):
    hr.grid(1)
    x = X[0:64] if flag else X[0:32]  # <--
    X[0:64] = x


@hr.inline
def first_positive(i):
    if i > 0:  # <--
        return i


@refused(
    "expected a value to be returned on every path, got none unless 'i > 0': write return in that case "
    "as well, or a value after the if",
    inside=first_positive,
    X=VECTOR,
)
def value_returned_on_one_path(X):
    i = hr.grid(8)
    X[first_positive(i)] = 0.0


@refused("expected 2 values to unpack, got 3: write a name for each, _ for what is not used", X=VECTOR)
def unpacking_of_another_length(X):
    hr.grid(1)
    a, b = (1, 2, 3)  # <--
    X[0:64] = X[0:64] * a


@refused("expected a kernel to return nothing: store the result to an array", X=MATRIX)
def kernel_that_returns(X):
    hr.grid(1)
    return X[0:64, 0:32]  # <--
