"""Calls of the kernels that reduce along rows: softmax, layer norm, RMS norm, cross entropy."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from library.arrays import holding, normal, surrounded
from library.case import Call, Variant
from library.running_error import Real, real

#: Number of columns with the tile that holds them: rows at once, columns, warps.
_ROW_TILES = {3: (4, 8, 1), 17: (8, 32, 1), 127: (4, 128, 4), 768: (2, 768, 4), 8192: (1, 8192, 16)}
_EPS = 1e-5


def _softmax(x: np.ndarray) -> Real:
    # The difference from the maximum is exact to a unit; exp2 takes it times log2(e).
    e = (real(x) - real(x).max(1)).exp()
    return e * (1.0 / e.sum(1))


def _softmax_calls(shapes):
    def calls(rng):
        for m, n in shapes:
            x = normal(rng, "bf16", (m, n), 4)
            yield Call(f"{m}x{n}", [x, surrounded("bf16", (m, n))], {1: _softmax(x.view)})

    return calls


class _Norm:
    """Mean, 1 / standard deviation and normalized rows; with `centered` false those of RMS norm."""

    def __init__(self, x: np.ndarray, centered: bool):
        share = 1.0 / real(np.float64(x.shape[1]))
        self.mean = real(x).sum(1) * share
        deviation = real(x) - self.mean if centered else real(x)
        self.rstd = ((deviation * deviation).sum(1) * share + _EPS).rsqrt()
        self.rows = deviation * self.rstd


def _norm_inputs(rng, m: int, n: int):
    """Rows with a mean that is far from zero, so that padding would show."""
    return holding("bf16", rng.standard_normal((m, n)) + rng.uniform(1, 3, (m, 1))), normal(rng, "f32", (n,))


def _layer_norm_calls(n: int):
    def calls(rng):
        for m in (7, 1, 0):
            x, weight = _norm_inputs(rng, m, n)
            bias = normal(rng, "f32", (n,))
            norm = _Norm(x.view, centered=True)
            outputs = [surrounded("bf16", (m, n)), surrounded("f32", (m,)), surrounded("f32", (m,))]
            expected = {3: norm.rows * weight.view + bias.view, 4: norm.mean[:, 0], 5: norm.rstd[:, 0]}
            yield Call(f"{m}x{n}", [x, weight, bias, *outputs, _EPS], expected)

    return calls


def _rms_norm_calls(n: int):
    def calls(rng):
        for m in (7, 1, 0):
            x, weight = _norm_inputs(rng, m, n)
            norm = _Norm(x.view, centered=False)
            args = [x, weight, surrounded("bf16", (m, n)), surrounded("f32", (m,)), _EPS]
            yield Call(f"{m}x{n}", args, {2: norm.rows * weight.view, 3: norm.rstd[:, 0]})

    return calls


def _backward_calls(n: int, centered: bool):
    def calls(rng):
        for m in (7, 1, 0):
            x, weight = _norm_inputs(rng, m, n)
            dy = normal(rng, "bf16", (m, n))
            norm = _Norm(x.view, centered)
            mean, rstd = holding("f32", norm.mean.value[:, 0]), holding("f32", norm.rstd.value[:, 0])
            # From here on mean and rstd are inputs, rounded to f32.
            deviation = real(x.view) - mean.view[:, None].astype(np.float64) if centered else real(x.view)
            rows, scale = deviation * rstd.view[:, None].astype(np.float64), real(rstd.view[:, None])
            share = 1.0 / real(np.float64(n))
            g = real(dy.view) * weight.view
            dx = g - rows * ((g * rows).sum(1) * share)
            if centered:
                dx = g - g.sum(1) * share - rows * ((g * rows).sum(1) * share)
            dw, db = (real(dy.view) * rows).sum(0)[0], real(dy.view).sum(0)[0]
            sums = [holding("f32", np.zeros(n)) for _ in range(2 if centered else 1)]
            args = [x, dy, weight, *([mean] if centered else []), rstd, surrounded("bf16", (m, n)), *sums]
            at = len(args) - len(sums)
            expected = {at - 1: dx * scale, at: dw, **({at + 1: db} if centered else {})}
            yield Call(f"{m}x{n}", args, expected, ordered=False)

    return calls


def _cross_entropy_calls(rng):
    for m, n in ((5, 700), (3, 64), (2, 1), (4, 130), (0, 9)):
        logits = normal(rng, "bf16", (m, n), 3)
        labels = rng.integers(0, n, m)
        labels[:1] = -100
        top = real(logits.view).max(1)
        lse = (real(logits.view) - top).exp().sum(1).log() + top
        chosen = np.take_along_axis(logits.view.astype(np.float64), np.maximum(labels, 0)[:, None], 1)
        loss = (lse - chosen).where((labels >= 0)[:, None], 0)
        args = [logits, holding("i32", labels), surrounded("f32", (m,)), surrounded("f32", (m,))]
        yield Call(f"{m}x{n}", args, {2: loss[:, 0], 3: lse[:, 0]})


def variants() -> Iterator[Variant]:
    for n, (rows, columns, warps) in _ROW_TILES.items():
        settings = {"BR": rows, "BC": columns, "WARPS": warps}
        quick = n != 8192
        softmax = _softmax_calls(((9, n), (1, n), (5, max(n // 2, 1)), (0, n)))
        yield Variant("softmax_rows", softmax, settings, str(n), in_quick=quick)
        yield Variant("layer_norm", _layer_norm_calls(n), settings, str(n), in_quick=quick)
        yield Variant("rms_norm", _rms_norm_calls(n), settings, str(n), in_quick=quick)
        yield Variant("layer_norm_backward", _backward_calls(n, centered=True), settings, str(n), in_quick=quick)
        yield Variant("rms_norm_backward", _backward_calls(n, centered=False), settings, str(n), in_quick=quick)
    # Rows and weights are more than registers hold: the weights stay in shared memory.
    crowded = {"BR": 1, "BC": 2048, "WARPS": 4, "OCCUPANCY": 8, "STAGES": 2}
    yield Variant("layer_norm", _layer_norm_calls(2000), crowded, "crowded")
    yield Variant("rms_norm", _rms_norm_calls(2000), crowded, "crowded")
    # More programs than are resident.
    trips = {"BR": 1, "BC": 256, "WARPS": 2, "STAGES": 3, "TRIPS": 3}
    yield Variant("layer_norm", _layer_norm_calls(200), trips, "trips")
    yield Variant("softmax_rows", _softmax_calls(((40, 200), (3, 256))), trips, "trips")
    # The longest rows that headrace.kernels takes.
    longest = {"BR": 1, "BC": 16384, "WARPS": 8, "OCCUPANCY": 1, "STAGES": 2, "SPECIALIZE": "on", "TRIPS": 5}
    yield Variant("layer_norm", _layer_norm_calls(16000), longest, "longest", in_quick=False)
    yield Variant("rms_norm", _rms_norm_calls(16000), longest, "longest", in_quick=False)
    # Tiles of odd extents, which are padded.
    for n, rows in ((127, 4), (1000, 3)):
        settings, shapes = {"BR": rows, "BC": n, "WARPS": 4}, ((9, n), (1, n), (5, n // 2), (2, n - 1))
        yield Variant("softmax_rows", _softmax_calls(shapes), settings, f"odd{n}", in_quick=n == 127)
        yield Variant("layer_norm", _layer_norm_calls(n), settings, f"odd{n}", in_quick=n == 127)
        yield Variant("layer_norm_backward", _backward_calls(n, centered=True), settings, f"odd{n}", in_quick=False)
    long_rows = _softmax_calls(((3, 700), (1, 100), (2, 128), (2, 1)))
    yield Variant("softmax_online", long_rows, {"BC": 128, "WARPS": 4})
    yield Variant("softmax_online", _softmax_calls(((1, 9000),)), {}, "large", in_quick=False)
    yield Variant("cross_entropy", _cross_entropy_calls, {"BC": 128, "WARPS": 4})
    yield Variant("cross_entropy", _cross_entropy_calls, {}, "large", in_quick=False)
