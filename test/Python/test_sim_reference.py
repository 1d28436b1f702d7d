"""The judge of simulated kernels accepts a right output and rejects every kind of fault, for every problem and type."""

import dataclasses

import numpy as np
import pytest
from sim_reference import DTYPES, Problem, bits, embedded, judge_exact, poisoned, row_stride

PROBLEMS = [
    Problem("TN", "bf16", "bf16"),
    Problem("NN", "f16", "f32"),
    Problem("NT", "f16", "f16", align=2),
    Problem("TT", "f32", "f32"),
    Problem("TN", "f32", "f32", precision="tf32", align=4),
    Problem("TN", "f64", "f64", align=8),
    Problem("NN", "e4m3", "bf16"),
    Problem("TN", "e5m2", "f32", align=1),
    Problem("NT", "i8", "i32"),
]


def run(problem, shape, integers, kernel):
    """The verdict on what `kernel(exact product, C)` leaves; it writes to the view or the storage of C."""
    m, n, k = shape
    a, b = problem.inputs(m, n, k, integers, np.random.default_rng(7))
    c = poisoned(problem.out, (m, n), problem.align)
    after = dataclasses.replace(c, storage=c.storage.copy())
    wide_a, wide_b = (x.astype(np.float64) for x in problem.logical(a.view, b.view))
    kernel(wide_a, wide_b, after)
    return problem.judge(a, b, c, after.storage, integers)


def product(a, b, c):
    """A correct kernel: the exact product, rounded once."""
    c.view[:] = (a @ b).astype(c.view.dtype)


@pytest.mark.parametrize("problem", PROBLEMS, ids=str)
@pytest.mark.parametrize("shape", [(1, 1, 1), (17, 9, 40), (8, 33, 0), (40, 24, 300)])
@pytest.mark.parametrize("integers", [True, False])
def test_accepts_rounded_product(problem, shape, integers):
    verdict = run(problem, shape, integers, product)
    assert (verdict.status, verdict.detail) == ("ok", "")
    assert verdict.ratio <= 1


@pytest.mark.parametrize("problem", PROBLEMS, ids=str)
@pytest.mark.parametrize("integers", [True, False])
def test_rejects_missing_k_element(problem, integers):
    assert run(problem, (16, 16, 24), integers, lambda a, b, c: product(a[:, 1:], b[1:], c)).status == "wrong"


@pytest.mark.parametrize("problem", PROBLEMS, ids=str)
@pytest.mark.parametrize("integers", [True, False])
def test_rejects_unwritten_element(problem, integers):
    def kernel(a, b, c):
        kept = c.view[3:4, 5:6].copy()
        product(a, b, c)
        c.view[3:4, 5:6] = kept

    verdict = run(problem, (16, 16, 24), integers, kernel)
    assert verdict.status == "unwritten"
    assert verdict.detail.startswith("1 of 256 wrong (1 as before), within (3, 5)..(3, 5); at (3, 5) expected ")


@pytest.mark.parametrize("problem", PROBLEMS, ids=str)
@pytest.mark.parametrize(("row", "column"), [(0, 16), (15, 16), (16, 0), (-1, 3), (7, -1)])
def test_rejects_write_outside(problem, row, column):
    def kernel(a, b, c):
        product(a, b, c)
        c.storage[c.slices[0].start + row, c.slices[1].start + column] = 1

    verdict = run(problem, (16, 16, 24), True, kernel)
    assert (verdict.status, verdict.ratio) == ("guard", float("inf"))
    assert verdict.detail == f"1 elements written outside the output, first at ({row}, {column})"


def test_rejects_write_between_strided_elements():
    before = embedded("f32", np.zeros(10))
    before.slices = (slice(64, 74, 2),)
    after = before.storage.copy()
    after[65] = 1
    verdict = judge_exact(before, after, np.zeros(5))
    assert (verdict.status, verdict.detail) == ("guard", "1 elements written outside the output, first at (1,)")


@pytest.mark.parametrize("dtype", DTYPES)
def test_array_is_surrounded_by_poison(dtype):
    array = embedded(dtype, np.zeros((3, 5)))
    poison = bits(poisoned(dtype, (1, 1)).storage)[0, 0]
    outside = array.outside()
    outside[array.slices] = poison
    assert (outside == poison).all()
    assert poison != 0


@pytest.mark.parametrize("problem", PROBLEMS, ids=str)
def test_array_has_the_asked_alignment_and_no_better(problem):
    array = poisoned(problem.dtype, (5, 24), problem.align)
    size = array.storage.dtype.itemsize
    stride = array.storage.shape[1]
    start = array.slices[0].start * stride + array.slices[1].start
    for value in (start * size, stride * size):
        assert value % problem.align == 0
        assert problem.align >= 16 or value % (2 * problem.align)


@pytest.mark.parametrize(
    ("columns", "size", "align", "stride"),
    [(0, 2, 16, 8), (63, 2, 16, 64), (64, 2, 16, 72), (8, 2, 2, 9), (9, 2, 2, 11), (7, 2, 4, 10), (5, 8, 8, 7)],
)
def test_row_stride(columns, size, align, stride):
    assert row_stride(columns, size, align) == stride
