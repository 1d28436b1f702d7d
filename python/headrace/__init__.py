"""Headrace: pipelined tensor-core kernels, from Python over tiles to a launched cubin.

``import headrace as hr``. A kernel is a Python function over tiles, marked `hr.kernel`; inside it, arrays are sliced,
tiles are computed with, and loops are `hr.pipelined`. ``kernel(...)`` launches it on a GPU, ``kernel.run_on("sim",
...)`` runs it anywhere with race checking, `hr.compile` shows every level of it.

Importing this package loads no compiler, no CUDA library and no array library; each part is loaded when it is first
used. `hr.kernels` has ready kernels as functions of arrays. `hr.Kernel` launches a kernel that is compiled already,
`hr.DeviceArray` describes an array by its pointer.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from headrace.errors import HeadraceError, LaunchError
from headrace.language.api.control import (
    assume,
    cdiv,
    grid,
    num_programs,
    persistent,
    pipelined,
    program_id,
    static_assert,
    tile_index,
    unroll,
)
from headrace.language.api.elementwise import (
    abs,
    ceil,
    clz,
    copysign,
    exp,
    exp2,
    floor,
    fma,
    log,
    log2,
    maximum,
    minimum,
    popcount,
    round,
    rsqrt,
    sigmoid,
    sqrt,
    tanh,
    trunc,
    where,
)
from headrace.language.api.memory import (
    arange,
    atomic_add,
    atomic_max,
    atomic_min,
    bitcast,
    broadcast_to,
    dot,
    dot_scaled,
    full,
    iota,
    join,
    load,
    reshape,
    split,
    store,
    transpose,
    zeros,
)
from headrace.language.api.reductions import (
    all,
    any,
    argmax,
    argmin,
    cumprod,
    cumsum,
    max,
    min,
    prod,
    reduce,
    scan,
    sum,
)
from headrace.language.api.types import Array, Scalar, Tile, constexpr
from headrace.language.dtypes import (
    ArrayType,
    DType,
    array,
    bf16,
    e4m3,
    e5m2,
    f16,
    f32,
    f64,
    i1,
    i8,
    i16,
    i32,
    i64,
)
from headrace.language.errors import CompileError, InternalError
from headrace.language.functions import inline
from headrace.language.kernel import KernelFunction, kernel

if TYPE_CHECKING:
    from headrace import kernels
    from headrace.driver.compiled import Compiled, compile
    from headrace.driver.diagnostics import PerformanceWarning
    from headrace.driver.simulator import Simulation, SimulationError
    from headrace.driver.tools import ToolError
    from headrace.runtime.arrays import DeviceArray
    from headrace.runtime.launch import Kernel
    from headrace.torch_operator import torch_op
    from headrace.tuning import autotune, bench, search_space

#: Names by the modules that they are loaded from when they are first used; a module's own name is the module.
_LAZY = {
    "Kernel": "headrace.runtime.launch",
    "DeviceArray": "headrace.runtime.arrays",
    "Compiled": "headrace.driver.compiled",
    "compile": "headrace.driver.compiled",
    "PerformanceWarning": "headrace.driver.diagnostics",
    "Simulation": "headrace.driver.simulator",
    "SimulationError": "headrace.driver.simulator",
    "ToolError": "headrace.driver.tools",
    "autotune": "headrace.tuning",
    "bench": "headrace.tuning",
    "search_space": "headrace.tuning",
    "torch_op": "headrace.torch_operator",
    "kernels": "headrace.kernels",
}

__all__ = [
    "Array",
    "ArrayType",
    "CompileError",
    "Compiled",
    "DType",
    "DeviceArray",
    "HeadraceError",
    "InternalError",
    "Kernel",
    "KernelFunction",
    "LaunchError",
    "PerformanceWarning",
    "Scalar",
    "Simulation",
    "SimulationError",
    "Tile",
    "ToolError",
    "abs",
    "all",
    "any",
    "arange",
    "argmax",
    "argmin",
    "array",
    "assume",
    "atomic_add",
    "atomic_max",
    "atomic_min",
    "autotune",
    "bench",
    "bf16",
    "bitcast",
    "broadcast_to",
    "cdiv",
    "ceil",
    "clz",
    "compile",
    "constexpr",
    "copysign",
    "cumprod",
    "cumsum",
    "dot",
    "dot_scaled",
    "e4m3",
    "e5m2",
    "exp",
    "exp2",
    "f16",
    "f32",
    "f64",
    "floor",
    "fma",
    "full",
    "grid",
    "i1",
    "i8",
    "i16",
    "i32",
    "i64",
    "inline",
    "iota",
    "join",
    "kernel",
    "kernels",
    "load",
    "log",
    "log2",
    "max",
    "maximum",
    "min",
    "minimum",
    "num_programs",
    "persistent",
    "pipelined",
    "popcount",
    "prod",
    "program_id",
    "reduce",
    "reshape",
    "round",
    "rsqrt",
    "scan",
    "search_space",
    "sigmoid",
    "split",
    "sqrt",
    "static_assert",
    "store",
    "sum",
    "tanh",
    "tile_index",
    "torch_op",
    "transpose",
    "trunc",
    "unroll",
    "where",
    "zeros",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        module = importlib.import_module(_LAZY[name])
        return module if module.__name__ == f"{__name__}.{name}" else getattr(module, name)
    raise AttributeError(f"module 'headrace' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
