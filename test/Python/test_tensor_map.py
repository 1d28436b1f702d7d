"""Parameters of cuTensorMapEncodeTiled, computed without a GPU."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headrace import LaunchError
from headrace.runtime.schema import TensorMap
from headrace.runtime.tensor_map import encode_parameters
from records import BASE, array

MATRIX = TensorMap(0, "bf16", (1, 0), (64, 128), 128, 256)
BATCH = TensorMap(0, "u8", (2, 1, 0), (128, 64, 1), 128, 256)


def test_matrix():
    parameters = encode_parameters(MATRIX, array((300, 64), (72, 1)), "A")
    assert (parameters.address, parameters.dims, parameters.strides) == (BASE, (64, 300), (144,))
    assert (parameters.dtype, parameters.box, parameters.swizzle, parameters.l2_promotion) == (
        "bf16", (64, 128), 128, 256,
    )  # fmt: skip


def test_batch_of_bytes():
    parameters = encode_parameters(BATCH, array((5, 7, 32), dtype="e4m3"), "A")
    assert (parameters.dims, parameters.strides) == ((32, 7, 5), (32, 224))


def test_rank_1_has_no_strides():
    parameters = encode_parameters(TensorMap(0, "f32", (0,), (64,), 0, 0), array((9,), dtype="f32"), "A")
    assert (parameters.dims, parameters.strides) == ((9,), ())


@pytest.mark.parametrize("shape", [(0, 64), (300, 0), (0, 0)])
@pytest.mark.parametrize("ptr", [0, BASE, BASE + 2])
def test_empty_array_is_one_zero(shape, ptr):
    parameters = encode_parameters(MATRIX, array(shape, ptr=ptr), "A")
    assert (parameters.address, parameters.dims, parameters.strides) == (None, (1, 1), (16,))


@pytest.mark.parametrize("stride", [0, 1, 63, 2**45, -64])
def test_size_1_dimension_gets_a_legal_stride(stride):
    parameters = encode_parameters(MATRIX, array((1, 63), (stride, 1)), "A")
    assert (parameters.dims, parameters.strides) == ((63, 1), (128,))


def test_innermost_size_1_dimension_has_any_stride():
    parameters = encode_parameters(MATRIX, array((300, 1), (8, 8)), "A")
    assert (parameters.dims, parameters.strides) == ((1, 300), (16,))


def test_stride_of_size_1_dimension_stays_below_the_limit():
    parameters = encode_parameters(BATCH, array((1, 2**20, 16), (0, 2**30, 1), "u8"), "A")
    assert parameters.strides == (2**30, 16)


REFUSED = [
    (array((8, 64), (64, 2)), "expected stride 1 to be 1, got 2"),
    (array((8, 64), (65, 1)), "expected stride 0 to be a multiple of 16 bytes below 2^40, got 130 bytes"),
    (array((8, 64), (2**39, 1)), "expected stride 0 to be a multiple of 16 bytes below 2^40, got 1099511627776 bytes"),
    (array((8, 64), (0, 1)), "expected dimension 0 not to be a broadcast, got stride 0 and size 8"),
    (array((8, 64), ptr=BASE + 8), "expected a pointer that is a multiple of 16 bytes, got 0x7f0000000008"),
    (array((8, 64), dtype="f32"), "expected 2-byte elements, got f32, 4 bytes"),
]


@pytest.mark.parametrize(("given_array", "message"), REFUSED)
def test_refuses(given_array, message):
    with pytest.raises(LaunchError) as caught:
        encode_parameters(MATRIX, given_array, "A")
    assert str(caught.value) == f"argument 'A': {message}, because the kernel reads it by tensor map"


@given(shape=st.tuples(*[st.integers(0, 40)] * 3), padding=st.integers(0, 3))
@settings(database=None)
def test_parameters_are_always_legal(shape, padding):
    pitch = (-(-max(shape[2], 1) // 16) + padding) * 16
    given_array = array(shape, (pitch * max(shape[1], 1), pitch, 1), "u8")
    parameters = encode_parameters(BATCH, given_array, "A")
    assert all(1 <= dim <= 2**32 for dim in parameters.dims)
    assert all(stride % 16 == 0 and 0 < stride < 2**40 for stride in parameters.strides)
    assert all(inner <= outer for inner, outer in pairwise(parameters.strides))
    if 0 not in shape:
        assert parameters.dims == shape[::-1]
