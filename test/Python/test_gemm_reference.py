"""The judge of products accepts a correct product and rejects every kind of fault, in every orientation and dtype."""

import pytest

torch = pytest.importorskip("torch")

from gemm_reference import (  # noqa: E402
    DTYPES,
    Problem,
    bits,
    empty_matrix,
    expected_exact,
    judge,
    logical,
    make_inputs,
    reference,
    row_stride,
)

PROBLEMS = [
    Problem("TN", "bf16", "bf16"),
    Problem("NN", "f16", "f32"),
    Problem("NT", "f16", "f16", acc="f16", align=2),
    Problem("TT", "f32", "f32"),
    Problem("TN", "f32", "f32", precision="tf32", align=4),
    Problem("TN", "f64", "f64", acc="f64", align=8),
    Problem("TN", "e4m3", "bf16"),
    Problem("TN", "e5m2", "e4m3", align=1),
    Problem("NT", "i8", "i32", acc="i32"),
]


def product(problem, a, b, c):
    """A correct kernel: the exact product, rounded once."""
    c.view.copy_(expected_exact(problem, reference(problem, a, b)[0]))


def run(problem, shape, integers, kernel=product, seed=7):
    m, n, k = shape
    a, b = make_inputs(problem, m, n, k, integers, seed, "cpu")
    c = empty_matrix(m, n, problem.out, problem.align, "cpu")
    kernel(problem, a.view, b.view, c)
    return judge(problem, a.view, b.view, c, integers)


@pytest.mark.parametrize("problem", PROBLEMS, ids=str)
@pytest.mark.parametrize("shape", [(1, 1, 1), (17, 9, 40), (8, 33, 0), (0, 5, 8), (40, 24, 300)])
@pytest.mark.parametrize("integers", [True, False])
def test_accepts_rounded_product(problem, shape, integers):
    verdict = run(problem, shape, integers)
    assert (verdict.status, verdict.detail) == ("ok", "")
    assert verdict.ratio <= 1


@pytest.mark.parametrize("integers", [True, False])
def test_accepts_float32_accumulation(integers):
    def kernel(problem, a, b, c):
        left, right = logical(problem, a.float(), b.float())
        c.view.copy_(left @ right)

    for problem in PROBLEMS[:2]:
        verdict = run(problem, (64, 64, 2000), integers, kernel)
        assert verdict.status == "ok", verdict


@pytest.mark.parametrize("problem", PROBLEMS, ids=str)
@pytest.mark.parametrize("integers", [True, False])
def test_rejects_missing_k_element(problem, integers):
    def kernel(problem, a, b, c):
        left, right = logical(problem, a.to(torch.float64), b.to(torch.float64))
        c.view.copy_(expected_exact(problem, left[:, 1:] @ right[1:]))

    assert run(problem, (16, 16, 24), integers, kernel).status == "wrong"


@pytest.mark.parametrize("problem", PROBLEMS, ids=str)
@pytest.mark.parametrize("integers", [True, False])
def test_rejects_unwritten_element(problem, integers):
    def kernel(problem, a, b, c):
        kept = bits(c.view[3:4, 5:6]).clone()
        product(problem, a, b, c)
        bits(c.view[3:4, 5:6]).copy_(kept)

    verdict = run(problem, (16, 16, 24), integers, kernel)
    assert verdict.status == "unwritten"
    assert verdict.detail.startswith("1 of 256 wrong (1 still poison), rows 3..3, columns 5..5; at (3, 5) expected ")


@pytest.mark.parametrize("problem", PROBLEMS, ids=str)
@pytest.mark.parametrize(("row", "column"), [(0, 16), (15, 16), (16, 0), (-1, 3)])
def test_rejects_write_outside(problem, row, column):
    def kernel(problem, a, b, c):
        product(problem, a, b, c)
        index = c.view.storage_offset() + row * c.view.stride(0) + column
        bits(c.storage)[index] = 1

    verdict = run(problem, (16, 16, 24), True, kernel)
    assert (verdict.status, verdict.ratio) == ("guard", float("inf"))
    assert verdict.detail.startswith("1 elements written outside C, first at row ")


@pytest.mark.parametrize("problem", PROBLEMS, ids=str)
def test_inputs_are_surrounded_by_poison(problem):
    matrix = make_inputs(problem, 16, 16, 24, False, 7, "cpu")[0]
    poison = empty_matrix(1, 1, problem.dtype, problem.align, "cpu").storage[:1]
    rows, columns = matrix.view.shape
    start, stride = matrix.view.storage_offset(), matrix.view.stride(0)
    around = [start - 1, *(start + row * stride + columns for row in range(rows)), start + rows * stride]
    assert (bits(matrix.storage[around]) == bits(poison)).all()


@pytest.mark.parametrize("problem", PROBLEMS, ids=str)
def test_storage_has_the_asked_alignment_and_no_better(problem):
    size = DTYPES[problem.dtype].torch.itemsize
    matrix = empty_matrix(5, 24, problem.dtype, problem.align, "cpu").view
    for value in (matrix.storage_offset() * size, matrix.stride(0) * size):
        assert value % problem.align == 0
        assert problem.align >= 16 or value % (2 * problem.align)


@pytest.mark.parametrize(
    ("columns", "size", "align", "stride"),
    [(0, 2, 16, 8), (63, 2, 16, 64), (64, 2, 16, 72), (8, 2, 2, 9), (9, 2, 2, 11), (7, 2, 4, 10), (5, 8, 8, 7)],
)
def test_row_stride(columns, size, align, stride):
    assert row_stride(columns, size, align) == stride


def test_inputs_differ_by_seed_and_repeat_by_seed():
    first, again, other = (make_inputs(PROBLEMS[0], 4, 4, 8, False, seed, "cpu")[0].view for seed in (1, 1, 2))
    assert torch.equal(first, again)
    assert not torch.equal(first, other)
