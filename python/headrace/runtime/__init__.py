"""Loads compiled kernels and launches them. Needs the standard library and cuda-bindings, no compiler and no LLVM."""
