"""Configurations, keys, and functions that ask for values by name."""

from __future__ import annotations

import pytest

import headrace as hr
from headrace.tuning import SearchSpace, autotune, search_space
from headrace.tuning.keys import Key
from headrace.tuning.named import call_named
from records import array


def test_all_combinations_in_order():
    space = search_space(BM=[64, 128], BN=(16, 32))
    assert list(space) == [{"BM": 64, "BN": 16}, {"BM": 64, "BN": 32}, {"BM": 128, "BN": 16}, {"BM": 128, "BN": 32}]
    assert (len(space), space.names, space[-1], len(space[1:])) == (4, ("BM", "BN"), {"BM": 128, "BN": 32}, 3)


def test_condition_asks_for_some_constants():
    assert [c["BM"] for c in search_space(lambda BM: BM > 64, BM=[64, 128], BN=[1])] == [128]  # noqa: N803
    assert len(search_space(lambda **c: c["BM"] == c["BN"], BM=[1, 2], BN=[1, 2])) == 2


def test_spaces_add_without_doubles():
    more = [{"BN": 16, "BM": 64}, {"BM": 32, "BN": 8}]
    space = search_space(BM=[64], BN=[16]) + more
    assert list(space) == [{"BM": 64, "BN": 16}, {"BM": 32, "BN": 8}]
    # A boolean is no number here: a kernel is compiled anew for it.
    assert len(SearchSpace([{"x": True}, {"x": 1}])) == 2


def test_changing_a_configuration_does_not_change_the_space():
    space = search_space(BM=[64])
    space[0]["BM"] = 1
    assert space[0] == {"BM": 64}


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: search_space(BM=64), TypeError, "expected a list of values for 'BM', got 64"),
        (lambda: search_space(BM="64"), TypeError, "expected a list of values for 'BM', got '64'"),
        (lambda: search_space(BM=[]), ValueError, "expected at least one value for 'BM', got none"),
        (lambda: search_space(lambda x: True, BM=[1]), TypeError,
         "expected the parameters of the search space's condition among BM, got 'x'"),
        (lambda: SearchSpace([{"BM": 1}, {"BN": 1}]), ValueError, "with the same names, got BM and BN"),
        (lambda: SearchSpace([64]), TypeError, "expected configurations such as {'BM': 128, 'BN': 64}, got 64"),
    ],
)  # fmt: skip
def test_wrong_spaces(make, error, message):
    with pytest.raises(error) as caught:
        make()
    assert message in str(caught.value)


def test_call_named():
    values = {"a": 1, "b": 2}
    assert call_named(lambda: 5, values, "f") == 5
    assert call_named(lambda b, c=7: (b, c), values, "f") == (2, 7)
    assert call_named(lambda **all_of_them: all_of_them, values, "f") == values


@hr.kernel
def kernel(A, B, n: hr.i32, BM: hr.constexpr = 16, flag: hr.constexpr = False):  # noqa: N803
    i = hr.grid(hr.cdiv(n, BM)) * BM
    B[i : i + BM] = A[i : i + BM]


def key(entries):
    return Key(entries, kernel.parameters, ("BM",))


CALL = {"A": array((30, 7)), "B": array((9,)), "n": 5, "flag": True}


@pytest.mark.parametrize(
    ("entries", "values"),
    [
        ([], ()),
        (["A"], ((30, 7),)),
        (["A.shape"], ((30, 7),)),
        (["A.shape[1]", "n", "B.shape[-1]"], (7, 5, 9)),
        (["flag"], (True,)),
        (None, (("A", (30, 7)), ("B", (9,)), ("n", 5), ("flag", True))),
    ],
)
def test_keys(entries, values):
    assert key(entries).values(CALL) == values


@pytest.mark.parametrize(
    ("entries", "error", "message"),
    [
        ("A", TypeError, "expected a list of names as key, got 'A'"),
        (["C"], ValueError, "as key, got 'C'; the parameters are A, B, BM, flag, n"),
        (["A.strides"], ValueError, "got 'A.strides'"),
        ([3], ValueError, "got 3"),
        (["BM"], ValueError, "expected a key that the configurations do not set, got 'BM'"),
    ],
)
def test_wrong_keys(entries, error, message):
    with pytest.raises(error) as caught:
        key(entries)
    assert message in str(caught.value)


def test_keys_that_do_not_fit_the_call():
    with pytest.raises(ValueError, match="expected an array for 'n', whose shape is in the key, got 5"):
        key(["n.shape"]).values(CALL)
    with pytest.raises(ValueError, match=r"expected 'B' to have dimension 1, which is in the key, got shape \(9,\)"):
        key(["B.shape[1]"]).values(CALL)


@pytest.mark.parametrize(
    ("configs", "options", "error", "message"),
    [
        (
            [{"n": 3}],
            {},
            ValueError,
            "expected hr.constexpr parameters of 'kernel' in the configurations, got 'n'; it has",
        ),
        ([], {}, ValueError, "expected at least one configuration for 'kernel', got none"),
        ([{"BM": 1}], {"keep": 0}, ValueError, "expected keep of at least 1, got 0"),
        ([{"BM": 1}], {"rounds": 0}, ValueError, "expected rounds of at least 1, got 0"),
    ],
)
def test_wrong_decorations(configs, options, error, message):
    with pytest.raises(error) as caught:
        autotune(configs, **options)(kernel)
    assert message in str(caught.value)


def test_only_kernels_are_tuned():
    with pytest.raises(TypeError, match=r"expected an @hr\.kernel below @hr\.autotune, got function"):
        autotune([{"BM": 1}])(lambda x: x)
