"""C = A B^T, persistent and pipelined: one source for every generation of tensor cores.

python3 python/examples/tutorial/03_gemm.py
"""

# ruff: noqa: N803, N806

import ml_dtypes
import numpy as np

import headrace as hr


@hr.kernel
def gemm(A, B, C, BM: hr.constexpr = 128, BN: hr.constexpr = 128, BK: hr.constexpr = 64):
    M, N = C.shape
    K = A.shape[1]
    # As many programs as the GPU runs at once, each taking tile after tile, in an order that keeps L2 busy.
    for row, column in hr.persistent(hr.cdiv(M, BM), hr.cdiv(N, BN), group=16):
        m, n = row * BM, column * BN
        acc = hr.zeros((BM, BN), hr.f32)
        # Loads run ahead of the products, by as many trips as shared memory holds.
        for k in hr.pipelined(0, K, BK):
            a = A[m : m + BM, k : k + BK]
            b = B[n : n + BN, k : k + BK]
            acc = hr.dot(a, b.T, acc)  # b.T costs nothing; acc += a @ b.T is the same
        C[m : m + BM, n : n + BN] = acc.to(C.dtype)


def main():
    rng = np.random.default_rng()
    a, b = (rng.standard_normal(shape).astype(ml_dtypes.bfloat16) for shape in ((256, 192), (200, 192)))
    expected = a.astype(np.float32) @ b.astype(np.float32).T
    for target in ("sm_80", "sm_90a", "sm_100a", "sm_120a"):
        c = np.zeros((256, 200), ml_dtypes.bfloat16)
        run = gemm.run_on("sim", a, b, c, target=target, seeds=2)
        error = np.abs(c.astype(np.float32) - expected) / (np.abs(expected) + 1)
        matmul = [line.strip() for line in run.compiled.report().splitlines() if "matmul: " in line]
        print(f"{target}: largest relative error {error.max():.4f}, no races, {matmul[0]}")


if __name__ == "__main__":
    main()
