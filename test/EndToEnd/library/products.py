"""Calls of the kernels around one matrix product: epilogues, batches, groups, split and streamed K."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator

import numpy as np

from library.arrays import holding, normal, surrounded
from library.case import Call, Variant
from library.running_error import Real, dot, real

#: M, N, K: several tiles and trips first, then one element, no trips, fewer trips than stages, ragged edges.
SHAPES = ((129, 200, 200), (1, 1, 8), (65, 72, 0), (63, 130, 64), (200, 17, 40))
#: The smallest tiles with which tcgen05 is used, so that several fit in a short simulation.
SMALL = {"BM": 128, "BN": 64, "BK": 32, "STAGES": 3}

Calls = Callable[[np.random.Generator], Iterator[Call]]


def _operands(rng: np.random.Generator, dtype: str, m: int, n: int, k: int):
    """A [m, k] and B [n, k]."""
    return normal(rng, dtype, (m, k)), normal(rng, dtype, (n, k))


def gelu(x: Real) -> Real:
    """The tanh form."""
    return (x * 0.5) * (((x * x * 0.044715 + 1) * x * 0.7978845608).tanh() + 1)


def silu(x: Real) -> Real:
    return x / ((-x).exp() + 1)


def relu(x: Real) -> Real:
    return x.maximum(0)


_ACTIVATIONS = {"relu": relu, "gelu": gelu, "silu": silu}


def _bias_calls(dtype: str, activation: Callable[[Real], Real]) -> Calls:
    def calls(rng):
        for m, n, k in SHAPES:
            a, b = _operands(rng, dtype, m, n, k)
            bias = normal(rng, "f32", (n,))
            exact = activation(dot(a.view, b.view.T, dtype) + bias.view)
            yield Call(f"{m}x{n}x{k}", [a, b, bias, surrounded(dtype, (m, n))], {3: exact})

    return calls


def _residual_calls(rng):
    for m, n, k in SHAPES:
        a, b = _operands(rng, "bf16", m, n, k)
        residual = normal(rng, "bf16", (m, n), 3)
        exact = dot(a.view, b.view.T, "bf16") + residual.view
        yield Call(f"{m}x{n}x{k}", [a, b, residual, surrounded("bf16", (m, n))], {3: exact})


def _swiglu_calls(rng):
    for m, n, k in SHAPES:
        a, gate = _operands(rng, "bf16", m, n, k)
        up = normal(rng, "bf16", (n, k))
        exact = silu(dot(a.view, gate.view.T, "bf16")) * dot(a.view, up.view.T, "bf16")
        yield Call(f"{m}x{n}x{k}", [a, gate, up, surrounded("bf16", (m, n))], {3: exact})


def _alpha_beta_calls(rng):
    for (m, n, k), alpha, beta in zip(SHAPES, (0.75, -2.0, 1.0, 0.5, 1.5), (0.0, 0.5, 0.0, -1.25, 1.0), strict=True):
        a, b = normal(rng, "bf16", (m, k)), normal(rng, "bf16", (k, n))
        c = normal(rng, "bf16", (m, n))
        if beta == 0:
            c.view[:] = np.nan
        exact = dot(a.view, b.view, "bf16") * alpha
        if beta != 0:
            exact = exact + real(c.view) * beta
        yield Call(f"{m}x{n}x{k}, alpha {alpha}, beta {beta}", [a, b, c, alpha, beta], {2: exact})


def _batched_calls(rng):
    for batch, (m, n, k) in zip((3, 5, 2, 0, 2), SHAPES, strict=True):
        a, b = normal(rng, "bf16", (batch, m, k)), normal(rng, "bf16", (batch, n, k))
        exact = dot(a.view, np.swapaxes(b.view, 1, 2), "bf16")
        yield Call(f"{batch} of {m}x{n}x{k}", [a, b, surrounded("bf16", (batch, m, n))], {2: exact})


def _grouped_calls(rng):
    for counts, n, k in (
        ((70, 0, 1, 129), 130, 72),
        ((0, 0, 64), 40, 40),
        ((64, 128), 64, 64),
        ((3,), 8, 8),
        ((0, 0), 16, 16),
        ((5, 0, 65, 0), 72, 0),
    ):
        total = sum(counts)
        offsets = np.concatenate([[0], np.cumsum(counts)])
        a, b = normal(rng, "bf16", (total, k)), normal(rng, "bf16", (len(counts), n, k))
        exact = real(np.zeros((total, n)))
        for group, (begin, end) in enumerate(itertools.pairwise(offsets)):
            part = dot(a.view[begin:end], b.view[group].T, "bf16")
            exact.value[begin:end], exact.error[begin:end] = part.value, part.error
        args = [a, b, holding("i32", offsets), surrounded("bf16", (total, n))]
        yield Call(f"groups of {counts} rows, {n}x{k}", args, {3: exact})


def _partial_sums(rng, m: int, n: int, k: int, parts: int):
    """A, B, C of zeros, and what C must hold after `parts` additions to each element."""
    a, b = _operands(rng, "bf16", m, n, k)
    exact = dot(a.view, b.view.T, "bf16")
    scale = np.sqrt(a.view.astype(np.float64) ** 2 @ b.view.astype(np.float64).T ** 2)
    exact = Real(exact.value, exact.error + parts * 2.0**-24 * 6 * scale)
    return a, b, holding("f32", np.zeros((m, n))), exact


def _split_k_calls(rng):
    for (m, n, k), splits in (((70, 72, 300), 4), ((65, 130, 64), 1), ((8, 8, 100), 7), ((33, 24, 0), 3)):
        a, b, c, exact = _partial_sums(rng, m, n, k, splits)
        yield Call(f"{m}x{n}x{k}, {splits} parts", [a, b, c, splits], {2: exact}, ordered=False)


def _stream_k_calls(rng):
    for m, n, k in ((130, 100, 296), (64, 64, 64), (8, 200, 800), (33, 24, 0)):
        a, b, c, exact = _partial_sums(rng, m, n, k, -(-k // SMALL["BK"]))
        yield Call(f"{m}x{n}x{k}", [a, b, c], {2: exact}, ordered=False)


def variants() -> Iterator[Variant]:
    for number, (name, activation) in enumerate(_ACTIVATIONS.items()):
        yield Variant("gemm_bias_activation", _bias_calls("bf16", activation), {"ACT": number, **SMALL}, name)
    yield Variant("gemm_bias_activation", _bias_calls("f16", gelu), {"ACT": 1, "T": "f16"}, "large", in_quick=False)
    for source, calls in (
        ("gemm_residual", _residual_calls),
        ("gemm_swiglu", _swiglu_calls),
        ("gemm_alpha_beta", _alpha_beta_calls),
        ("gemm_batched", _batched_calls),
        ("gemm_grouped", _grouped_calls),
        ("gemm_split_k", _split_k_calls),
        ("gemm_stream_k", _stream_k_calls),
    ):
        yield Variant(source, calls, SMALL)
        yield Variant(source, calls, {}, "large", in_quick=False)
