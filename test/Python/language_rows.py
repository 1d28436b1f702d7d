"""Twins of the library's kernels on rows: norms, softmax, sums."""

# ruff: noqa: N803

from __future__ import annotations

from language_twins import PLACES, PLAIN_VECTOR, VECTOR, matrices, twin

import headrace as hr
from headrace.kernels.attention import LOG2E
from headrace.kernels.layer_norm import layer_norm_kernel
from headrace.kernels.rms_norm import rms_norm_kernel
from headrace.kernels.softmax import long_softmax_kernel, softmax_kernel


@twin(matrices("X", "Y"))
@hr.kernel
def transpose(X, Y, BM: hr.constexpr, BN: hr.constexpr):
    column, row = hr.grid(hr.cdiv(X.shape[1], BN), hr.cdiv(X.shape[0], BM))
    m, n = row * BM, column * BN
    Y[n : n + BN, m : m + BM] = X[m : m + BM, n : n + BN].T


@twin(lambda t: {"table": t[:, ::1], "ids": hr.i32[::1], "Y": t[:, ::1]})
@hr.kernel
def embedding(table, ids, Y, BR: hr.constexpr, BC: hr.constexpr):
    column, row = hr.grid(hr.cdiv(Y.shape[1], BC), hr.cdiv(Y.shape[0], BR))
    m, n = row * BR, column * BC
    hr.store(Y[m : m + BR, n : n + BC], table[ids[m : m + BR], n : n + BC], cache="evict_first")


ANGLES = hr.f32[:, ::1]


@twin(lambda t: {"X": t[:, :, ::1], "cosines": ANGLES, "sines": ANGLES, "Y": t[:, :, ::1]})
@hr.kernel(warps="WARPS")
def rotary(
    X,
    cosines,
    sines,
    Y,
    BH: hr.constexpr,
    PAIRS: hr.constexpr,
    COLUMNS: hr.constexpr,
    STAGES: hr.constexpr,
    WARPS: hr.constexpr,
    SPECIALIZE: hr.constexpr,
):
    block, t = hr.grid(hr.cdiv(X.shape[1], BH), X.shape[0])
    h = block * BH
    for p in hr.pipelined(0, cosines.shape[1], PAIRS, stages=STAGES, specialize=SPECIALIZE):
        n = p * 2
        x = X[t, h : h + BH, n : n + COLUMNS].to(hr.f32)
        even, odd = hr.split(x.reshape(BH, PAIRS, 2))
        cos, sin = cosines[t, p : p + PAIRS][None, :], sines[t, p : p + PAIRS][None, :]
        turned = hr.join(even * cos - odd * sin, even * sin + odd * cos)
        Y[t, h : h + BH, n : n + COLUMNS] = turned.reshape(BH, COLUMNS).to(Y.dtype)


twin(matrices("X", "Y"), "softmax_rows")(softmax_kernel)
twin(matrices("X", "Y"), "softmax_online")(long_softmax_kernel)
twin(lambda t: {"X": t[:, ::1], "weight": VECTOR, "Y": t[:, ::1], "rstd": VECTOR, "eps": float}, "rms_norm")(
    rms_norm_kernel
)
twin(
    lambda t: {
        "X": t[:, ::1],
        "weight": VECTOR,
        "bias": VECTOR,
        "Y": t[:, ::1],
        "mean": VECTOR,
        "rstd": VECTOR,
        "eps": float,
    },
    "layer_norm",
)(layer_norm_kernel)


@twin(
    lambda t: {
        "X": t[:, ::1],
        "dY": t[:, ::1],
        "weight": VECTOR,
        "rstd": VECTOR,
        "dX": t[:, ::1],
        "dWeight": VECTOR,
    }
)
@hr.kernel(warps="WARPS")
def rms_norm_backward(
    X, dY, weight, rstd, dX, dWeight,
    BR: hr.constexpr, BC: hr.constexpr, STAGES: hr.constexpr, WARPS: hr.constexpr, SPECIALIZE: hr.constexpr,
):  # fmt: skip
    blocks = hr.cdiv(X.shape[0], BR)
    share = 1.0 / float(X.shape[1])
    w = weight[0:BC][None, :]
    dw = hr.zeros((BR, BC))
    for i in hr.persistent(blocks, stages=STAGES, specialize=SPECIALIZE):
        m = i * BR
        x, dy = X[m : m + BR, 0:BC], dY[m : m + BR, 0:BC]
        inverse = rstd[m : m + BR][:, None]
        x, dy = x.to(hr.f32), dy.to(hr.f32)
        normal = x * inverse
        g = dy * w
        mean = hr.sum(g * normal, axis=1) * share
        dX[m : m + BR, 0:BC] = ((g - normal * mean[:, None]) * inverse).to(dX.dtype)
        dw = dw + dy * normal
    hr.atomic_add(dWeight[0:BC], dw.sum(axis=0))


