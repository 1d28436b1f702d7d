"""Attention, forward: two products in one loop, with an online softmax between them."""

# ruff: noqa: N803

from __future__ import annotations

from typing import Any

import headrace as hr
from headrace.kernels import tiles
from headrace.kernels.places import dtype_of, expect, place_of, result

#: exp(x) is exp2(x * LOG2E), which is one instruction.
LOG2E = 1.44269504


@hr.kernel(warps="WARPS")
def attention_kernel(
    Q, K, V, O, scale,  # noqa: E741
    D: hr.constexpr, BM: hr.constexpr = 128, BN: hr.constexpr = 64, CAUSAL: hr.constexpr = False,
    STAGES: hr.constexpr = 2, WARPS: hr.constexpr = 8, SPECIALIZE: hr.constexpr = "auto",
):  # fmt: skip
    batch, heads, queries, _ = Q.shape
    _, groups, keys, _ = K.shape
    blocks = hr.cdiv(queries, BM)
    program, _ = hr.grid(blocks, batch * heads)
    # The last block of queries first: if causal, it has the most keys.
    m = max(blocks - program - 1, 0) * BM
    which = hr.program_id(1)
    b, h = which // heads, which % heads
    g = h // (heads // groups)
    # Query i sees keys below i + shift; of this block the first query sees the fewest.
    lag = keys - queries
    fewest = m + (lag + 1)
    end = min(m + lag + BM, keys) if CAUSAL else keys
    seen_by_all = min(fewest, keys) if CAUSAL else keys
    scale2 = scale * LOG2E
    largest, total, acc = hr.full((BM,), float("-inf")), hr.zeros((BM,)), hr.zeros((BM, D))
    q = Q[b, h, m : m + BM, 0:D]
    row_ends = hr.minimum(hr.arange(BM) + fewest, keys) if CAUSAL else hr.full((BM,), keys, hr.i32)
    for n in hr.pipelined(0, end, BN, stages=STAGES, specialize=SPECIALIZE):
        k, v = K[b, g, n : n + BN, 0:D], V[b, g, n : n + BN, 0:D]
        s = q @ k.T
        # Only the last blocks of keys need a mask.
        if n + BN > seen_by_all:
            s = hr.where(hr.iota((BM, BN), 1) + n < row_ends[:, None], s, float("-inf"))
        top = hr.maximum(largest, s.max(axis=1))
        # A row that has seen no key yet has no maximum; anything finite keeps its exponentials zero.
        base = hr.where(top == float("-inf"), 0.0, top)
        decay = hr.exp2((largest - base) * scale2)
        offset = base * scale2
        p = hr.exp2(s * scale2 - offset[:, None])
        own = p.sum(axis=1)
        total = total * decay + own
        faded = acc * decay[:, None]
        acc = hr.dot(p.to(V.dtype), v, faded)
        largest = top
    inverse = 1.0 / hr.where(total == 0, 1.0, total)
    O[b, h, m : m + BM, 0:D] = (acc * inverse[:, None]).to(O.dtype)


def attention(
    q: Any,
    k: Any,
    v: Any,
    *,
    causal: bool = False,
    scale: float | None = None,
    out: Any = None,
    on: str | None = None,
    target: str | None = None,
    **constants: Any,
) -> Any:
    """``softmax(scale q k^T) v`` of each head: `q` and the result [batch, heads, queries, D], f16 or bf16.

    `k` and `v` are [batch, groups, keys, D], where `groups` divides `heads`: consecutive heads share a group's keys and
    values (1: multi-query attention). `scale` is 1 / sqrt(D) by default, and positive. With `causal`, query i sees the
    keys up to i + keys - queries; a query that sees none gives zeros. See `headrace.kernels` for the rest.
    """
    place = place_of(q, on, target)
    batch, heads, queries, d = expect("q", q, None, None, None, None)
    _, groups, keys, _ = expect("k", k, batch, None, None, d)
    expect("v", v, batch, groups, keys, d)
    if groups == 0 or heads % groups:
        raise hr.LaunchError(f"argument 'k': expected a number of heads that divides the {heads} of q, got {groups}")
    out = result(out, q, (batch, heads, queries, d), dtype_of("q", q))
    scale = float(scale if scale is not None else d**-0.5)
    chosen = {"CAUSAL": causal, **tiles.attention(place.target, queries, d), **constants}
    place.run(attention_kernel, q, k, v, out, scale, **chosen)
    return out
