"""Which launches are taken for repetitions of an earlier one."""

import sys
import types

import pytest

import headrace as hr
from headrace.driver import repeats


class _Tensor:
    """What a launch looks at of a tensor of torch."""

    def __init__(self, ptr=4096, shape=(8, 8), stride=(8, 1), dtype="f32", device=0):
        self._ptr, self.shape, self._stride, self.dtype = ptr, shape, stride, dtype
        self._device, self.is_cuda = device, device >= 0

    def get_device(self):
        return self._device

    def data_ptr(self):
        return self._ptr

    def stride(self):
        return self._stride


@pytest.fixture(autouse=True)
def torch(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", types.SimpleNamespace(Tensor=_Tensor))


def key(*args, grid=None, **kwargs):
    found = repeats.key_of(args, kwargs, grid)
    return found and found[0]


def test_equal_arguments_have_one_key():
    assert key(_Tensor(), 2.0, BM=64) == key(_Tensor(), 2.0, BM=64)
    assert hash(key(_Tensor(), None, hr.f32)) == hash(key(_Tensor(), None, hr.f32))
    nan = float("nan")
    assert key(_Tensor(), nan) == key(_Tensor(), float("nan"))


@pytest.mark.parametrize(
    "other",
    [
        (_Tensor(ptr=8192), 2),
        (_Tensor(shape=(8, 7)), 2),
        (_Tensor(stride=(16, 1)), 2),
        (_Tensor(dtype="f16"), 2),
        (_Tensor(device=1), 2),
        (_Tensor(), 2.0),
        (_Tensor(), True),
        (_Tensor(), "2"),
        (_Tensor(), None),
        (_Tensor(),),
    ],
)
def test_others_have_another(other):
    assert key(*other) not in (key(_Tensor(), 2), None)


def test_what_equals_but_differs():
    assert key(_Tensor(), 0.0) != key(_Tensor(), -0.0)
    assert key(_Tensor(), 1) != key(_Tensor(), True)
    assert key(_Tensor(), A=1, B=2) != key(_Tensor(), B=1, A=2)
    assert key(_Tensor(), grid=3) != key(_Tensor(), grid=4)


@pytest.mark.parametrize(
    "value", [(1, 2), object(), 1 + 2j, _Tensor(device=-1)], ids=["tuple", "object", "complex", "cpu"]
)
def test_cannot_tell(value):
    assert key(_Tensor(), value) is None


def test_no_array_of_torch():
    assert key(2) is None
    assert repeats.key_of((_Tensor(),), {}, lambda: 3) is None


def test_keeps_a_limited_number():
    kept = repeats.Repeats()
    for i in range(3000):
        kept.remember((i,), lambda handle: True)
    assert kept.find((2999,)) is not None
    assert sum(kept.find((i,)) is not None for i in range(3000)) <= 1024
    kept.forget((2999,))
    assert kept.find((2999,)) is None
