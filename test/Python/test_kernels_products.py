"""What hr.kernels.gemm takes beside the library's calls: types, orientations, functions; packing; a long softmax."""

from __future__ import annotations

import numpy as np
import pytest
from language_tools import use_tools
from library.arrays import judge, normal, surrounded
from library.quantized import pack
from library.running_error import Real, dot, real

import headrace as hr

TARGETS = ("sm_80", "sm_90a", "sm_100a")
#: M, N and K: no tile divides them, and rows are whole units of 16 bytes of every type.
SHAPE = (70, 144, 176)


@pytest.fixture(autouse=True)
def _tools(monkeypatch, tmp_path):
    use_tools(monkeypatch, tmp_path)


def operands(dtype: str, transpose_a: bool = False, transpose_b: bool = True):
    """A and B as they are stored, and their exact product as the target's accumulator may err."""
    rng = np.random.default_rng()
    m, n, k = SHAPE
    if dtype == "i8":
        a, b = (rng.integers(-128, 128, shape).astype(np.int8) for shape in ((m, k), (n, k)))
    else:
        a, b = (normal(rng, dtype, shape).view for shape in ((m, k), (n, k)))
    precise = dot(a, b.T.astype(np.float64), dtype)
    return np.ascontiguousarray(a.T if transpose_a else a), np.ascontiguousarray(b if transpose_b else b.T), precise


def check(result: np.ndarray, dtype: str, expected: Real) -> None:
    """`result` is of `dtype` and right."""
    before = surrounded(dtype, result.shape)
    after = before.storage.copy()
    assert result.dtype == after.dtype
    after[before.slices] = result
    verdict = judge(before, after, expected)
    assert verdict.status == "ok", verdict.detail


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("dtype", ["f16", "f32", "f64", "i8", "e4m3", "e5m2"])
def test_types(dtype, target):
    a, b, expected = operands(dtype)
    if dtype in ("e4m3", "e5m2") and target == "sm_80":
        with pytest.raises(hr.CompileError, match="needs sm_89"):
            hr.kernels.gemm(a, b, on="sim", target=target)
        return
    got = hr.kernels.gemm(a, b, on="sim", target=target)
    check(got, {"i8": "i32", "e4m3": "bf16", "e5m2": "bf16"}.get(dtype, dtype), expected)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("transpose_b", [False, True])
@pytest.mark.parametrize("transpose_a", [False, True])
def test_orientations(transpose_a, transpose_b, target):
    # A transposed A has M columns: whole units of 16 bytes there too.
    a, b, expected = operands("bf16", transpose_a, transpose_b)
    got = hr.kernels.gemm(a, b, transpose_a=transpose_a, transpose_b=transpose_b, on="sim", target=target)
    check(got, "bf16", expected)


@pytest.mark.parametrize("target", TARGETS)
def test_reduced_precision(target):
    a, b, _ = operands("f32")
    got = hr.kernels.gemm(a, b, precision="tf32", on="sim", target=target)
    check(got, "f32", dot(a, b.T, "f32", precision="tf32"))


@hr.inline
def shifted(x):
    return hr.maximum(x + 1.0, 0.0)


@pytest.mark.parametrize("target", TARGETS)
def test_epilogue_of_everything(target):
    """Bias, a function of one's own and a residual, to another type, with tiles of one's own choice."""
    a, b, product = operands("f16")
    rng = np.random.default_rng()
    bias, residual = normal(rng, "f16", SHAPE[1:2]).view, normal(rng, "f16", SHAPE[:2]).view
    tiles = {"BM": 128, "BN": 128, "BK": 32}
    got = hr.kernels.gemm(
        a, b, bias, activation=shifted, residual=residual, out_dtype=hr.f32, on="sim", target=target, **tiles
    )
    check(got, "f32", (product + real(bias) + 1.0).maximum(0.0) + real(residual))


def test_split_k_adds_to_out():
    a, b, product = operands("bf16")
    before = np.random.default_rng().standard_normal(SHAPE[:2]).astype(np.float32)
    out = before.copy()
    assert hr.kernels.split_k_gemm(a, b, 3, out=out, on="sim", target="sm_80") is out
    exact = product + real(before)
    check(out, "f32", Real(exact.value, exact.error + 3 * 2.0**-24 * (np.abs(before) + 6 * SHAPE[2] ** 0.5)))
    check(hr.kernels.split_k_gemm(a, b, on="sim", target="sm_80"), "f32", product)


def test_statistics_may_be_left_out():
    x = np.random.default_rng().standard_normal((5, 40)).astype(np.float32) + 3
    one, zero = np.ones(40, np.float32), np.zeros(40, np.float32)
    got = hr.kernels.layer_norm(x, one, zero, on="sim", target="sm_80")
    np.testing.assert_allclose(got, (x - x.mean(1, keepdims=True)) / x.std(1, keepdims=True), atol=1e-4)
    rstd = np.zeros(5, np.float32)
    assert np.array_equal(got, hr.kernels.layer_norm(x, one, zero, rstd=rstd, on="sim", target="sm_80"))
    np.testing.assert_allclose(rstd, 1 / x.std(1), rtol=1e-4)
    got = hr.kernels.rms_norm(x, one, on="sim", target="sm_80")
    np.testing.assert_allclose(got, x / np.sqrt((x * x).mean(1, keepdims=True)), atol=1e-4)


def test_long_rows_of_softmax():
    """Rows that no kernel holds at once: 16385 columns and more."""
    x = np.random.default_rng().standard_normal((2, 16384 + 24)).astype(np.float16) * 4
    got = hr.kernels.softmax(x, on="sim", target="sm_80")
    e = np.exp(x.astype(np.float64) - x.max(1, keepdims=True))
    np.testing.assert_allclose(got.astype(np.float64), e / e.sum(1, keepdims=True), rtol=2e-3, atol=2.0**-24)


@pytest.mark.parametrize("group", [32, 64])
def test_packing_is_that_of_the_reference(group):
    weights = np.random.default_rng().integers(-8, 8, (6, 3 * group)).astype(np.int8)
    packed = hr.kernels.pack_int4(weights, group)
    assert packed.dtype == np.int8
    assert np.array_equal(packed, pack(weights, group // 2))
