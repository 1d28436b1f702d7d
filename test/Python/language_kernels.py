"""One kernel for each construct of the kernel language, with what to pass and what numpy computes.

`CASES` is read by test_language_emission.py, which asks headrace-opt to verify each, and by
test_language_semantics.py, which runs each on the simulator.
"""

# ruff: noqa: N803, N806, E741, SIM108, SIM201

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import headrace as hr

N = 96
SCALE = 0.5
SIZES = (3, 5, 7)


@dataclass(frozen=True)
class Case:
    """`make` gives the arguments, arrays last written included; `expected` gives each written array by its name."""

    kernel: Any
    make: Callable[[np.random.Generator], dict[str, Any]]
    expected: Callable[..., dict[str, np.ndarray]]
    tolerance: float = 0.0


CASES: dict[str, Case] = {}


def case(make, expected, tolerance=0.0):
    def register(kernel):
        CASES[kernel.__name__] = Case(kernel, make, expected, tolerance)
        return kernel

    return register


def floats(*shape, dtype=np.float32):
    return lambda rng: rng.standard_normal(shape).astype(dtype)


def ints(*shape, low=-50, high=50, dtype=np.int32):
    return lambda rng: rng.integers(low, high, shape).astype(dtype)


def given(**makers):
    return lambda rng: {name: make(rng) if callable(make) else make for name, make in makers.items()}


def empty(*shape, dtype=np.float32):
    return lambda rng: np.full(shape, 77, dtype)


# ---- arithmetic


@case(
    given(X=floats(N), Y=floats(N), Z=empty(N)),
    lambda X, Y, **_: {"Z": (X + Y) * 2 - X / (np.abs(Y) + 1) + SCALE},
    1e-6,
)
@hr.kernel
def float_arithmetic(X, Y, Z):
    x, y = X[0:N], Y[0:N]
    hr.grid(1)
    Z[0:N] = (x + y) * 2 - x / (hr.abs(y) + 1) + SCALE


