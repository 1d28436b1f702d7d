"""Kernels for test_interpret_mode.py. `shape` and `dtype` are those of the array that each writes."""

# ruff: noqa: N803, SIM108, SIM201

from __future__ import annotations

import numpy as np

import headrace as hr


def writes(dtype, shape=lambda rows: (rows,)):
    """Says what the kernel's function writes."""

    def note(function):
        function.dtype, function.shape = dtype, shape
        return function

    return note


@hr.kernel
@writes(np.float32, lambda rows: (rows, rows))
def products(A, B, C, BM: hr.constexpr = 16, BK: hr.constexpr = 32):
    m, n = hr.grid(hr.cdiv(C.shape[0], BM), hr.cdiv(C.shape[1], BM))
    acc = hr.zeros((BM, BM))
    for k in hr.pipelined(0, A.shape[1], BK):
        acc += A[m * BM : m * BM + BM, k : k + BK] @ B[n * BM : n * BM + BM, k : k + BK].T
    C[m * BM : m * BM + BM, n * BM : n * BM + BM] = acc


@hr.inline
def mixed(x, y):
    if hr.max(x) > 0:
        return x // (y | 1) + x % (y | 1)
    return x - y


@hr.kernel
@writes(np.int32)
def integers(X, Y, Z, B: hr.constexpr = 32):
    i = hr.grid(hr.cdiv(Z.shape[0], B)) * B
    x, y = X[i : i + B], Y[i : i + B]
    half = (x.to(hr.i16) * 3).to(hr.i32) ^ (y >> 3)
    Z[i : i + B] = mixed(x, y) * 7 + half - (x.to(hr.f32) * 0.5).to(hr.i32) + X[i] * X[i + 1]


@hr.kernel
@writes(np.int32)
def carried_numbers(X, n: int, Z):
    """Numbers that a loop makes into run-time ones: they wrap, and are divided, as such."""
    hr.grid(1)
    seed, half, last = 12345, 1.0, 0
    for i in range(n):
        seed = seed * 1664525 + 1013904223
        half = half * 0.1
        last = i if X[i] > 0 else 77
    k = 3
    while not k == 20:
        k = k + 1 if k < 10 else 20
    flag = not (X[0] > X[1])
    Z[0] = seed
    Z[1] = hr.bitcast(half, hr.i32)
    Z[2] = last.to(hr.i32)
    Z[3] = k.to(hr.i32)
    Z[4] = flag.to(hr.i32)
    Z[5] = min(X[2], X[3], 7) + max(n, 3)
    Z[6] = int(X[4].to(hr.f32) * 0.25)
    Z[7] = hr.f32(n).to(hr.i32) + hr.i32(1 <= X[5] < 40)


@hr.inline
def sign(x):
    if x > 0:
        return 1
    if x < 0:
        return -1
    return 0


@hr.kernel
@writes(np.int32)
def choose_numbers(X, Z):
    hr.grid(1)
    for i in range(X.shape[0]):
        if X[i] > 10:
            y = 1.0
        else:
            y = 0.3
        Z[i] = (y * 1000.0).to(hr.i32) + sign(X[i]).to(hr.i32) * (5 if X[i] > 0 else 6).to(hr.i32)


@hr.kernel
@writes(np.float32)
def options_of_loads(X, Z, B: hr.constexpr = 16):
    m = hr.grid(hr.cdiv(Z.shape[0], B)) * B
    x = hr.load(X[m : m + B, 0:32], fill=float("-inf"), cache="evict_first")
    low = hr.load(X[m + hr.arange(B), 0:32], fill=100.0)
    hr.store(Z[m : m + B], x.max(1) + low.min(axis=1) * 2.0)


@hr.kernel
@writes(np.float32)
def strange_lambdas(X, Z):
    hr.grid(1)
    scale = 2.0
    x = X[0:16, 0:32]
    larger, smaller = hr.reduce(x, 1, lambda a, b: a if a > b else b), hr.reduce(x, 1, lambda a, b: hr.minimum(a, b))

    @hr.inline
    def both(a, p, b, q):
        return a + b, hr.maximum(p, q)

    @hr.inline
    def scaled(y):
        return y * scale

    total, place = hr.reduce((x, hr.iota((16, 32), 1)), 1, both)
    running = hr.scan(x, 1, lambda a, b: a + b, reverse=True).sum(1)
    Z[0:16] = scaled(larger) - smaller + total + place.to(hr.f32) + running + hr.argmax(x, 1).to(hr.f32)


@hr.kernel
@writes(np.int32)
def add_places(X, Z, B: hr.constexpr = 16):
    i = hr.grid(hr.cdiv(X.shape[0], B)) * B
    hr.atomic_add(Z[hr.where(i + hr.arange(B) < X.shape[0], X[i : i + B], -1)], hr.full((B,), 1, hr.i32))
    hr.atomic_max(Z[8:9], hr.max(X[i : i + B]))


@hr.kernel
@writes(np.float32, lambda rows: (rows, rows))
def share_out(X, Z, B: hr.constexpr = 16):
    for m, n in hr.persistent(hr.cdiv(Z.shape[0], B), hr.cdiv(Z.shape[1], B), group=2):
        Z[m * B : m * B + B, n * B : n * B + B] = X[m * B : m * B + B, n * B : n * B + B] * 3.0


@hr.kernel
def debugged(X, bad: int, stop: hr.constexpr = False):
    import sys  # what looks is left to Python

    i = hr.grid(hr.cdiv(X.shape[0], 4)) * 4
    x = X[i : i + 4]
    if i == bad:
        if stop:
            breakpoint()  # stops
        else:
            raise ZeroDivisionError(f"at {i}")  # raised
    assert hr.max(x) < 999.0, "too large"
    print(f"{i} of {X.shape[0]} {x.min():.1f}", x, sep="\n")
    sys.stdout.flush()
    X[i : i + 4] = x + 1.0


@hr.kernel
def count_programs(Z):
    i = hr.grid(Z.shape[0])
    Z[i] = i * 10 + hr.num_programs(0)


@hr.kernel
def plain_grid(Z):
    x, y, z = hr.program_id(0), hr.program_id(1), hr.program_id(2)
    place = x + hr.num_programs(0) * (y + hr.num_programs(1) * z)
    Z[place] = x * 100 + y * 10 + z


@hr.kernel
def nothing_to_do(X, Z):
    i = hr.grid(X.shape[0])
    Z[i] = X[i]


@hr.autotune(hr.search_space(B=[8, 16]))
@hr.kernel
def tuned(Z, B: hr.constexpr):
    i = hr.grid(hr.cdiv(Z.shape[0], B)) * B
    Z[i : i + B] = hr.full((B,), B, hr.i32)


@hr.kernel
def doubled(X, Z, B: hr.constexpr = 64):
    i = hr.grid(hr.cdiv(Z.shape[0], B)) * B
    Z[i : i + B] = X[i : i + B] * 2.0
