"""Flash attention, forward, causal: two products in one loop with an online softmax between them.

python3 python/examples/tutorial/06_attention.py
"""

# ruff: noqa: N803

import ml_dtypes
import numpy as np

import headrace as hr

LOG2E = 1.4426950408889634


@hr.kernel
def attention(Q, K, V, O, scale: hr.constexpr, BM: hr.constexpr = 64, BN: hr.constexpr = 64, D: hr.constexpr = 64):  # noqa: E741
    # One program for BM rows of one head. Arrays are [heads, rows, D].
    i, head = hr.grid(hr.cdiv(Q.shape[1], BM), Q.shape[0])
    m = i * BM
    q = Q[head, m : m + BM, 0:D]
    acc = hr.zeros((BM, D), hr.f32)
    total = hr.zeros((BM,), hr.f32)
    largest = hr.full((BM,), float("-inf"), hr.f32)
    rows = m + hr.arange(BM)
    for n in hr.pipelined(0, m + BM, BN):
        s = q @ K[head, n : n + BN, 0:D].T * (scale * LOG2E)
        columns = n + hr.arange(BN)
        s = hr.where(rows[:, None] >= columns[None, :], s, float("-inf"))
        new = hr.maximum(largest, s.max(axis=1))
        p = hr.exp2(s - new[:, None])
        shrink = hr.exp2(largest - new)
        total = total * shrink + hr.sum(p, axis=1)
        acc = hr.dot(p.to(V.dtype), V[head, n : n + BN, 0:D], acc * shrink[:, None])
        largest = new
    O[head, m : m + BM, 0:D] = (acc / total[:, None]).to(O.dtype)


def main():
    heads, length, d = 2, 128, 64
    rng = np.random.default_rng()
    q, k, v = (rng.standard_normal((heads, length, d)).astype(ml_dtypes.bfloat16) for _ in range(3))
    o = np.zeros_like(q)
    attention.run_on("sim", q, k, v, o, d**-0.5, target="sm_80")

    qf, kf, vf = (x.astype(np.float32) for x in (q, k, v))
    s = np.where(np.tri(length, dtype=bool), qf @ kf.transpose(0, 2, 1) * d**-0.5, -np.inf)
    p = np.exp(s - s.max(-1, keepdims=True))
    expected = p / p.sum(-1, keepdims=True) @ vf
    print("largest error:", np.abs(o.astype(np.float32) - expected).max())


if __name__ == "__main__":
    main()
