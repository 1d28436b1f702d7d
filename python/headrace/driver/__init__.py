"""From a kernel's MLIR to code that runs: the compiler, its cache, the simulator, the GPU."""
