"""Ready kernels, as functions of arrays: products with epilogues, attention, softmax, norms, quantized products.

Each function checks its arguments' shapes, picks tile sizes for the GPU at hand, makes the result and launches a kernel
of the language, which stands above it in the same file: read them, and start from them.

Arrays are those of torch (results are torch's, launches go to its current stream), cupy, or anything that a kernel
takes if ``out`` is given. With ``on="sim"`` they are numpy's, and the simulator runs the code of `target`:

```python
c = hr.kernels.gemm(a, b, bias, activation="gelu")                       # on the GPU of a
c = hr.kernels.gemm(a, b, bias, activation="gelu", on="sim", target="sm_80")
```

Further keyword arguments are constants of the kernel (``BM=64``, ``STAGES=3``) instead of those that are picked.
Every function raises LaunchError for arguments that do not fit, and CompileError if the target has no such instructions
or a constant does not fit. Nothing is differentiated: `hr.torch_op` makes an operator, with a backward, of a kernel.
"""

from headrace.kernels.attention import attention
from headrace.kernels.batched import batched_gemm
from headrace.kernels.block_scaled import block_scaled_gemm
from headrace.kernels.gated import gated_gemm
from headrace.kernels.gemm import gemm
from headrace.kernels.grouped import grouped_gemm
from headrace.kernels.layer_norm import layer_norm
from headrace.kernels.microscaled import microscaled_gemm
from headrace.kernels.rms_norm import rms_norm
from headrace.kernels.scaled import scaled_gemm
from headrace.kernels.softmax import softmax
from headrace.kernels.split_k import split_k_gemm
from headrace.kernels.weights import int4_weights_gemm, int8_weights_gemm, pack_int4

__all__ = [
    "attention",
    "batched_gemm",
    "block_scaled_gemm",
    "gated_gemm",
    "gemm",
    "grouped_gemm",
    "int4_weights_gemm",
    "int8_weights_gemm",
    "layer_norm",
    "microscaled_gemm",
    "pack_int4",
    "rms_norm",
    "scaled_gemm",
    "softmax",
    "split_k_gemm",
]
