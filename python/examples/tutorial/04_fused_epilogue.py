"""A GEMM whose epilogue is a function: bias and activation, chosen when the kernel is compiled.

python3 python/examples/tutorial/04_fused_epilogue.py
"""

# ruff: noqa: N803

import ml_dtypes
import numpy as np

import headrace as hr


@hr.inline
def gelu(x):
    return x * hr.sigmoid(1.702 * x)


@hr.inline
def relu(x):
    return hr.maximum(x, 0.0)


@hr.kernel
def linear(
    X, W, bias, Y, activation: hr.constexpr, BM: hr.constexpr = 64, BN: hr.constexpr = 64, BK: hr.constexpr = 64
):
    i, j = hr.grid(hr.cdiv(Y.shape[0], BM), hr.cdiv(Y.shape[1], BN))
    m, n = i * BM, j * BN
    acc = hr.zeros((BM, BN), hr.f32)
    for k in hr.pipelined(0, X.shape[1], BK):
        acc += X[m : m + BM, k : k + BK] @ W[n : n + BN, k : k + BK].T
    # A row of the bias, repeated down the tile.
    acc = acc + bias[n : n + BN][None, :]
    if activation is not None:  # known when the kernel is compiled: no branch is left
        acc = activation(acc)
    Y[m : m + BM, n : n + BN] = acc.to(Y.dtype)


def main():
    rng = np.random.default_rng()
    x, w = (rng.standard_normal(shape).astype(ml_dtypes.bfloat16) for shape in ((128, 96), (128, 96)))
    bias = rng.standard_normal(128).astype(np.float32)
    z = x.astype(np.float32) @ w.astype(np.float32).T + bias
    sigmoid = 1 / (1 + np.exp(np.clip(-1.702 * z, -80, 80)))
    for name, activation, expected in (
        ("none", None, z),
        ("relu", relu, np.maximum(z, 0)),
        ("gelu", gelu, z * sigmoid),
    ):
        y = np.zeros((128, 128), np.float32)
        linear.run_on("sim", x, w, bias, y, activation, target="sm_90a")
        print(f"{name}: largest error {np.abs(y - expected).max():.1e}")


if __name__ == "__main__":
    main()
