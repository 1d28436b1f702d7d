"""The contract: what it accepts, and the whole text of each refusal."""

import pytest

from headrace import LaunchError
from headrace.runtime.contract import check
from headrace.runtime.record import parse
from records import BASE, array, gemm_arguments, gemm_record

RECORD = parse(gemm_record())

ACCEPTED = {
    "as compiled": {},
    "empty array at an unaligned address": {"A": array((0, 64), ptr=BASE + 2)},
    "null pointer of an empty array": {"A": array((0, 64), ptr=0)},
    "stride of a size-1 dimension": {"A": array((1, 64), (63, 1))},
    "negative stride of a size-1 dimension": {"A": array((1, 64), (-64, 1))},
    "static stride of a size-1 dimension": {"A": array((64, 1), (8, 5))},
    "any stride of an empty array": {"A": array((7, 0), (3, 9))},
    "raw bits": {"A": array((300, 64), dtype="u16")},
    "largest dimension": {"B": array((2**31 - 1, 64))},
    "offsets beyond 2^31": {"A": array((300, 64), (2**33, 1))},
    "boolean for an integer": {"groups": False},
}


@pytest.mark.parametrize("changes", ACCEPTED.values(), ids=ACCEPTED)
def test_accepts(changes):
    check(RECORD, gemm_arguments(**changes))


REFUSED = [
    (
        {"A": array((300, 64), dtype="f16")},
        "A': expected bf16, got f16, because the kernel was compiled for that dtype",
    ),
    ({"A": array((300, 64), dtype="u8")}, "A': expected bf16, got u8, because the kernel was compiled for that dtype"),
    ({"A": array((64,))}, "A': expected 2 dimensions, got 1, because the kernel was compiled for that rank"),
    (
        {"B": array((2**31, 64))},
        "B': expected dimension 0 from 0 to 2147483647, got 2147483648, because the kernel indexes with 32 bits",
    ),
    (
        {"B": array((8, 64), (64, 2))},
        "B': expected stride 1 to be 1, got 2, because the kernel was compiled for that stride",
    ),
    (
        {"B": array((8, 64), (-64, 1))},
        "B': expected stride 0 of at least 0, got -64, because kernels address forward only",
    ),
    ({"B": array((8, 64), ptr=0)}, "B': expected a device pointer, got null, because the array has shape (8, 64)"),
    (
        {"A": array((8, 64), ptr=BASE + 2)},
        "A': expected a pointer that is a multiple of 16 bytes, got 0x7f0000000002, because TMA load of A",
    ),
    (
        {"A": array((8, 64), (65, 1))},
        "A': expected stride 0 to be a multiple of 16 bytes, got 65 elements, 130 bytes, because TMA load of A",
    ),
    (
        {"C": array((300, 521))},
        "C': expected dimension 1 to be a multiple of 8, got 521, because C is stored 16 bytes at a time",
    ),
    ({"groups": 3}, "groups': expected a multiple of 2, got 3, because groups are handled in pairs"),
    ({"groups": 2**31}, "groups': expected a value of i32, -2147483648 to 2147483647, got 2147483648"),
    ({"groups": 1.0}, "groups': expected i32, got float"),
]


@pytest.mark.parametrize(("changes", "message"), REFUSED)
def test_refuses(changes, message):
    with pytest.raises(LaunchError) as caught:
        check(RECORD, gemm_arguments(**changes))
    assert str(caught.value) == f"argument '{message}"


def test_refuses_other_static_size():
    record = gemm_record()
    record["args"][0]["shape"] = [None, 64]
    with pytest.raises(LaunchError) as caught:
        check(parse(record), gemm_arguments(A=array((300, 72))))
    assert str(caught.value) == (
        "argument 'A': expected dimension 1 to be 64, got 72, because the kernel was compiled for that size"
    )


def test_refuses_other_number_of_arguments():
    with pytest.raises(LaunchError) as caught:
        check(RECORD, [])
    assert str(caught.value) == "kernel 'gemm': expected 5 arguments (A, B, C, alpha, groups), got 0"
