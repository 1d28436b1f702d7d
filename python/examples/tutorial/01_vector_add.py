"""A first kernel: z = x + y, one tile of BLOCK elements for each program.

    python3 python/examples/tutorial/01_vector_add.py

Nothing but numpy is needed: the kernel is compiled for a GPU and runs on the simulator.
"""

# ruff: noqa: N803

import numpy as np

import headrace as hr


@hr.kernel
def add(X, Y, Z, BLOCK: hr.constexpr = 256):
    # The grid: how many programs there are, and which one this is.
    start = hr.grid(hr.cdiv(Z.shape[0], BLOCK)) * BLOCK
    # A slice of constant length is a tile. What lies outside of the array reads as 0 and is not written.
    Z[start : start + BLOCK] = X[start : start + BLOCK] + Y[start : start + BLOCK]


def main():
    rng = np.random.default_rng()
    x, y = rng.random((2, 1000), np.float32)
    z = np.full(1000, np.nan, np.float32)

    add.run_on("sim", x, y, z, target="sm_80")  # on a GPU: add(x, y, z) with arrays of torch or cupy
    print("right:", np.array_equal(z, x + y))

    # What the language makes of it. The facts are those of the call: float32, stride 1, 16-byte aligned.
    print(add.mlir(x, y, z))

    # A compiled kernel needs no arrays, only their types.
    vector = hr.f32[::1]
    compiled = hr.compile(add, {"X": vector, "Y": vector, "Z": vector}, "sm_90a")
    print(compiled.report())


if __name__ == "__main__":
    main()
