"""The interpreter's arithmetic: every operation of arith and math against numpy, and where rounding matters."""

import ml_dtypes
import numpy as np
import pytest
from test_interpreter import NUMPY, apply

from headrace.interpreter import InterpreterError

RNG = np.random.default_rng(11)


def floats(dtype, count=256):
    return (RNG.standard_normal(count) * 8).astype(dtype)


def integers(dtype, count=256):
    info = np.iinfo(dtype)
    return RNG.integers(info.min, info.max, count, dtype, endpoint=True)


def same(got, expected):
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(got.astype(np.float64), np.asarray(expected).astype(np.float64))


@pytest.mark.parametrize("name", ["f16", "f32", "f64"])
@pytest.mark.parametrize(
    ("op", "function"),
    [
        ("addf", np.add), ("subf", np.subtract), ("mulf", np.multiply), ("divf", np.divide), ("remf", np.fmod),
        ("maximumf", np.maximum), ("minimumf", np.minimum), ("maxnumf", np.fmax), ("minnumf", np.fmin),
    ],
)  # fmt: skip
def test_float_operation_is_numpys(name, op, function):
    x, y = floats(NUMPY[name]), floats(NUMPY[name])
    x[:3], y[1:4] = [np.nan, np.inf, -np.inf], [np.nan, 0, 1]
    with np.errstate(all="ignore"):
        expected = function(x, y)
    same(apply(f"arith.{op} %0, %1 : $0", x, y, result=np.empty_like(x)), expected)


@pytest.mark.parametrize("name", ["bf16", "f16"])
def test_narrow_float_operations_round_once(name):
    x, y = floats(NUMPY[name]), floats(NUMPY[name])
    wide = x.astype(np.float32) * y.astype(np.float32)
    same(apply("arith.mulf %0, %1 : $0", x, y, result=np.empty_like(x)), wide.astype(NUMPY[name]))


@pytest.mark.parametrize(("op", "larger"), [("maximumf", 0.0), ("minimumf", -0.0)])
def test_zeros_have_an_order(op, larger):
    x, y = np.array([0.0, -0.0], np.float32), np.array([-0.0, 0.0], np.float32)
    got = apply(f"arith.{op} %0, %1 : $0", x, y, result=np.empty_like(x))
    assert list(np.signbit(got)) == [np.signbit(larger)] * 2


