"""Layer norm: masks of places, statistics that are reduced together by a function of one's own.

python3 python/examples/tutorial/05_layer_norm.py
"""

# ruff: noqa: N803

import numpy as np

import headrace as hr


@hr.inline
def merge(mean_a, square_a, count_a, mean_b, square_b, count_b):
    """Welford's update: mean, sum of squared deviations and number of two parts together."""
    count = count_a + count_b
    share = count_b / hr.maximum(count, 1.0)
    delta = mean_b - mean_a
    return mean_a + delta * share, square_a + square_b + delta * delta * count_a * share, count


@hr.kernel
def layer_norm(X, weight, bias, Y, eps: hr.constexpr = 1e-5, ROWS: hr.constexpr = 16, COLUMNS: hr.constexpr = 128):
    m = hr.grid(hr.cdiv(X.shape[0], ROWS)) * ROWS
    x = X[m : m + ROWS, 0:COLUMNS]
    # Which elements are in the array: the others read as 0 and must not count.
    there = (hr.arange(COLUMNS) < X.shape[1])[None, :]
    count = hr.broadcast_to(hr.where(there, 1.0, hr.zeros((1, COLUMNS))), x.shape)
    mean, square, total = hr.reduce((x, hr.zeros(x.shape), count), 1, merge)
    scale = hr.rsqrt(square / total + eps)
    y = (x - mean[:, None]) * scale[:, None]
    Y[m : m + ROWS, 0:COLUMNS] = y * weight[0:COLUMNS][None, :] + bias[0:COLUMNS][None, :]


def main():
    rng = np.random.default_rng()
    x = (rng.standard_normal((40, 100)) + 5).astype(np.float32)
    weight, bias = rng.standard_normal((2, 100)).astype(np.float32)
    y = np.empty_like(x)
    layer_norm.run_on("sim", x, weight, bias, y, target="sm_80")
    expected = (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + 1e-5) * weight + bias
    print("largest error:", np.abs(y - expected).max())


if __name__ == "__main__":
    main()