@hr.inline
def add_pairs(a, b, c, d):
    return a + c, b + d


@twin(
    lambda t: {
        "X": t[:, ::1],
        "dY": t[:, ::1],
        "weight": VECTOR,
        "mean": VECTOR,
        "rstd": VECTOR,
        "dX": t[:, ::1],
        "dWeight": VECTOR,
        "dBias": VECTOR,
    }
)
@hr.kernel(warps="WARPS")
def layer_norm_backward(
    X, dY, weight, mean, rstd, dX, dWeight, dBias,
    BR: hr.constexpr, BC: hr.constexpr, STAGES: hr.constexpr, WARPS: hr.constexpr, SPECIALIZE: hr.constexpr,
):  # fmt: skip
    blocks = hr.cdiv(X.shape[0], BR)
    share = 1.0 / float(X.shape[1])
    w = weight[0:BC][None, :]
    dw = db = hr.zeros((BR, BC))
    for i in hr.persistent(blocks, stages=STAGES, specialize=SPECIALIZE):
        m = i * BR
        x, dy = X[m : m + BR, 0:BC], dY[m : m + BR, 0:BC]
        average, inverse = mean[m : m + BR][:, None], rstd[m : m + BR][:, None]
        x, dy = x.to(hr.f32), dy.to(hr.f32)
        normal = (x - average) * inverse
        g = dy * w
        sum_g, sum_gx = hr.reduce((g, g * normal), 1, add_pairs)
        mean_g, mean_gx = sum_g * share, sum_gx * share
        along = normal * mean_gx[:, None]
        dX[m : m + BR, 0:BC] = ((g - mean_g[:, None] - along) * inverse).to(dX.dtype)
        dw = dw + dy * normal
        db = db + dy
    of_weight, of_bias = hr.reduce((dw, db), 0, add_pairs)
    hr.atomic_add(dWeight[0:BC], of_weight)
    hr.atomic_add(dBias[0:BC], of_bias)


@twin(lambda t: {"logits": t[:, ::1], "labels": PLACES, "losses": PLAIN_VECTOR, "lses": PLAIN_VECTOR})
@hr.kernel(warps="WARPS")
def cross_entropy(
    logits, labels, losses, lses, BC: hr.constexpr, STAGES: hr.constexpr, WARPS: hr.constexpr, SPECIALIZE: hr.constexpr
):
    m = hr.grid(logits.shape[0])
    label = labels[m]
    chosen = logits[m, label]
    top, total = -3.0e38, 0.0
    for n in hr.pipelined(0, logits.shape[1], BC, stages=STAGES, specialize=SPECIALIZE):
        x = hr.load(logits[m, n : n + BC], fill=float("-inf")).to(hr.f32)
        new = hr.maximum(top, x.max())
        own = hr.sum(hr.exp2((x - new) * LOG2E))
        total = total * hr.exp2((top - new) * LOG2E) + own
        top = new
    lse = hr.log(total) + top
    loss = lse - chosen.to(hr.f32)
    losses[m] = loss if label >= 0 else 0.0
    lses[m] = lse


@twin(matrices("X", "Y"))
@hr.kernel(warps="WARPS")
def prefix_sum(X, Y, BC: hr.constexpr, STAGES: hr.constexpr, WARPS: hr.constexpr, SPECIALIZE: hr.constexpr):
    m = hr.grid(X.shape[0])
    before = 0.0
    for n in hr.pipelined(0, X.shape[1], BC, stages=STAGES, specialize=SPECIALIZE):
        x = X[m, n : n + BC]
        own, total = hr.cumsum(x), x.sum()
        Y[m, n : n + BC] = own + before
        before = before + total