@pytest.mark.parametrize("name", ["i8", "i16", "i32", "i64"])
@pytest.mark.parametrize(
    ("op", "function"),
    [
        ("addi", np.add), ("subi", np.subtract), ("muli", np.multiply), ("andi", np.bitwise_and),
        ("ori", np.bitwise_or), ("xori", np.bitwise_xor), ("maxsi", np.maximum), ("minsi", np.minimum),
        ("floordivsi", np.floor_divide),
        ("maxui", lambda x, y: np.maximum(unsigned(x), unsigned(y)).view(x.dtype)),
        ("minui", lambda x, y: np.minimum(unsigned(x), unsigned(y)).view(x.dtype)),
        ("divui", lambda x, y: (unsigned(x) // unsigned(y)).view(x.dtype)),
        ("remui", lambda x, y: (unsigned(x) % unsigned(y)).view(x.dtype)),
    ],
)  # fmt: skip
def test_integer_operation_wraps_as_numpys(name, op, function):
    x, y = integers(NUMPY[name]), integers(NUMPY[name])
    y[y == 0] = 1
    np.testing.assert_array_equal(apply(f"arith.{op} %0, %1 : $0", x, y, result=np.empty_like(x)), function(x, y))


def unsigned(x):
    return x.view(f"u{x.dtype.itemsize}")


@pytest.mark.parametrize(
    ("op", "expected"),
    [("divsi", [2, -2, -2, 2]), ("remsi", [1, -1, 1, -1]), ("ceildivsi", [3, -2, -2, 3]),
     ("floordivsi", [2, -3, -3, 2])],
)  # fmt: skip
def test_signed_division_rounds_as_named(op, expected):
    x, y = np.array([7, -7, 7, -7], np.int32), np.array([3, 3, -3, -3], np.int32)
    assert list(apply(f"arith.{op} %0, %1 : $0", x, y, result=np.empty_like(x))) == expected


def test_ceildivui_takes_operands_as_unsigned():
    x, y = np.array([7, -1], np.int8), np.array([2, 2], np.int8)
    assert list(apply("arith.ceildivui %0, %1 : $0", x, y, result=np.empty_like(x))) == [4, -128]


def test_division_by_zero_names_operation_and_line():
    x = np.zeros(4, np.int32)
    with pytest.raises(InterpreterError, match=r"line 5: arith.divsi by zero"):
        apply("arith.divsi %0, %1 : $0", x, x, result=np.empty_like(x))


@pytest.mark.parametrize(
    ("op", "expected"), [("shli", [2, -128, 0, 0]), ("shrsi", [0, -32, 0, 0]), ("shrui", [0, 96, 0, 0])]
)
def test_shifts_and_their_poison(op, expected):
    x, y = np.array([1, -64, 1, -1], np.int8), np.array([1, 1, 8, -1], np.int8)
    assert list(apply(f"arith.{op} %0, %1 : $0", x, y, result=np.empty_like(x))) == expected


@pytest.mark.parametrize(("predicate", "function"), [("slt", np.less), ("sge", np.greater_equal), ("ne", np.not_equal),
                                                     ("ult", lambda x, y: unsigned(x) < unsigned(y))])  # fmt: skip
def test_integer_comparison_selects(predicate, function):
    x, y = integers(np.int32), integers(np.int32)
    got = compare_and_select(f"arith.cmpi {predicate}", x, y)
    np.testing.assert_array_equal(got, np.where(function(x, y), x, y))


@pytest.mark.parametrize(
    ("predicate", "expected"),
    [("oeq", [0, 1, 0]), ("ueq", [1, 1, 0]), ("one", [0, 0, 1]), ("une", [1, 0, 1]), ("olt", [0, 0, 1]),
     ("uge", [1, 1, 0]), ("ord", [0, 1, 1]), ("uno", [1, 0, 0])],
)  # fmt: skip
def test_float_comparison_with_nan(predicate, expected):
    x, y = np.array([np.nan, 1, 1], np.float32), np.array([1, 1, 2], np.float32)
    text = f"%m = arith.cmpf {predicate}, %0, %1 : $0\n%r = arith.extui %m : tensor<3xi1> to $r"
    got = apply(text, x, y, result=np.empty(3, np.int32))
    assert list(got) == expected


def compare_and_select(compare, x, y):
    mask = f"tensor<{len(x)}xi1>"
    text = f"%m = {compare}, %0, %1 : $0\n%r = arith.select %m, %0, %1 : {mask}, $0"
    return apply(text, x, y, result=np.empty_like(x))


@pytest.mark.parametrize("name", ["f8E4M3FN", "f8E5M2", "bf16", "f16"])
def test_truncation_rounds_to_nearest_even(name):
    x = np.concatenate([floats(np.float32), np.array([0, -0.0, 1e-6, -3e-5], np.float32)])
    same(apply("arith.truncf %0 : $0 to $r", x, result=np.empty(x.shape, NUMPY[name])), x.astype(NUMPY[name]))


@pytest.mark.parametrize(("name", "largest"), [("f8E4M3FN", 448), ("f8E5M2", 57344)])
def test_8_bit_floats_saturate(name, largest):
    x = np.array([1e6, -np.inf, np.nan, largest * 1.01], np.float32)
    got = apply("arith.truncf %0 : $0 to $r", x, result=np.empty(4, NUMPY[name])).astype(np.float32)
    np.testing.assert_array_equal(got, [largest, -largest, np.nan, largest])


def test_truncation_from_f64_rounds_once():
    x = np.array([1 + 2.0**-8 + 2.0**-40, 1 + 3 * 2.0**-8 - 2.0**-40, -1 - 2.0**-8 - 2.0**-40])
    got = apply("arith.truncf %0 : $0 to $r", x, result=np.empty(3, ml_dtypes.bfloat16))
    assert list(got.astype(np.float64)) == [1 + 2.0**-7, 1 + 2.0**-7, -1 - 2.0**-7]


@pytest.mark.parametrize("name", ["f8E4M3FN", "f8E5M2", "bf16", "f16"])
def test_extension_is_exact(name):
    size = np.dtype(NUMPY[name]).itemsize
    x = np.arange(1 << (8 * size), dtype=f"u{size}").view(NUMPY[name])
    same(apply("arith.extf %0 : $0 to $r", x, result=np.empty(x.shape, np.float32)), x.astype(np.float32))


def test_integers_to_floats_round_once():
    x = np.array([(1 << 54) + (1 << 45) + 1, -3, 2**62], np.int64)
    got = apply("arith.sitofp %0 : $0 to $r", x, result=np.empty(3, ml_dtypes.bfloat16)).astype(np.float64)
    assert list(got) == [2.0**54, -3, 2.0**62]
    x[0] = (1 << 54) + (1 << 46) + 1
    got = apply("arith.sitofp %0 : $0 to $r", x, result=np.empty(3, ml_dtypes.bfloat16)).astype(np.float64)
    assert got[0] == 2.0**54 + 2.0**47
    small = np.array([-1, 1], np.int8)
    assert list(apply("arith.uitofp %0 : $0 to $r", small, result=np.empty(2, np.float32))) == [255, 1]


def test_floats_to_integers_cut_and_saturate():
    x = np.array([1.9, -1.9, 1e9, -1e9, np.nan], np.float32)
    assert list(apply("arith.fptosi %0 : $0 to $r", x, result=np.empty(5, np.int8))) == [1, -1, 127, -128, 0]
    assert list(apply("arith.fptoui %0 : $0 to $r", x, result=np.empty(5, np.int8))) == [1, 0, -1, 0, 0]


def test_integer_conversions():
    x = np.array([-1, 127, -128], np.int8)
    assert list(apply("arith.extsi %0 : $0 to $r", x, result=np.empty(3, np.int32))) == [-1, 127, -128]
    assert list(apply("arith.extui %0 : $0 to $r", x, result=np.empty(3, np.int32))) == [255, 127, 128]
    wide = np.array([257, -129, 5], np.int32)
    assert list(apply("arith.trunci %0 : $0 to $r", wide, result=np.empty(3, np.int8))) == [1, 127, 5]


def test_bitcast_keeps_bits():
    x = floats(np.float32)
    np.testing.assert_array_equal(apply("arith.bitcast %0 : $0 to $r", x, result=np.empty(256, np.int32)), x.view("i4"))


@pytest.mark.parametrize(
    ("op", "function"),
    [
        ("exp", np.exp), ("exp2", np.exp2), ("log", np.log), ("log2", np.log2), ("sqrt", np.sqrt),
        ("rsqrt", lambda x: 1 / np.sqrt(x)), ("tanh", np.tanh), ("absf", np.abs), ("ceil", np.ceil),
        ("floor", np.floor), ("trunc", np.trunc), ("roundeven", np.rint),
    ],
)  # fmt: skip
def test_math_function_is_rounded_once(op, function):
    x = np.abs(floats(np.float32)) + np.float32(0.5)
    expected = function(x.astype(np.float64)).astype(np.float32)
    same(apply(f"math.{op} %0 : $0", x, result=np.empty_like(x)), expected)


def test_integer_math():
    x = np.array([-5, 1, 0, 127], np.int8)
    assert list(apply("math.absi %0 : $0", x, result=np.empty_like(x))) == [5, 1, 0, 127]
    assert list(apply("math.ctpop %0 : $0", x, result=np.empty_like(x))) == [7, 1, 0, 7]
    assert list(apply("math.ctlz %0 : $0", x, result=np.empty_like(x))) == [0, 7, 8, 1]


def test_fma_rounds_once():
    """Of x * x - p the rounding error of the product p is left."""
    for dtype in (np.float32, np.float64):
        x = (1 + RNG.random(64)).astype(dtype)
        p = x * x
        got = apply("math.fma %0, %0, %1 : $0", x, -p, result=np.empty_like(x))
        for value, product, error in zip(x, p, got, strict=True):
            numerator, denominator = float(value).as_integer_ratio()
            exact_numerator = numerator * numerator * 2**200 // (denominator * denominator)
            product_numerator = int(float(product) * 2**52) * 2**148
            assert exact_numerator - product_numerator == int(float(error) * 2**110) * 2**90


def test_fma_with_infinity_and_overflow():
    x = np.array([np.inf, 1e300, 2.0])
    y = np.array([1.0, 1e300, 3.0])
    got = apply("math.fma %0, %1, %2 : $0", x, y, np.array([1.0, -np.inf, 0.5]), result=np.empty_like(x))
    np.testing.assert_array_equal(got, [np.inf, -np.inf, 6.5])
