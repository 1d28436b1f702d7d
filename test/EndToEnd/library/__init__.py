"""Kernels in .mlir, each with inputs, a float64 reference and the error it may have. See `catalog` for the list."""
