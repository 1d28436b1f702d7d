"""Twins of the library's products of 4-bit and 8-bit numbers, which are kernels of the package."""

from __future__ import annotations

from language_twins import VECTOR, twin

import headrace as hr
from headrace.kernels.block_scaled import block_scaled_gemm_kernel
from headrace.kernels.microscaled import microscaled_gemm_kernel
from headrace.kernels.scaled import scaled_gemm_kernel
from headrace.kernels.weights import int4_weights_kernel, int8_weights_kernel


def _scaled(operand: hr.DType):
    return lambda t: {
        **dict.fromkeys("AB", operand[:, ::1]),
        "row_scale": VECTOR,
        "column_scale": VECTOR,
        "C": t[:, ::1],
    }


def _weights(t: hr.DType):
    return {"A": t[:, ::1], "W": hr.i8[:, ::1], "S": t[:, ::1], "C": t[:, ::1]}


twin(_scaled(hr.e4m3), "gemm_fp8_row_scaled", ACC=hr.f32)(scaled_gemm_kernel)
twin(_scaled(hr.i8), "gemm_int8_scaled", ACC=hr.i32)(scaled_gemm_kernel)
twin(
    lambda t: {
        **dict.fromkeys("AB", hr.e4m3[:, ::1]),
        "SA": hr.f32[:, ::1],
        "SB": hr.f32[:, ::1].aligned(1),
        "C": t[:, ::1],
    },
    "gemm_fp8_block_scaled",
)(block_scaled_gemm_kernel)
twin(
    lambda t: {
        **dict.fromkeys("AB", t[:, ::1]),
        **dict.fromkeys(("SA", "SB"), hr.i8[:, ::1].aligned(1)),
        "C": hr.bf16[:, ::1],
    },
    "gemm_microscaled",
)(microscaled_gemm_kernel)
twin(_weights, "gemm_int8_weights")(int8_weights_kernel)
twin(_weights, "gemm_int4_weights")(int4_weights_kernel)
