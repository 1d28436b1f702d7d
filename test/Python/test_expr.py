"""Grid expressions: values, rounding and faults."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headrace import LaunchError
from headrace.runtime.record import parse
from headrace.runtime.schema import evaluate
from records import gemm_record


def value_of(expr, dims=(), scalars=()):
    return evaluate(expr, lambda arg, dim: dims[arg][dim], lambda arg: scalars[arg])


def test_leaves():
    assert value_of(7) == 7
    assert value_of(("dim", 1, 0), dims=[(2,), (5,)]) == 5
    assert value_of(("scalar", 1), scalars=[3, 9]) == 9


@given(a=st.integers(-(2**40), 2**40), b=st.integers(1, 2**40))
@settings(database=None)
def test_operators(a, b):
    assert value_of(("add", a, b)) == a + b
    assert value_of(("sub", a, b)) == a - b
    assert value_of(("mul", a, b)) == a * b
    assert value_of(("min", a, b)) == min(a, b)
    assert value_of(("max", a, b)) == max(a, b)
    down, rest, up = (value_of((op, a, b)) for op in ("floordiv", "mod", "ceildiv"))
    assert down * b + rest == a
    assert 0 <= rest < b
    assert up == down + (rest > 0)


def test_nesting():
    tiles = ("mul", ("ceildiv", ("dim", 0, 0), 128), ("ceildiv", ("dim", 0, 1), 256))
    assert value_of(tiles, dims=[(129, 256)]) == 2
    assert value_of(tiles, dims=[(0, 256)]) == 0


@pytest.mark.parametrize("op", ["ceildiv", "floordiv", "mod"])
def test_rejects_divisor_below_one(op):
    with pytest.raises(LaunchError) as caught:
        value_of((op, 5, 0))
    assert str(caught.value) == f"launch grid: expected a divisor of at least 1 in {op}, got 0"


FAULTS = [
    ("x", "expected 'grid.x' to be an integer or [operator, ...], got \"x\""),
    ([3, 4], "expected 'grid.x' to start with an operator, got [3, 4]"),
    (["pow", 1, 2], "expected 'grid.x' to be [dim, arg, d], [scalar, arg] or [operator, a, b], got [\"pow\", 1, 2]"),
    (["add", 1], "expected 'grid.x' to be [dim, arg, d], [scalar, arg] or [operator, a, b], got [\"add\", 1]"),
    (["add", 1, ["dim", 0, 5]], "expected 'grid.x' to name a dimension of an array of rank 2, got 5"),
    (["scalar", 3], "expected 'grid.x' to refer to an integer scalar, got \"f32\""),
]


@pytest.mark.parametrize(("expr", "message"), FAULTS)
def test_rejects_malformed_expression(expr, message):
    record = gemm_record(grid={"x": expr, "y": 1, "z": 1, "persistent": False})
    with pytest.raises(LaunchError) as caught:
        parse(record, "r.json")
    assert str(caught.value) == f"launch record 'r.json': {message}"
