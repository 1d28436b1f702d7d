"""Twins of the library's attention and its linear kinds."""

# ruff: noqa: N803

from __future__ import annotations

from language_twins import PLACES, PLAIN_VECTOR, twin

import headrace as hr
from headrace.kernels.attention import LOG2E, attention_kernel

twin(lambda t: {**dict.fromkeys("QKVO", t[:, :, :, ::1]), "scale": float}, "attention")(attention_kernel)


@twin(
    lambda t: {
        "Q": t[:, :, :, ::1],
        "K": t[:, :, ::1],
        "V": t[:, :, ::1],
        "table": hr.i32[:, ::1].aligned(1),
        "lengths": PLACES,
        "O": t[:, :, :, ::1],
        "scale": float,
    }
)
@hr.kernel(warps="WARPS")
def attention_decode(
    Q, K, V, table, lengths, O, scale,  # noqa: E741
    D: hr.constexpr, PAGE: hr.constexpr, BH: hr.constexpr, STAGES: hr.constexpr, WARPS: hr.constexpr,
    SPECIALIZE: hr.constexpr,
):  # fmt: skip
    g, r = hr.grid(Q.shape[1], Q.shape[0])
    length = lengths[r]
    pages = hr.cdiv(int(length), PAGE)
    at = g * D
    places = hr.iota((BH, PAGE), 1)
    scale2 = scale * LOG2E
    largest, total, acc = hr.full((BH,), float("-inf")), hr.zeros((BH,)), hr.zeros((BH, D))
    q = Q[r, g, 0:BH, 0:D]
    for i in hr.pipelined(pages, stages=STAGES, specialize=SPECIALIZE):
        page = table[r, i]
        k, v = K[page, 0:PAGE, at : at + D], V[page, 0:PAGE, at : at + D]
        s = q @ k.T
        seen = places + i * PAGE < length
        s = hr.where(seen, s * scale2, float("-inf"))
        top = hr.maximum(largest, s.max(axis=1))
        decay = hr.exp2(largest - top)
        p = hr.exp2(s - top[:, None])
        own = p.sum(axis=1)
        total = total * decay + own
        faded = acc * decay[:, None]
        acc = hr.dot(p.to(V.dtype), v, faded)
        largest = top
    inverse = 1.0 / hr.where(total == 0, 1.0, total)
    O[r, g, 0:BH, 0:D] = (acc * inverse[:, None]).to(O.dtype)


@twin(lambda t: {**dict.fromkeys("QKV", t[:, :, ::1]), "decay": PLAIN_VECTOR, "O": t[:, :, ::1]})
@hr.kernel(warps="WARPS")
def linear_attention(
    Q, K, V, decay, O,  # noqa: E741
    D: hr.constexpr, E: hr.constexpr, CHUNK: hr.constexpr, STAGES: hr.constexpr, WARPS: hr.constexpr,
    SPECIALIZE: hr.constexpr,
):  # fmt: skip
    i = hr.grid(Q.shape[0])
    factor = decay[i]
    state = hr.zeros((D, E))
    for n in hr.pipelined(0, Q.shape[1], CHUNK, stages=STAGES, specialize=SPECIALIZE):
        q, k, v = Q[i, n : n + CHUNK, 0:D], K[i, n : n + CHUNK, 0:D], V[i, n : n + CHUNK, 0:E]
        O[i, n : n + CHUNK, 0:E] = (q @ state.to(Q.dtype)).to(O.dtype)
        state = hr.dot(k.T, v, state * factor)


@twin(lambda t: {**dict.fromkeys("QKV", t[:, :, ::1]), "log2g": PLAIN_VECTOR, "O": t[:, :, ::1]})
@hr.kernel(warps="WARPS")
def retention(
    Q, K, V, log2g, O,  # noqa: E741
    D: hr.constexpr, E: hr.constexpr, CHUNK: hr.constexpr, STAGES: hr.constexpr, WARPS: hr.constexpr,
    SPECIALIZE: hr.constexpr,
):  # fmt: skip
    i = hr.grid(Q.shape[0])
    log = log2g[i]
    # g^(i-j) below the diagonal and on it; of each output row, of each key, of the state.
    rows, columns = hr.iota((CHUNK, CHUNK), 0), hr.iota((CHUNK, CHUNK), 1)
    powers = hr.exp2((rows - columns).to(hr.f32) * log)
    decays = hr.where(rows >= columns, powers, 0.0)
    after = hr.arange(CHUNK) + 1
    left = CHUNK - after
    after, left = after.to(hr.f32), left.to(hr.f32)
    after, left = after * log, left * log
    after, left = hr.exp2(after), hr.exp2(left)
    of_output, of_key = hr.broadcast_to(after[:, None], (CHUNK, E)), hr.broadcast_to(left[:, None], (CHUNK, D))
    of_state = hr.exp2(CHUNK * log)
    state = hr.zeros((D, E))
    for n in hr.pipelined(0, Q.shape[1], CHUNK, stages=STAGES, specialize=SPECIALIZE):
        q, k, v = Q[i, n : n + CHUNK, 0:D], K[i, n : n + CHUNK, 0:D], V[i, n : n + CHUNK, 0:E]
        earlier = hr.dot(q, state.to(Q.dtype), 0.0) * of_output
        s = hr.dot(q, k.T, 0.0) * decays
        O[i, n : n + CHUNK, 0:E] = hr.dot(s.to(Q.dtype), v, earlier).to(O.dtype)
        faded = (k.to(hr.f32) * of_key).to(K.dtype)
        state = hr.dot(faded.T, v, state * of_state)
