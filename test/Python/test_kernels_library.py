"""The functions of headrace.kernels on the simulator, called as the library's .mlir files are: the same references."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from language_tools import use_tools
from library.case import Call
from library.catalog import variants
from sim_reference import Array

import headrace as hr

TARGETS = ("sm_80", "sm_90a", "sm_100a")
#: Numbers of a file's ACT.
ACTIVATIONS = ("relu", "gelu", "silu")

#: By the name of a file: calls its function with the file's arguments, given the values of its parameters.
FUNCTIONS: dict[str, Callable[..., Any]] = {
    "attention": lambda s, q, k, v, o, scale, **on: hr.kernels.attention(
        q, k, v, causal=s.get("CAUSAL") == "true", scale=scale, out=o, **on
    ),
    "gemm_batched": lambda s, a, b, c, **on: hr.kernels.batched_gemm(a, b, out=c, **on),
    "gemm_bias_activation": lambda s, a, b, bias, c, **on: hr.kernels.gemm(
        a, b, bias, activation=ACTIVATIONS[s["ACT"]], out=c, **on
    ),
    "gemm_fp8_block_scaled": lambda s, a, b, sa, sb, c, **on: hr.kernels.block_scaled_gemm(a, b, sa, sb, out=c, **on),
    "gemm_fp8_row_scaled": lambda s, a, b, sa, sb, c, **on: hr.kernels.scaled_gemm(a, b, sa, sb, out=c, **on),
    "gemm_grouped": lambda s, a, b, offsets, c, **on: hr.kernels.grouped_gemm(a, b, offsets, out=c, **on),
    "gemm_int4_weights": lambda s, a, w, scales, c, **on: hr.kernels.int4_weights_gemm(
        a, w, scales, group=2 * s.get("H", 32), out=c, **on
    ),
    "gemm_int8_scaled": lambda s, a, b, sa, sb, c, **on: hr.kernels.scaled_gemm(a, b, sa, sb, out=c, **on),
    "gemm_int8_weights": lambda s, a, w, scales, c, **on: hr.kernels.int8_weights_gemm(a, w, scales, out=c, **on),
    "gemm_microscaled": lambda s, a, sa, b, sb, c, **on: hr.kernels.microscaled_gemm(a, sa, b, sb, out=c, **on),
    "gemm_residual": lambda s, a, b, r, c, **on: hr.kernels.gemm(a, b, residual=r, out=c, **on),
    "gemm_split_k": lambda s, a, b, c, splits, **on: hr.kernels.split_k_gemm(a, b, splits, out=c, **on),
    "gemm_swiglu": lambda s, a, g, u, c, **on: hr.kernels.gated_gemm(a, g, u, out=c, **on),
    "layer_norm": lambda s, x, w, b, y, mean, rstd, eps, **on: hr.kernels.layer_norm(
        x, w, b, eps, mean=mean, rstd=rstd, out=y, **on
    ),
    "rms_norm": lambda s, x, w, y, rstd, eps, **on: hr.kernels.rms_norm(x, w, eps, rstd=rstd, out=y, **on),
    "softmax_rows": lambda s, x, y, **on: hr.kernels.softmax(x, out=y, **on),
}
#: Not those that a quick check leaves out, nor every width of rows.
VARIANTS = {
    variant.name: variant
    for variant in variants()
    if variant.source in FUNCTIONS and variant.in_quick and not variant.name.endswith("-17")
}


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", VARIANTS)
def test_call_of_the_library(name, target, monkeypatch, tmp_path):
    use_tools(monkeypatch, tmp_path)
    variant = VARIANTS[name]
    if target not in variant.targets:
        pytest.skip(f"{target} does not have these types")
    seed = int.from_bytes(os.urandom(4), "little")
    rng = np.random.default_rng(seed)
    first, *others = variant.launches(seed)
    for call in (first, rng.choice(np.array(others, object))):
        verdict = run(call, lambda *args: FUNCTIONS[variant.source](variant.settings, *args, on="sim", target=target))
        assert verdict.status == "ok", f"seed {seed}, {call.label}: {verdict.detail}"


def run(call: Call, function: Callable[..., Any]):
    """What `function` leaves in copies of the call's arrays, judged."""
    copies = {index: copy_of(call.args[index]) for index in call.arrays()}
    function(*(copies[index].view if index in copies else arg for index, arg in enumerate(call.args)))
    return call.judge({index: array.storage for index, array in copies.items()})


def copy_of(array: Array) -> Array:
    return Array(array.dtype, array.storage.copy(), array.slices)


def test_wrong_result_is_found():
    call = next(VARIANTS["gemm_residual"].launches(1))
    assert run(call, lambda a, b, r, c: None).status == "unwritten"
    assert run(call, lambda a, b, r, c: np.copyto(c, r)).status == "wrong"


def test_every_function_is_called():
    called = {name for lambda_ in FUNCTIONS.values() for name in lambda_.__code__.co_names} | {
        "pack_int4"
    }  # which prepares weights
    assert called >= set(hr.kernels.__all__)


@pytest.mark.parametrize("target", TARGETS)
def test_arrays_without_elements_may_have_any_strides(target, monkeypatch, tmp_path):
    use_tools(monkeypatch, tmp_path)
    whole = np.zeros((1, 63, 131), np.float16)
    x, out = whole[:0, :, 1:65], np.zeros((0, 63, 130), np.float16)[:, :, :63]
    assert hr.kernels.batched_gemm(x, x, out=out, on="sim", target=target) is out
