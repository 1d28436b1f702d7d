"""Calls of attention: whole, causal, paged decoding, and the linear kinds."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from library.arrays import holding, normal, surrounded
from library.case import Call, Variant
from library.running_error import Real, dot, real

_DIMENSIONS = (64, 96, 128, 192, 256)
#: Queries, keys, heads, groups.
_SHAPES = ((100, 150, 4, 2), (150, 100, 2, 2), (1, 70, 3, 1), (64, 64, 1, 1), (5, 0, 1, 1), (130, 33, 2, 1))


def attended(q: np.ndarray, k: np.ndarray, v: np.ndarray, scale: float, seen: np.ndarray, dtype: str) -> Real:
    """softmax(scale q k^T) v over the keys that each query sees, zero if it sees none.

    The softmax does not depend on what is subtracted in its exponent, so that has no error of its own.
    """
    scores = dot(q, np.swapaxes(k, -1, -2).astype(np.float64), dtype) * np.float64(np.float32(scale))
    top = np.where(seen, scores.value, -np.inf).max(-1, keepdims=True, initial=-np.inf)
    weights = (scores - np.where(np.isfinite(top), top, 0)).where(seen, 0).exp().where(seen, 0)
    total = weights.sum(-1)
    is_empty = total.value == 0
    sums = dot(weights.rounded_to(dtype), v, dtype) * (1.0 / total.where(~is_empty, 1))
    return sums.where(~is_empty, 0)


def _attention_calls(dtype: str, d: int, causal: bool, shapes):
    def calls(rng):
        for queries, keys, heads, groups in shapes:
            batch = 2 if heads > 1 else 1
            q = normal(rng, dtype, (batch, heads, queries, d))
            k, v = (normal(rng, dtype, (batch, groups, keys, d)) for _ in range(2))
            scale = float(np.float32(rng.uniform(0.5, 2) * d**-0.5))
            seen = np.ones((queries, keys), bool)
            if causal:
                seen = np.arange(keys) <= np.arange(queries)[:, None] + keys - queries
            each = [np.repeat(x.view, heads // groups, axis=1) for x in (k, v)]
            exact = attended(q.view, *each, scale, seen, dtype)
            label = f"{batch}x{heads} heads in {groups}, {queries} queries, {keys} keys"
            yield Call(label, [q, k, v, surrounded(dtype, (batch, heads, queries, d)), scale], {3: exact})

    return calls


def _decode_calls(d: int, page: int):
    def calls(rng):
        for heads, groups, lengths in (
            (4, 2, (3 * page + 5, 1, 0, page)),
            (1, 1, (2 * page,)),
            (16, 1, (5, 4 * page + 1)),
            (3, 3, (0,)),
        ):
            yield _decode_call(rng, d, page, heads, groups, lengths)

    return calls


def _decode_call(rng, d: int, page: int, heads: int, groups: int, lengths: tuple[int, ...]) -> Call:
    """Requests with their pages in random places; pages of no request are NaN, the table's other entries name one."""
    counts = [-(-length // page) for length in lengths]
    total = sum(counts) + 2
    order = rng.permutation(total)
    free, used = order[0], list(order[2:])
    table = np.full((len(lengths), max(counts) + 1), free)
    for request, count in enumerate(counts):
        table[request, :count] = [used.pop() for _ in range(count)]
    q = normal(rng, "bf16", (len(lengths), groups, heads, d))
    k, v = (normal(rng, "bf16", (total, page, groups * d)) for _ in range(2))
    k.view[order[:2]] = v.view[order[:2]] = np.nan
    scale = float(np.float32(rng.uniform(0.5, 2) * d**-0.5))
    exact = real(np.zeros(q.view.shape))
    for request, length in enumerate(lengths):
        keys, values = (
            np.moveaxis(x.view[table[request, : counts[request]]].reshape(-1, groups, d)[:length], 1, 0) for x in (k, v)
        )
        part = attended(q.view[request], keys, values, scale, np.ones((heads, length), bool), "bf16")
        exact.value[request], exact.error[request] = part.value, part.error
    args = [q, k, v, holding("i32", table), holding("i32", np.array(lengths)), surrounded("bf16", q.view.shape), scale]
    return Call(f"{groups} groups of {heads}, {lengths} keys in pages of {page}", args, {5: exact})


def _chunks(length: int, chunk: int) -> Iterator[slice]:
    return (slice(start, min(start + chunk, length)) for start in range(0, length, chunk))


def _stream_inputs(rng, streams: int, length: int, d: int, e: int):
    """Q, K and V; keys are short, so that the state does not grow without bound."""
    return (
        normal(rng, "bf16", (streams, length, d)),
        normal(rng, "bf16", (streams, length, d), d**-0.5),
        normal(rng, "bf16", (streams, length, e)),
    )


def _linear_calls(d: int, e: int, chunk: int):
    def calls(rng):
        for streams, length in ((2, 3 * chunk + 5), (1, chunk), (3, 1), (1, 0)):
            q, k, v = _stream_inputs(rng, streams, length, d, e)
            decay = holding("f32", rng.uniform(0.5, 1, streams))
            state, parts = real(np.zeros((streams, d, e))), []
            for rows in _chunks(length, chunk):
                parts.append(dot(q.view[:, rows], state.rounded_to("bf16"), "bf16"))
                added = dot(np.swapaxes(k.view[:, rows], 1, 2), v.view[:, rows], "bf16")
                state = state * decay.view[:, None, None] + added
            yield _stream_call(streams, length, [q, k, v, decay], e, parts)

    return calls


def _stream_call(streams: int, length: int, inputs: list, e: int, parts: list[Real]) -> Call:
    empty = np.zeros((streams, 0, e))
    value = np.concatenate([empty, *(part.value for part in parts)], 1)
    exact = Real(value, np.concatenate([empty, *(part.error for part in parts)], 1))
    return Call(f"{streams} streams of {length}", [*inputs, surrounded("bf16", (streams, length, e))], {4: exact})


def _retention_calls(d: int, e: int, chunk: int):
    def calls(rng):
        for streams, length in ((2, 3 * chunk + 5), (1, chunk), (3, 1), (1, 0)):
            q, k, v = _stream_inputs(rng, streams, length, d, e)
            log2g = holding("f32", -rng.uniform(0.01, 0.5, streams))
            log = log2g.view.astype(np.float64)[:, None, None]
            state, parts = real(np.zeros((streams, d, e))), []
            for rows in _chunks(length, chunk):
                at = np.arange(rows.stop - rows.start)
                apart = at[:, None] - at
                powers = (real(np.maximum(apart, 0)) * log).exp2().where(apart >= 0, 0)
                keys = np.swapaxes(k.view[:, rows], 1, 2).astype(np.float64)
                weights = (dot(q.view[:, rows], keys, "bf16") * powers).rounded_to("bf16")
                earlier = dot(q.view[:, rows], state.rounded_to("bf16"), "bf16")
                parts.append(earlier * (real(at[:, None] + 1) * log).exp2() + dot(weights, v.view[:, rows], "bf16"))
                # Rows behind the last count as zeros of a whole chunk.
                faded = (real(keys) * (real(chunk - 1 - at) * log).exp2()).rounded_to("bf16")
                state = state * (real(chunk) * log).exp2() + dot(faded, v.view[:, rows], "bf16")
            yield _stream_call(streams, length, [q, k, v, log2g], e, parts)

    return calls


def _attention_variants() -> Iterator[Variant]:
    for causal in (False, True):
        kind = "causal" if causal else "whole"
        for dtype in ("bf16", "f16"):
            for d in _DIMENSIONS:
                settings = {"T": dtype, "D": d, "CAUSAL": str(causal).lower(), "BM": 64, "BN": 32, "WARPS": 4}
                calls = _attention_calls(dtype, d, causal, _SHAPES)
                quick = (d in (64, 96) and dtype == "bf16") or (d, causal) == (128, True)
                yield Variant("attention", calls, settings, f"{kind}-{dtype}-{d}", in_quick=quick)
        large = _attention_calls("bf16", 128, causal, ((200, 300, 1, 1), (130, 129, 2, 1)))
        yield Variant("attention", large, {"CAUSAL": str(causal).lower()}, f"{kind}-large")
    # More sums than one wgmma of three warpgroups may have.
    wide = _attention_calls("bf16", 64, True, ((200, 300, 1, 1), (130, 129, 2, 1)))
    settings = {"CAUSAL": "true", "D": 64, "BM": 192, "BN": 256, "WARPS": 12}
    yield Variant("attention", wide, settings, "causal-wide", targets=("sm_90a",), in_quick=False)


def variants() -> Iterator[Variant]:
    yield from _attention_variants()
    yield Variant("attention_decode", _decode_calls(64, 16), {"D": 64, "PAGE": 16}, "64-pages-of-16")
    yield Variant("attention_decode", _decode_calls(128, 64), {}, "large", in_quick=False)
    for source, calls in (("linear_attention", _linear_calls), ("retention", _retention_calls)):
        yield Variant(source, calls(64, 64, 32), {"CHUNK": 32})
        yield Variant(source, calls(128, 64, 64), {"D": 128}, "large", in_quick=False)
        yield Variant(source, calls(64, 64, 128), {"CHUNK": 128, "STAGES": 1}, "chunk-128", in_quick=False)
