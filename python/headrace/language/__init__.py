"""The kernel language: from a Python function to a module of the tile dialect, and nothing of the compiler.

`source`, `returns` and `liveness` read the function; `emitter` and `scope` hold the state of one emission;
`expressions`, `statements`, `branches`, `loops`, `functions` and `calls` walk the syntax; `values`, `affine` and
`templates` say what a value is and what is known of it; `operands`, `operators`, `products`, `pending`, `access` and
`attributes` what can be done with it. `api` has the documentation of built-in functions, `lowering` what they emit,
`hints` what they are called elsewhere. `mlir` prints; `facts`, `program` and `kernel` tie it to Python's calls.
"""
