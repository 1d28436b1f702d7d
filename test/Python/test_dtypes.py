"""Bit patterns of scalars, against ml_dtypes and numpy."""

import ctypes
import math

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headrace import LaunchError
from headrace.runtime.dtypes import float_bits, scalar_to_ctypes

REFERENCE = {
    "bf16": (ml_dtypes.bfloat16, np.uint16),
    "f16": (np.float16, np.uint16),
    "e5m2": (ml_dtypes.float8_e5m2, np.uint8),
    "e4m3": (ml_dtypes.float8_e4m3fn, np.uint8),
}


@pytest.mark.parametrize("dtype", REFERENCE)
def test_every_value_and_midpoint(dtype):
    kind, raw = REFERENCE[dtype]
    codes = np.arange(2 ** (8 * np.dtype(raw).itemsize), dtype=raw)
    with np.errstate(invalid="ignore"):
        values = codes.view(kind).astype(np.float64)
    finite = np.sort(values[np.isfinite(values)])
    # Midpoints between neighbours are exact in float64 and must go to the even one.
    probes = np.concatenate([values[~np.isnan(values)], (finite[1:] + finite[:-1]) / 2])
    with np.errstate(over="ignore"):
        expected = probes.astype(np.float32).astype(kind).view(raw)
    assert [float_bits(float(p), dtype) for p in probes] == expected.tolist()


@pytest.mark.parametrize("dtype", REFERENCE)
@given(value=st.floats(width=32, allow_nan=False))
@settings(database=None, max_examples=500)
def test_any_float(dtype, value):
    kind, raw = REFERENCE[dtype]
    with np.errstate(over="ignore"):
        expected = np.float32(value).astype(kind).view(raw)
    assert float_bits(value, dtype) == expected


@pytest.mark.parametrize("dtype", REFERENCE)
def test_nan_stays_nan(dtype):
    kind, raw = REFERENCE[dtype]
    assert np.isnan(np.array(float_bits(math.nan, dtype), raw).view(kind).astype(np.float32))


def test_parameter_layouts():
    assert bytes(scalar_to_ctypes(1.5, "f32", "x")) == np.float32(1.5).tobytes()
    assert bytes(scalar_to_ctypes(3, "f64", "x")) == np.float64(3).tobytes()
    assert bytes(scalar_to_ctypes(-2, "i64", "x")) == np.int64(-2).tobytes()
    assert bytes(scalar_to_ctypes(True, "i1", "x")) == b"\x01"
    assert ctypes.sizeof(scalar_to_ctypes(1.0, "bf16", "x")) == 2
    assert scalar_to_ctypes(1e300, "f32", "x").value == math.inf


@pytest.mark.parametrize(
    ("value", "dtype", "message"),
    [
        ("a", "f32", "argument 'x': expected f32, got str"),
        (128, "i8", "argument 'x': expected a value of i8, -128 to 127, got 128"),
        (2, "i1", "argument 'x': expected a value of i1, 0 to 1, got 2"),
        (0.5, "i32", "argument 'x': expected i32, got float"),
    ],
)
def test_refuses(value, dtype, message):
    with pytest.raises(LaunchError) as caught:
        scalar_to_ctypes(value, dtype, "x")
    assert str(caught.value) == message
