"""Headrace: pipelined tensor-core kernels, from Python over tiles to a launched cubin.

``import headrace as hr``. A kernel is a Python function over tiles, marked `hr.kernel`; inside it, arrays are sliced,
tiles are computed with, and loops are `hr.pipelined`. ``kernel(...)`` launches it on a GPU, ``kernel.run_on("sim",
...)`` runs it anywhere with race checking, `hr.compile` shows every level of it.

Importing this package loads no compiler, no CUDA library and no array library; each part is loaded when it is first
used. `hr.Kernel` launches a kernel that is compiled already, `hr.DeviceArray` describes an array by its pointer.
"""

from __future__ import annotations

import importlib

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
    full,
    iota,
    load,
    reshape,
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

_LAZY = {
    "Kernel": "headrace.runtime.launch",
    "DeviceArray": "headrace.runtime.arrays",
    "Compiled": "headrace.driver.compiled",
    "compile": "headrace.driver.compiled",
    "PerformanceWarning": "headrace.driver.diagnostics",
    "Simulation": "headrace.driver.simulator",
    "SimulationError": "headrace.driver.simulator",
    "ToolError": "headrace.driver.tools",
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
    "kernel",
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
    "sigmoid",
    "sqrt",
    "static_assert",
    "store",
    "sum",
    "tanh",
    "tile_index",
    "transpose",
    "trunc",
    "unroll",
    "where",
    "zeros",
]  # fmt: skip


def __getattr__(name: str):
    if name in _LAZY:
        return getattr(importlib.import_module(_LAZY[name]), name)
    raise AttributeError(f"module 'headrace' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
