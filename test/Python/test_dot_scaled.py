"""What numbers and scales of hr.dot_scaled mean, value by value, on the simulator and by the interpreter."""

# ruff: noqa: N803

import ml_dtypes
import numpy as np
import pytest
from library.quantized import e2m1, in_pairs

import headrace as hr

_E4M3 = ml_dtypes.float8_e4m3fn
#: Bias and NaN of an exponent, and the number 1 of e2m1.
_ONE, _NAN, _ONE_E2M1 = 127, 255, 2

TARGETS = ("sm_80", "sm_90a", "sm_100a", "sm_120a")
TARGETS_OF_FLOAT8 = ("sm_89", "sm_90a", "sm_100a", "sm_120a")


@hr.kernel
def product(A, SA, B, SB, C, M: hr.constexpr, W: hr.constexpr, S: hr.constexpr):
    hr.grid(1)
    a, b, of_a, of_b = A[0:M, 0:W], B[0:32, 0:W], SA[0:M, 0:S], SB[0:32, 0:S]
    C[0:M, 0:32] = hr.dot_scaled(a, of_a, b, of_b)


def exponents(values) -> np.ndarray:
    return np.asarray(values).astype(np.uint8).view(np.int8)


def check(target: str | None, wanted: np.ndarray, *operands: np.ndarray) -> None:
    """`target` None: by the interpreter."""
    rows, width = operands[0].shape
    c = np.full((rows, 32), 77.0, np.float32)
    constants = {"M": rows, "W": width, "S": operands[1].shape[1]}
    if target:
        product.run_on("sim", *operands, c, target=target, **constants)
    else:
        product.interpret(*operands, c, **constants)
    np.testing.assert_array_equal(c, wanted.astype(np.float32))


@pytest.mark.parametrize("target", [*TARGETS, None])
def test_every_number_of_4_bits(target):
    pairs = np.arange(128 * 16).reshape(128, 16) % 256
    codes = np.stack([pairs % 16, pairs // 16], axis=-1).reshape(128, 32)
    identity = in_pairs(np.eye(32, dtype=np.int64) * _ONE_E2M1)
    wanted = e2m1(codes)
    ones = exponents(np.full((128, 1), _ONE))
    check(target, wanted, in_pairs(codes), ones, identity, ones[:32])


@pytest.mark.parametrize("target", [*TARGETS_OF_FLOAT8, None])
def test_every_exponent(target):
    # The least is below what bf16 holds with all bits.
    powers = np.arange(256)
    numbers = np.tile(np.array([1.0, -1.875, 0.0, 1.75], _E4M3), (256, 8))
    wanted = numbers.astype(np.float64) * np.ldexp(1.0, powers - _ONE)[:, None]
    wanted[_NAN] = np.nan
    identity = np.eye(32).astype(_E4M3)
    check(target, wanted[1:], numbers[1:], exponents(powers[1:, None]), identity, exponents(np.full((32, 1), _ONE)))


@pytest.mark.parametrize("target", [*TARGETS_OF_FLOAT8, None])
def test_the_smallest_exponent(target):
    ones, identity = np.ones((16, 32)).astype(_E4M3), np.eye(32).astype(_E4M3)
    smallest, largest = exponents(np.zeros((16, 1))), exponents(np.full((32, 1), 254))
    check(target, np.ones((16, 32)), ones, smallest, identity, largest)


@pytest.mark.parametrize("target", [*TARGETS, None])
def test_beyond_the_range_of_bf16(target):
    # 4 * 2^127 is too large for a number of bf16, even if the other operand would make it small again.
    codes = np.full((16, 32), 6)
    largest, smallest = exponents(np.full((16, 1), 254)), exponents(np.zeros((32, 1)))
    check(target, np.full((16, 32), np.inf), in_pairs(codes), largest, in_pairs(np.full((32, 32), 6)), smallest)


@pytest.mark.parametrize("target", [*TARGETS_OF_FLOAT8, None])
def test_every_factor_of_e4m3(target):
    codes = np.arange(256).reshape(128, 2)
    factors = codes.astype(np.uint8).view(_E4M3)
    numbers = np.tile(np.arange(16), (128, 2))
    wanted = e2m1(numbers) * np.repeat(factors.astype(np.float64), 16, axis=1)
    # NaN of a block reaches every column.
    wanted[np.isnan(wanted).any(axis=1)] = np.nan
    identity = in_pairs(np.eye(32, dtype=np.int64) * _ONE_E2M1)
    check(target, wanted, in_pairs(numbers), factors, identity, np.ones((32, 2)).astype(_E4M3))


def test_accumulator_and_both_scales():
    rng = np.random.default_rng()
    a, b = (rng.integers(-4, 5, shape).astype(_E4M3) for shape in ((64, 64), (32, 64)))
    of_a, of_b = (rng.integers(125, 130, (rows, 2)) for rows in (64, 32))

    @hr.kernel
    def twice(A, SA, B, SB, C):
        hr.grid(1)
        acc = hr.dot_scaled(A[0:64, 0:64], SA[0:64, 0:2], B[0:32, 0:64], SB[0:32, 0:2], 1.0)
        C[0:64, 0:32] = hr.dot_scaled(A[0:64, 0:64], SA[0:64, 0:2], B[0:32, 0:64], SB[0:32, 0:2], acc)

    c = np.zeros((64, 32), np.float32)
    twice.run_on("sim", a, exponents(of_a), b, exponents(of_b), c, target="sm_90a")
    scaled = [
        numbers.astype(np.float64) * np.repeat(2.0 ** (scales - _ONE), 32, axis=1)
        for numbers, scales in ((a, of_a), (b, of_b))
    ]
    np.testing.assert_array_equal(c, 1 + 2 * scaled[0] @ scaled[1].T)


def test_report_says_how_it_is_multiplied():
    types = {"A": hr.i8[:, ::1], "SA": hr.i8[:, ::1], "B": hr.i8[:, ::1], "SB": hr.i8[:, ::1], "C": hr.f32[:, ::1]}
    compiled = hr.compile(product, {**types, "M": 64, "W": 32, "S": 2}, "sm_90a")
    assert "numbers take their scales before and are multiplied as bf16" in str(compiled.report())


@pytest.mark.parametrize("dtype", [np.uint8, ml_dtypes.float8_e8m0fnu])
def test_bytes_of_others_are_taken_as_they_are(dtype):
    numbers = np.ones((64, 64), _E4M3)
    scales = np.full((64, 2), _ONE + 1, np.uint8).view(dtype)
    c = hr.kernels.microscaled_gemm(numbers, scales, numbers, scales, out_dtype=hr.f32, on="sim", target="sm_90a")
    np.testing.assert_array_equal(c, np.full((64, 64), 256.0, np.float32))


def test_rows_that_are_no_whole_blocks():
    numbers, scales = np.ones((64, 40), _E4M3), np.full((64, 2), _ONE, np.int8)
    with pytest.raises(hr.LaunchError, match="expected a multiple of 32 numbers in a row, got 40"):
        hr.kernels.microscaled_gemm(numbers, scales, numbers, scales, on="sim", target="sm_90a")
