"""Kernels that are there already: functions of arrays, which pick tile sizes for the target.

    python3 python/examples/tutorial/07_ready_kernels.py

With torch tensors on a GPU, leave out `on` and `target`: ``hr.kernels.gemm(x, w, bias, activation="gelu")``.
"""

import ml_dtypes
import numpy as np

import headrace as hr


@hr.inline
def leaky(x):
    return hr.maximum(x, x * 0.125)


def largest_error(got, expected):
    return np.abs(got.astype(np.float32) - expected).max() / np.abs(expected).max()


def main():
    rng = np.random.default_rng()
    x, w = (rng.standard_normal(shape).astype(ml_dtypes.bfloat16) for shape in ((70, 96), (100, 96)))
    bias = rng.standard_normal(100).astype(np.float32)
    z = x.astype(np.float32) @ w.astype(np.float32).T + bias

    y = hr.kernels.gemm(x, w, bias, activation=leaky, on="sim", target="sm_90a")
    print("gemm with a function of one's own, largest relative error:", largest_error(y, np.maximum(z, z / 8)))

    # Constants of the kernel can be chosen instead of picked.
    y = hr.kernels.gemm(x, w, bias, on="sim", target="sm_80", BM=32, BN=128, STAGES=2)
    print("gemm with tiles of one's own, largest relative error:", largest_error(y, z))

    y = hr.kernels.softmax(x, on="sim", target="sm_100a")
    e = np.exp(x.astype(np.float32))
    print("softmax, largest relative error:", largest_error(y, e / e.sum(1, keepdims=True)))

    # Four heads of queries share two heads of keys and values.
    q, k, v = (rng.standard_normal((1, heads, 40, 64)).astype(ml_dtypes.bfloat16) for heads in (4, 2, 2))
    o = hr.kernels.attention(q, k, v, causal=True, on="sim", target="sm_90a")
    qf, kf, vf = (np.repeat(a.astype(np.float32), 4 // a.shape[1], axis=1) for a in (q, k, v))
    p = np.exp(np.where(np.tri(40, dtype=bool), qf @ kf.swapaxes(2, 3) / 8, -np.inf))
    print("attention, largest relative error:", largest_error(o, p / p.sum(-1, keepdims=True) @ vf))


if __name__ == "__main__":
    main()