@case(
    given(X=ints(N), Y=ints(N, low=1), Z=empty(N, dtype=np.int32)),
    lambda X, Y, **_: {"Z": X // Y * 7 + X % Y - (X // -3) + X % -3 + (X & Y | 5 ^ X) + (X << 2) + (X >> 1)},
)
@hr.kernel
def int_arithmetic(X, Y, Z):
    hr.grid(1)
    x, y = X[0:N], Y[0:N]
    Z[0:N] = x // y * 7 + x % y - (x // -3) + x % -3 + (x & y | 5 ^ x) + (x << 2) + (x >> 1)


@case(
    given(X=floats(N), Y=floats(N), Z=empty(N, dtype=np.int32)),
    lambda X, Y, **_: {"Z": ((X < Y) | (X > 1) & ~(Y == X)).astype(np.int32)},
)
@hr.kernel
def comparisons(X, Y, Z):
    hr.grid(1)
    x, y = X[0:N], Y[0:N]
    Z[0:N] = ((x < y) | (x > 1) & ~(y == x)).to(hr.i32)


@case(given(X=floats(N), Z=empty(N)), lambda X, **_: {"Z": np.where(X > 0, X, -X) ** 3 + np.minimum(X, 0.5)}, 1e-5)
@hr.kernel
def where_and_power(X, Z):
    hr.grid(1)
    x = X[0:N]
    Z[0:N] = hr.where(x > 0, x, -x) ** 3 + hr.minimum(x, 0.5)


@case(
    given(X=floats(N), Z=empty(N)),
    lambda X, **_: {
        "Z": np.exp(X) + np.log(np.abs(X) + 1) + np.sqrt(np.abs(X)) + np.tanh(X) + np.floor(X) + np.rint(X)
    },
    1e-4,
)
@hr.kernel
def math_functions(X, Z):
    hr.grid(1)
    x = X[0:N]
    Z[0:N] = hr.exp(x) + hr.log(abs(x) + 1) + abs(x) ** 0.5 + hr.tanh(x) + hr.floor(x) + hr.round(x)


@case(
    given(X=floats(N), Z=empty(N, dtype=np.int32), W=empty(N, dtype=np.float16)),
    lambda X, **_: {"Z": (X * 10).astype(np.int32), "W": X.astype(np.float16)},
)
@hr.kernel
def casts(X, Z, W):
    hr.grid(1)
    x = X[0:N]
    Z[0:N] = (x * 10).to(hr.i32)
    W[0:N] = x.to(W.dtype)


@case(given(X=floats(N), Z=empty(N, dtype=np.int32)), lambda X, **_: {"Z": X.view(np.int32)})
@hr.kernel
def bit_casts(X, Z):
    hr.grid(1)
    Z[0:N] = hr.bitcast(X[0:N], hr.i32)


# ---- shapes


@case(
    given(X=floats(32), Y=floats(64), Z=empty(32, 64)),
    lambda X, Y, **_: {"Z": X[:, None] * 2 + Y[None, :]},
    1e-6,
)
@hr.kernel
def broadcasting(X, Y, Z):
    hr.grid(1)
    Z[0:32, 0:64] = X[0:32][:, None] * 2 + Y[0:64][None, :]


@case(given(X=floats(32, 48), Z=empty(48, 32)), lambda X, **_: {"Z": X.T + 1})
@hr.kernel
def transposes(X, Z):
    hr.grid(1)
    Z[0:48, 0:32] = X[0:32, 0:48].T + 1


@case(given(X=floats(16, 32), Z=empty(512)), lambda X, **_: {"Z": X.reshape(-1)})
@hr.kernel
def reshapes(X, Z):
    hr.grid(1)
    Z[0:512] = X[0:16, 0:32].reshape(-1)


@case(
    given(X=floats(16, 32), Z=empty(16, 32)),
    lambda X, **_: {"Z": np.stack([X[:, 1::2], X[:, 0::2] * 2], axis=2).reshape(16, 32)},
)
@hr.kernel
def splits_and_joins(X, Z):
    hr.grid(1)
    even, odd = hr.split(X[0:16, 0:32].reshape(16, 16, 2))
    Z[0:16, 0:32] = hr.join(odd, even * 2).reshape(16, 32)


@case(
    given(X=floats(64), Z=empty(64, 2)),
    lambda X, **_: {"Z": np.stack([X, np.ones_like(X)], axis=1)},
)
@hr.kernel
def joins_with_a_number(X, Z):
    hr.grid(1)
    Z[0:64, 0:2] = hr.join(X[0:64], 1.0)


@case(given(Z=empty(64, dtype=np.int32)), lambda **_: {"Z": np.arange(64, dtype=np.int32) * 3 + 5})
@hr.kernel
def ranges(Z):
    hr.grid(1)
    Z[0:64] = hr.arange(64) * 3 + 5


@case(
    given(Z=empty(32, 32)),
    lambda **_: {"Z": np.where(np.arange(32)[:, None] >= np.arange(32)[None, :], 1.0, -1.0).astype(np.float32)},
)
@hr.kernel
def causal_mask(Z):
    hr.grid(1)
    i = hr.arange(32)
    Z[0:32, 0:32] = hr.where(i[:, None] >= i[None, :], hr.full((32, 32), 1.0), -1.0)


# ---- access


@case(given(X=floats(40, 50), Z=empty(40, 50)), lambda X, **_: {"Z": X * 2})
@hr.kernel
def tiles_over_the_edge(X, Z, BM: hr.constexpr = 32, BN: hr.constexpr = 32):
    i, j = hr.grid(hr.cdiv(Z.shape[0], BM), hr.cdiv(Z.shape[1], BN))
    rows, columns = i * BM, j * BN
    Z[rows : (i + 1) * BM, columns : BN + columns] = X[rows : rows + BM, columns : columns + BN] * 2


@case(given(X=floats(20), Z=empty(32)), lambda X, **_: {"Z": np.concatenate([X, np.full(12, -1, np.float32)])})
@hr.kernel
def fills(X, Z):
    hr.grid(1)
    Z[0:32] = hr.load(X[0:32], fill=-1.0, cache="cg")


@case(given(X=floats(4, 32), Z=empty(4, 32)), lambda X, **_: {"Z": X + 1})
@hr.kernel
def single_rows(X, Z):
    row = hr.grid(Z.shape[0])
    Z[row, 0:32] = X[row, 0:32] + 1


@case(given(X=floats(32, 4), Z=empty(32, 4)), lambda X, **_: {"Z": X + 1})
@hr.kernel
def single_columns(X, Z):
    column = hr.grid(Z.shape[1])
    Z[0:32, column] = X[0:32, column] + 1


@case(
    given(X=floats(8), I=ints(8, low=0, high=8), Z=empty(8)),
    lambda X, I, **_: {"Z": (X[I] * 2).astype(np.float32)},
)
@hr.kernel
def single_elements(X, I, Z):
    i = hr.grid(8)
    Z[i] = X[I[i]] * 2


@case(given(X=floats(64, 32), I=ints(16, low=0, high=64), Z=empty(16, 32)), lambda X, I, **_: {"Z": X[I]})
@hr.kernel
def gathers(X, I, Z):
    hr.grid(1)
    Z[0:16, 0:32] = X[I[0:16], 0:32]


@case(given(X=floats(16, 32), Z=empty(16, 32)), lambda X, Z: {"Z": X[::-1]})
@hr.kernel
def scatters(X, Z):
    hr.grid(1)
    Z[15 - hr.arange(16), 0:32] = X[0:16, 0:32]


@case(
    given(X=floats(32, 32), Z=empty(32)),
    lambda X, **_: {"Z": X[np.arange(32), 31 - np.arange(32)]},
)
@hr.kernel
def gathers_elements(X, Z):
    hr.grid(1)
    i = hr.arange(32)
    Z[0:32] = X[i, 31 - i]


@case(
    given(X=floats(64, 32), Z=lambda rng: np.zeros(32, np.float32)),
    lambda X, **_: {"Z": X.sum(0)},
    1e-5,
)
@hr.kernel
def atomic_sums(X, Z):
    row = hr.grid(64)
    hr.atomic_add(Z[0:32], X[row, 0:32])


@case(
    given(I=ints(128, low=0, high=8), Z=lambda rng: np.zeros(8, np.int32)),
    lambda I, **_: {"Z": np.bincount(I, minlength=8).astype(np.int32)},
)
@hr.kernel
def histogram(I, Z):
    hr.grid(1)
    hr.atomic_add(Z[I[0:128]], 1)


@case(given(Z=lambda rng: np.zeros(2, np.float32)), lambda **_: {"Z": np.array([6, 0], np.float32)})
@hr.kernel
def atomic_element(Z):
    i = hr.grid(4)
    hr.atomic_add(Z[0], i.to(hr.f32))


@case(given(X=floats(2, 16, 32), Z=empty(2, 16, 32)), lambda X, **_: {"Z": X * 3})
@hr.kernel
def rank_three(X, Z):
    b = hr.grid(Z.shape[0])
    Z[b, 0:16, 0:32] = X[b, 0:16, 0:32] * 3


# ---- control flow


@case(given(X=floats(N), n=5, Z=empty(N)), lambda X, n, **_: {"Z": X * n}, 1e-5)
@hr.kernel
def counted_loop(X, n, Z):
    hr.grid(1)
    total = 0.0
    for _ in range(n):
        total += X[0:N]
    Z[0:N] = total


@case(given(X=floats(N), n=0, Z=empty(N)), lambda X, **_: {"Z": X * 0 + 2})
@hr.kernel
def loop_of_no_trips(X, n, Z):
    hr.grid(1)
    x = hr.full((N,), 2.0)
    for i in range(n):
        x = X[i : i + N]
    Z[0:N] = x


@case(given(Z=empty(4, dtype=np.int32)), lambda **_: {"Z": np.array([7, 16, 10, 4], np.int32)})
@hr.kernel
def while_loop(Z):
    hr.grid(1)
    n, steps, high = hr.program_id(0) + 7, 0, 0
    while n != 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        if steps == 4:
            high = n
        steps += 1
    Z[0] = (n + 6).to(hr.i32)
    Z[1] = steps.to(hr.i32)
    Z[2] = 10
    Z[3] = 4 if high > 0 else 5


@case(
    given(X=ints(8, low=1, high=300), Z=empty(8, dtype=np.int32), W=empty(8, dtype=np.int32)),
    lambda X, **_: {"Z": np.floor(np.log2(X)) + 1, "W": np.floor(np.log2(X)) + 5},
)
@hr.kernel
def body_before_test(X, Z, W):
    """The condition is known to hold at first: the first trip needs no test."""
    i = hr.grid(8)
    n = X[i]
    length, going = 0, True
    while going:
        n = n >> 1
        length, going = length + 1, n > 0
    Z[i] = length.to(hr.i32) if n == 0 else -1
    steps = 0
    while steps < 4:  # known at first too, though only a trip makes it a run-time number
        length, steps = length + 1, steps + 1
    none = 0
    while none > 0:  # known not to: there is no trip
        none, length = n, n
    W[i] = length.to(hr.i32) + none


@case(given(X=ints(8, low=0, high=3), Z=empty(8, dtype=np.int32)), lambda X, **_: {"Z": X * 10 + 1})
@hr.kernel
def body_after_test(X, Z):
    """The condition may not hold at first: there may be no trip."""
    i = hr.grid(8)
    left, total = X[i], 1
    while left > 0:
        left, total = left - 1, total + 10
    Z[i] = total


@case(
    given(X=floats(4, 32), Z=empty(4, 32)),
    lambda X, **_: {"Z": np.stack([X[0] * 2, X[1] + 10, X[2] + 10, -X[3]])},
)
@hr.kernel
def branches(X, Z):
    i = hr.grid(4)
    x = X[i, 0:32]
    if i == 0:
        y = x * 2
    elif 1 <= i < 3:
        y = x + 10
    else:
        y = -x
    Z[i, 0:32] = y


@case(given(X=floats(4, 32), Z=empty(4, 32)), lambda X, Z: {"Z": np.stack([X[0], Z[1], X[2], Z[3]])})
@hr.kernel
def early_return(X, Z):
    i = hr.grid(4)
    if i % 2 == 1:
        return
    Z[i, 0:32] = X[i, 0:32]


@case(
    given(X=floats(4, 32), Z=empty(4, 32)),
    lambda X, **_: {"Z": np.stack([X[0] + 1, X[1] + 2, X[2] + 1, X[3] + 2])},
)
@hr.kernel
def conditional_expression(X, Z):
    i = hr.grid(4)
    Z[i, 0:32] = X[i, 0:32] + (1.0 if i == 0 or (i > 1 and not i == 3) else 2.0)


@hr.inline
def clamp(x, low, high=1.0):
    return hr.minimum(hr.maximum(x, low), high)


@hr.inline
def sign(i):
    if i == 0:
        return 0
    if i % 2 == 0:
        return 1
    return -1


@case(
    given(X=floats(4, 32), Z=empty(4, 32)),
    lambda X, **_: {"Z": np.clip(X, -1, 1) * np.array([0, -1, 1, -1], np.float32)[:, None]},
)
@hr.kernel
def inlined_functions(X, Z):
    i = hr.grid(4)

    @hr.inline
    def apply(function, x, *, factor):
        return function(x, low=-1.0) * factor

    Z[i, 0:32] = apply(clamp, X[i, 0:32], factor=sign(i))


@case(given(X=floats(32), Z=empty(32)), lambda X, **_: {"Z": X * sum(SIZES) + math.pi + len(SIZES)}, 1e-5)
@hr.kernel
def constants(X, Z, DEEP: hr.constexpr = True):
    hr.grid(1)
    sizes = SIZES if DEEP else (1, 2)
    total = X[0:32] * 0
    for position, size in enumerate(sizes):
        if position >= 0 and size in (3, 5, 7):
            total += X[0:32] * size
    for _ in hr.unroll(len(SIZES)):
        total = total + 1
    assert DEEP is not None, "never"
    Z[0:32] = total + math.pi


@case(given(X=floats(32), B=None, S=0.5, Z=empty(32)), lambda X, **_: {"Z": X * 0.5})
@hr.kernel
def array_left_out(X, B, S, Z):
    """What is None is a constant: no branch is left."""
    hr.grid(1)
    x = X[0:32]
    if B is not None:
        x = x + B[0:32]
    Z[0:32] = x if S is None else x * S


@case(given(X=floats(5, 32), Z=empty(5, 32)), lambda X, **_: {"Z": X + 1})
@hr.kernel
def persistent_rows(X, Z):
    for row in hr.persistent(Z.shape[0]):
        Z[row, 0:32] = X[row, 0:32] + 1


# ---- products


@case(
    given(A=floats(100, 72, dtype=np.float16), B=floats(90, 72, dtype=np.float16), C=empty(100, 90)),
    lambda A, B, **_: {"C": A.astype(np.float32) @ B.T.astype(np.float32)},
    2e-4,
)
@hr.kernel
def product(A, B, C, BM: hr.constexpr = 64, BN: hr.constexpr = 64, BK: hr.constexpr = 32):
    M, N = C.shape
    for row, column in hr.persistent(hr.cdiv(M, BM), hr.cdiv(N, BN), group=4):
        m, n = row * BM, column * BN
        acc = hr.zeros((BM, BN))
        for k in hr.pipelined(0, A.shape[1], BK, stages=3):
            acc = hr.dot(A[m : m + BM, k : k + BK], B[n : n + BN, k : k + BK].T, acc)
        C[m : m + BM, n : n + BN] = acc


@case(
    given(A=floats(72, 64, dtype=np.float16), B=floats(72, 96, dtype=np.float16), C=empty(64, 96, dtype=np.float16)),
    lambda A, B, **_: {"C": np.maximum(A.T.astype(np.float32) @ B.astype(np.float32), 0).astype(np.float16)},
    2e-2,
)
@hr.kernel
def product_of_transposed(A, B, C, BM: hr.constexpr = 64, BN: hr.constexpr = 32, BK: hr.constexpr = 32):
    i, j = hr.grid(hr.cdiv(C.shape[0], BM), hr.cdiv(C.shape[1], BN))
    acc = 0.0
    for k in hr.pipelined(0, A.shape[0], BK):
        a = A[k : k + BK, i * BM : i * BM + BM].T
        acc += a @ B[k : k + BK, j * BN : j * BN + BN]
    C[i * BM : i * BM + BM, j * BN : j * BN + BN] = hr.maximum(acc, 0.0).to(C.dtype)


# ---- reductions


@case(
    given(X=floats(32, 64), Z=empty(32), W=empty(32)),
    lambda X, **_: {"Z": X.sum(1), "W": X.max(1)},
    1e-4,
)
@hr.kernel
def reductions(X, Z, W):
    hr.grid(1)
    x = X[0:32, 0:64]
    Z[0:32] = hr.sum(x, axis=1)
    W[0:32] = x.max(axis=-1)


@case(given(X=floats(32, 64), Z=empty(1)), lambda X, **_: {"Z": np.array([X.min()])})
@hr.kernel
def reduction_to_a_scalar(X, Z):
    hr.grid(1)
    Z[0] = X[0:32, 0:64].min()


@case(
    given(X=floats(32, 64), Z=empty(32, dtype=np.int32)),
    lambda X, **_: {"Z": X.argmax(1).astype(np.int32)},
)
@hr.kernel
def places_of_maxima(X, Z):
    hr.grid(1)
    Z[0:32] = hr.argmax(X[0:32, 0:64], axis=1)


@hr.inline
def welford(mean_a, n_a, mean_b, n_b):
    n = n_a + n_b
    return mean_a + (mean_b - mean_a) * n_b / n, n


@case(given(X=floats(32, 64), Z=empty(32)), lambda X, **_: {"Z": X.mean(1)}, 1e-5)
@hr.kernel
def reduction_by_function(X, Z):
    hr.grid(1)
    mean, _ = hr.reduce((X[0:32, 0:64], hr.full((32, 64), 1.0)), 1, welford)
    Z[0:32] = mean


@case(
    given(X=ints(64), Z=empty(64, dtype=np.int32), W=empty(64, dtype=np.int32)),
    lambda X, **_: {
        "Z": X.cumsum().astype(np.int32),
        "W": np.maximum.accumulate(X[::-1])[::-1],
    },
)
@hr.kernel
def scans(X, Z, W):
    hr.grid(1)
    x = X[0:64]
    Z[0:64] = hr.cumsum(x)
    W[0:64] = hr.scan(x, 0, lambda a, b: hr.maximum(a, b), reverse=True)


@case(
    given(X=floats(20, 50), Z=empty(20, 50)),
    lambda X, **_: {
        "Z": np.exp(X - X.max(1, keepdims=True)) / np.exp(X - X.max(1, keepdims=True)).sum(1, keepdims=True)
    },
    1e-5,
)
@hr.kernel
def softmax(X, Z, BM: hr.constexpr = 16, BN: hr.constexpr = 64):
    m = hr.grid(hr.cdiv(X.shape[0], BM)) * BM
    x = hr.load(X[m : m + BM, 0:BN], fill=float("-inf"))
    p = hr.exp(x - x.max(axis=1, keepdims=True))
    Z[m : m + BM, 0:BN] = p / hr.sum(p, axis=1, keepdims=True)
