"""Run-time values where a constant is needed."""

# ruff: noqa: N803

from refused import HALF, MATRIX, VECTOR, refused

import headrace as hr


@refused("expected constants in hr.arange, got a run-time value: write m + hr.arange(BM)", X=VECTOR, n=int)
def range_of_a_run_time_length(X, n):
    hr.grid(1)
    X[0:64] = X[0:64] + hr.arange(n).to(hr.f32)  # <--


@refused(
    "expected constants in hr.unroll, got a run-time value: write range, or make it a constexpr parameter",
    X=VECTOR,
    n=int,
)
def unrolled_run_time_loop(X, n):
    hr.grid(1)
    for _ in hr.unroll(n):  # <--
        X[0:64] = X[0:64] * 2


@refused(
    "expected a constant index of a tuple, got a run-time int: loop with hr.unroll, or store the values in an array",
    X=VECTOR,
)
def run_time_index_of_a_tuple(X):
    hr.grid(1)
    sizes = (1, 2, 3)
    for i in range(3):
        X[0:64] = X[0:64] * sizes[i]  # <--


@refused(
    "expected a constant for the axis of hr.sum, got a run-time int: make it an hr.constexpr parameter, "
    "or a global number",
    X=MATRIX,
    axis=int,
)
def run_time_axis(X, axis):
    hr.grid(1)
    X[0:64, 0] = hr.sum(X[0:64, 0:32], axis=axis)  # <--


@refused(
    "expected a constant for stages, got a run-time int: make it an hr.constexpr parameter, or a global number",
    X=VECTOR,
    n=int,
)
def run_time_stages(X, n):
    hr.grid(1)
    for i in hr.pipelined(0, X.shape[0], 64, stages=n):  # <--
        X[i : i + 64] = X[i : i + 64] * 2


@refused(
    "expected a constant for fill, got a run-time f32: make it an hr.constexpr parameter, or a global number",
    X=VECTOR,
    fill=float,
)
def run_time_fill(X, fill):
    hr.grid(1)
    X[0:64] = hr.load(X[0:64], fill=fill)  # <--


@refused("expected a constant exponent in '**': for a run-time one write hr.exp2(y * hr.log2(x))", X=VECTOR, n=int)
def run_time_exponent(X, n):
    hr.grid(1)
    X[0:64] = X[0:64] ** n  # <--


@refused("BLOCK must be a multiple of 32", X=VECTOR)
def assertion_that_does_not_hold(X, BLOCK: hr.constexpr = 48):
    assert BLOCK % 32 == 0, "BLOCK must be a multiple of 32"  # <--
    hr.grid(1)
    X[0:BLOCK] = X[0:BLOCK] * 2


@hr.inline
def halves(x, n: hr.constexpr):
    return x / n


@refused(
    "expected a constant for 'n' of halves(x, n), which is hr.constexpr, got a run-time int: pass a "
    "number, or a constexpr parameter of the kernel",
    X=VECTOR,
    n=int,
)
def run_time_value_for_constexpr(X, n):
    hr.grid(1)
    X[0:64] = halves(X[0:64], n)  # <--


@refused("expected cache to be one of 'ca', 'cg', 'evict_first', 'evict_last', got 'l2'", A=HALF)
def unknown_cache_hint(A):
    hr.grid(1)
    A[0:64, 0:64] = hr.load(A[0:64, 0:64], cache="l2")  # <--


@refused("expected order to be one of 'auto', 'cooperative', 'pingpong', got 'ping-pong'", A=HALF)
def unknown_order(A):
    hr.grid(1)
    for k in hr.pipelined(0, A.shape[1], 64, order="ping-pong"):  # <--
        A[0:64, k : k + 64] = A[0:64, k : k + 64] * 2


@refused("expected order = cooperative or auto: that groups take turns (pingpong) is not there yet", A=HALF)
def groups_that_take_turns(A):
    hr.grid(1)
    for k in hr.pipelined(0, A.shape[1], 64, order="pingpong"):  # <--
        A[0:64, k : k + 64] = A[0:64, k : k + 64] * 2


@refused("expected trips to be 1 to 2147483647, got 18446744073709551616", X=VECTOR)
def more_trips_than_tiles(X):
    for i in hr.persistent(hr.cdiv(X.shape[0], 64), trips=2**64):  # <--
        X[i * 64 : i * 64 + 64] = X[i * 64 : i * 64 + 64] * 2


@refused("expected trips to be 1 to 2147483647, got 0", X=VECTOR)
def programs_without_trips(X):
    for i in hr.persistent(hr.cdiv(X.shape[0], 64), trips=0):  # <--
        X[i * 64 : i * 64 + 64] = X[i * 64 : i * 64 + 64] * 2


@refused("expected warps of 1 to 32, or the name of a constexpr parameter, got 64", knobs={"warps": 64}, X=VECTOR)
def too_many_warps(X):  # <--
    hr.grid(1)
    X[0:64] = X[0:64] * 2
