"""What people who come from other libraries write, and what it is called here."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from headrace.language.dtypes import FOREIGN_NAMES

#: Functions of Triton, numpy, torch and CuTe, by the name that one would look for in `hr`.
_FUNCTIONS = {
    "static_range": "hr.unroll",
    "range_constexpr": "hr.unroll",
    "multiple_of": "hr.assume",
    "max_contiguous": "hr.assume",
    "trans": "x.T",
    "permute": "x.T",
    "expand_dims": "x[:, None]",
    "broadcast": "hr.broadcast_to",
    "view": "hr.reshape",
    "ones": "hr.full(shape, 1)",
    "zeros_like": "hr.zeros(x.shape, x.dtype)",
    "full_like": "hr.full(x.shape, v, x.dtype)",
    "mean": "hr.sum(x, axis) / n",
    "matmul": "hr.dot",
    "gemm": "hr.dot",
    "select": "hr.where",
    "rint": "hr.round",
    "absolute": "hr.abs",
    "amax": "hr.max",
    "amin": "hr.min",
    "associative_scan": "hr.scan",
    "cast": "x.to(dtype)",
    "astype": "x.to(dtype)",
    "power": "x ** n",
    "clip": "hr.minimum(hr.maximum(x, low), high)",
    "clamp": "hr.minimum(hr.maximum(x, low), high)",
    "relu": "hr.maximum(x, 0.0)",
    "dot_general": "hr.dot",
    "softmax": "hr.exp(x - x.max(axis=1, keepdims=True)) and a division by its sum",
    "gather": "A[places, k:k+BK]",
    "scatter": "A[places, k:k+BK] = tile",
    "block_id": "hr.program_id",
    "program_ids": "hr.grid",
    "swizzle2d": "hr.tile_index",
    "make_tensor_descriptor": "A[m:m+BM, k:k+BK] on the array itself",
    "make_block_ptr": "A[m:m+BM, k:k+BK] on the array itself",
    "advance": "A[m:m+BM, k:k+BK] with the new offset",
    "cdiv_up": "hr.cdiv",
    "ceil_div": "hr.cdiv",
    "static_print": "print outside of the kernel",
    "jit": "hr.kernel",
    "device_print": 'print("x", x)',
    "device_assert": 'assert condition, "message"',
    "max_op": "hr.maximum",
    "syncthreads": "nothing: there are no threads to wait for",
    "debug_barrier": "nothing: there are no threads to wait for",
    "bool": "x != 0",
    "sin": "a series, or a table in an array",
    "cos": "a series, or a table in an array",
    "erf": "hr.tanh or hr.sigmoid for an approximation",
}

#: Keyword arguments of other libraries' functions.
_KEYWORDS = {
    "mask": "elements outside of the array read as the fill and are not written; for other masks write hr.where",
    "other": "write fill=",
    "padding_option": "write fill=",
    "boundary_check": "leave it out, edges are always checked",
    "eviction_policy": "write cache='evict_first' or 'evict_last'",
    "cache_modifier": "write cache=",
    "num_stages": "write stages=",
    "num_warps": "write @hr.kernel(warps=...)",
    "warp_specialize": "write specialize=True",
    "keep_dims": "write keepdims=",
    "dim": "write axis=",
    "allow_tf32": "write precision='tf32'",
    "input_precision": "write precision='tf32'",
    "out_dtype": "leave it out and cast the result with .to",
    "trans_b": "write b.T",
    "trans_a": "write a.T",
    "sem": "leave it out",
    "loop_unroll_factor": "write hr.unroll",
}

_SYNTAX = {
    "NamedExpr": ("':='", "an assignment on a line of its own"),
    "ListComp": ("a list comprehension", "a loop, or a tuple"),
    "SetComp": ("a set comprehension", "a loop, or a tuple"),
    "DictComp": ("a dictionary comprehension", "a loop, or names for the values"),
    "GeneratorExp": ("a generator", "a loop, or a tuple"),
    "Dict": ("a dictionary", "names for the values, or a tuple"),
    "Set": ("a set", "a tuple"),
    "Await": ("await", "nothing: a kernel runs on the GPU"),
    "Yield": ("yield", "a store to an array"),
    "YieldFrom": ("yield", "a store to an array"),
}


def for_function(name: str, known: Iterable[str]) -> str:
    """What `hr.name` may have meant, as code; "" if nothing is close."""
    if name in _FUNCTIONS:
        return _FUNCTIONS[name]
    if name in FOREIGN_NAMES:
        return f"hr.{FOREIGN_NAMES[name]}"
    close = difflib.get_close_matches(name, known, 1)
    return f"hr.{close[0]}" if close else ""


def for_keyword(name: str) -> str:
    """What to write instead of keyword argument `name`; "" if nothing is known."""
    return _KEYWORDS.get(name, "")


def for_syntax(kind: str) -> tuple[str, str]:
    """What the expression of class `kind` is called, and what to write instead."""
    return _SYNTAX.get(kind, (kind, "it in other words"))
