"""Softmax of each row: a fill other than 0, reductions, broadcasting.

python3 python/examples/tutorial/02_row_softmax.py
"""

# ruff: noqa: N803

import numpy as np

import headrace as hr


@hr.kernel
def softmax(X, Y, ROWS: hr.constexpr = 16, COLUMNS: hr.constexpr = 128):
    m = hr.grid(hr.cdiv(X.shape[0], ROWS)) * ROWS
    # The row is as wide as COLUMNS says, or less: what is not there must not be the maximum.
    x = hr.load(X[m : m + ROWS, 0:COLUMNS], fill=float("-inf"))
    # keepdims leaves an axis of extent 1, which broadcasts over the row, as in numpy.
    p = hr.exp(x - x.max(axis=1, keepdims=True))
    Y[m : m + ROWS, 0:COLUMNS] = p / hr.sum(p, axis=1, keepdims=True)


def main():
    x = np.random.default_rng().standard_normal((50, 100)).astype(np.float32)
    y = np.empty_like(x)
    softmax.run_on("sim", x, y, target="sm_80")
    e = np.exp(x - x.max(1, keepdims=True))
    print("largest error:", np.abs(y - e / e.sum(1, keepdims=True)).max())

    # A mistake is an error at its line, before anything runs.
    try:
        softmax.run_on("sim", x, y, ROWS=x.shape, target="sm_80")
    except hr.CompileError as error:
        print(error)


if __name__ == "__main__":
    main()
