"""Twins of the library's convolutions."""

# ruff: noqa: N803, N806

from __future__ import annotations

from language_twins import twin

import headrace as hr


@twin(
    lambda t: {
        "X": t[:, ::1],
        "W": t[:, :, ::1],
        "Y": t[:, ::1],
        **dict.fromkeys(("height", "width", "outHeight", "outWidth", "stride"), hr.i32),
    }
)
@hr.kernel
def conv3x3_gather(
    X, W, Y, height, width, outHeight, outWidth, stride,
    BM: hr.constexpr, BN: hr.constexpr, BK: hr.constexpr, STAGES: hr.constexpr, SPECIALIZE: hr.constexpr,
):  # fmt: skip
    # Lengths are not negative, which spares looking at signs in // and %.
    out_height, out_width = hr.assume(outHeight, at_least=0), hr.assume(outWidth, at_least=0)
    rows, columns = hr.cdiv(Y.shape[0], BM), hr.cdiv(Y.shape[1], BN)
    tiles, per_tap = rows * columns, hr.cdiv(X.shape[1], BK)
    trips, steps = per_tap * 9, hr.arange(BM)
    for t in hr.persistent(tiles):
        row, column = hr.tile_index(t, (rows, columns), group=16)
        m, n = row * BM, column * BN
        outputs = m + steps
        q, line = outputs % out_width, outputs // out_width
        p, image = line % out_height, line // out_height
        top, left = p * stride - 1, q * stride - 1
        first_line = image * height
        acc = hr.zeros((BM, BN))
        for i in hr.pipelined(trips, stages=STAGES, specialize=SPECIALIZE):
            tap, c = i // per_tap, i % per_tap * BK
            down, right = tap // 3, tap % 3
            y, x = top + down, left + right
            inside = (y >= 0) & (y < height) & ((x >= 0) & (x < width))
            places = hr.where(inside, (first_line + y) * width + x, -1)
            acc += X[places, c : c + BK] @ W[tap, n : n + BN, c : c + BK].T
        Y[m : m + BM, n : n + BN] = acc.to(Y.dtype)


@twin(lambda t: {"X": t[:, :, :, ::1], "W": t[:, :, ::1], "Y": t[:, :, :, ::1]})
@hr.kernel
def conv3x3_lines(
    X, W, Y, BW: hr.constexpr, BN: hr.constexpr, BK: hr.constexpr, STAGES: hr.constexpr, SPECIALIZE: hr.constexpr
):
    images, height, width, N = Y.shape
    parts, columns = hr.cdiv(width, BW), hr.cdiv(N, BN)
    lines, each = images * height, parts * columns
    tiles = each * lines
    per_tap = hr.cdiv(X.shape[3], BK)
    trips = per_tap * 9
    for t in hr.persistent(tiles):
        line, inside = t // each, t % each
        part, column = inside // columns, inside % columns
        image, p = line // height, line % height
        q, n = part * BW, column * BN
        top, left = p - 1, q - 1
        acc = hr.zeros((BW, BN))
        for i in hr.pipelined(trips, stages=STAGES, specialize=SPECIALIZE):
            tap, c = i // per_tap, i % per_tap * BK
            down, right = tap // 3, tap % 3
            y, x = top + down, left + right
            acc += X[image, y, x : x + BW, c : c + BK] @ W[tap, n : n + BN, c : c + BK].T
        Y[image, p, q : q + BW, n : n + BN] = acc.to(Y.dtype)
