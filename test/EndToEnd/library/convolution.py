"""Calls of the 3 x 3 convolutions."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from library.arrays import normal, surrounded
from library.case import Call, Variant
from library.running_error import Real, dot

_SMALL = {"BN": 64, "BK": 32, "STAGES": 3}


def convolved(x: np.ndarray, w: np.ndarray, stride: int) -> Real:
    """x [images, H, W, C] with w [9, KO, C], padding 1: [images, P, Q, KO]."""
    padded = np.pad(x.astype(np.float64), ((0, 0), (1, 1), (1, 1), (0, 0)))
    height, width = x.shape[1:3]
    taps = [
        padded[:, down : down + height : stride, right : right + width : stride]
        for down in range(3)
        for right in range(3)
    ]
    patches = np.concatenate(taps, axis=-1)
    weights = np.moveaxis(w.astype(np.float64), 0, 1).reshape(w.shape[1], 9 * w.shape[2])
    return dot(patches, weights.T, "bf16")


def _gather_calls(rng):
    for images, height, width, c, ko, stride in (
        (2, 9, 7, 40, 72, 1),
        (1, 1, 1, 8, 8, 1),
        (3, 5, 8, 64, 16, 2),
        (1, 13, 12, 24, 130, 1),
        (0, 4, 4, 8, 8, 1),
    ):
        x = normal(rng, "bf16", (images * height * width, c))
        w = normal(rng, "bf16", (9, ko, c))
        exact = convolved(x.view.reshape(images, height, width, c), w.view, stride)
        rows, lines = exact.value.shape[1:3]
        flat = Real(exact.value.reshape(-1, ko), exact.error.reshape(-1, ko))
        args = [x, w, surrounded("bf16", flat.value.shape), height, width, rows, lines, stride]
        yield Call(f"{images}x{height}x{width}x{c} to {ko} by {stride}", args, {2: flat})


def _lines_calls(rng):
    for images, height, width, c, ko in ((2, 3, 70, 40, 72), (1, 1, 1, 8, 8), (1, 4, 64, 64, 16), (2, 2, 130, 8, 70)):
        x, w = normal(rng, "bf16", (images, height, width, c)), normal(rng, "bf16", (9, ko, c))
        exact = convolved(x.view, w.view, 1)
        label = f"{images}x{height}x{width}x{c} to {ko}"
        yield Call(label, [x, w, surrounded("bf16", (images, height, width, ko))], {2: exact})


def variants() -> Iterator[Variant]:
    yield Variant("conv3x3_gather", _gather_calls, {"BM": 128, **_SMALL})
    yield Variant("conv3x3_gather", _gather_calls, {}, "large", in_quick=False)
    yield Variant("conv3x3_lines", _lines_calls, {"BW": 128, **_SMALL})
    yield Variant("conv3x3_lines", _lines_calls, {}, "large", in_quick=False)
