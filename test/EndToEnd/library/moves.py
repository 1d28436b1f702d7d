"""Calls of the kernels that move numbers and add at most: embedding, transpose, prefix sum."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from library.arrays import holding, normal, surrounded
from library.case import Call, Variant
from library.running_error import real


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
