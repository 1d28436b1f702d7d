"""Calls of the kernels that move numbers and do little else: embedding, transpose, prefix sum, rotary embedding."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from library.arrays import holding, normal, surrounded
from library.case import Call, Variant
from library.running_error import Real, real


def _embedding_calls(rng):
    for m, rows, d in ((37, 50, 200), (1, 3, 8), (16, 1, 64), (0, 4, 16), (5, 9, 300)):
        table = normal(rng, "bf16", (rows, d))
        ids = rng.integers(0, rows, m)
        if m > 4:
            ids[:4] = (-1, rows, 2**31 - 1, -(2**31))
        is_row = (ids >= 0) & (ids < rows)
        expected = np.where(is_row[:, None], table.view[np.where(is_row, ids, 0)].astype(np.float64), 0)
        yield Call(f"{m} of {rows}x{d}", [table, holding("i32", ids), surrounded("bf16", (m, d))], {2: expected})


def _transpose_calls(dtype: str):
    def calls(rng):
        for m, n in ((130, 100), (1, 1), (64, 64), (3, 200), (0, 5)):
            x = holding(dtype, rng.integers(-99, 100, (m, n)))
            yield Call(f"{m}x{n}", [x, surrounded(dtype, (n, m))], {1: x.view.T})

    return calls


def _prefix_sum_calls(dtype: str):
    def calls(rng):
        for m, n in ((3, 700), (1, 128), (2, 1), (2, 129), (0, 8)):
            x = holding(dtype, rng.integers(-(2**28), 2**28, (m, n)) if dtype == "i32" else rng.standard_normal((m, n)))
            # Integers wrap.
            exact = np.cumsum(x.view, axis=1, dtype=np.int32) if dtype == "i32" else real(x.view).cumsum(1)
            yield Call(f"{m}x{n}", [x, surrounded(dtype, (m, n))], {1: exact})

    return calls


def _rotary_calls(dtype: str):
    def calls(rng):
        for tokens, heads, d in ((3, 5, 128), (2, 8, 64), (2, 3, 34), (1, 1, 2), (2, 9, 300), (0, 4, 16), (4, 0, 8)):
            x = normal(rng, dtype, (tokens, heads, d))
            angles = rng.uniform(-100, 100, (tokens, d // 2))
            cos, sin = holding("f32", np.cos(angles)), holding("f32", np.sin(angles))
            even, odd = real(x.view[..., 0::2]), real(x.view[..., 1::2])
            c, s = real(cos.view[:, None, :]), real(sin.view[:, None, :])
            left, right = even * c - odd * s, even * s + odd * c
            turned = Real(*(np.stack(two, axis=-1).reshape(x.view.shape) for two in
                            ((left.value, right.value), (left.error, right.error))))  # fmt: skip
            yield Call(f"{tokens}x{heads}x{d}", [x, cos, sin, surrounded(dtype, x.view.shape)], {3: turned})

    return calls


def variants() -> Iterator[Variant]:
    yield Variant("embedding", _embedding_calls, {"BC": 128})
    yield Variant("embedding", _embedding_calls, {}, "large", in_quick=False)
    for dtype, name in (("bf16", "bf16"), ("f32", "f32"), ("i8", "i8")):
        yield Variant("transpose", _transpose_calls(dtype), {"T": name}, name)
    yield Variant("transpose", _transpose_calls("bf16"), {"BM": 128, "BN": 32}, "uneven", in_quick=False)
    integers = {"T": "i32", "ADD": "arith.addi", "ZERO": "0"}
    yield Variant("prefix_sum", _prefix_sum_calls("f32"), {"BC": 128}, "f32")
    yield Variant("prefix_sum", _prefix_sum_calls("i32"), {"BC": 128, **integers}, "i32")
    yield Variant("prefix_sum", _prefix_sum_calls("f32"), {}, "large", in_quick=False)
    for dtype in ("bf16", "f16"):
        yield Variant("rotary", _rotary_calls(dtype), {"T": dtype}, dtype)
    pipelined = {"BH": 4, "PAIRS": 16, "COLUMNS": 32, "STAGES": 3}
    yield Variant("rotary", _rotary_calls("bf16"), pipelined, "pipelined")
    odd = {"T": "f16", "BH": 3, "PAIRS": 24, "COLUMNS": 48, "WARPS": 2, "ALIGN": 2}
    yield Variant("rotary", _rotary_calls("f16"), odd, "odd", in_quick=False)
