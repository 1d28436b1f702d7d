# ruff: noqa: N803 (arrays have capital names)
"""Asserts and prints that are refused."""

from refused import VECTOR, refused

import headrace as hr


@refused("expected a condition in assert, got a tile f32[64]: compare it, as in x != 0", X=VECTOR)
def assert_of_numbers(X):
    hr.grid(1)
    assert X[0:64]  # <--


@refused(
    "expected a constant string as the message of assert, got a run-time int: print the values before", X=VECTOR, n=int
)
def assert_with_a_value_as_message(X, n):
    hr.grid(1)
    assert n > 3, n  # <--


@refused("expected constants in a formatted string, got a run-time int", X=VECTOR, n=int)
def assert_with_values_in_its_message(X, n):
    hr.grid(1)
    assert n > 3, f"n is {n}"  # <--


@refused("expected one line of 1 to 1000 bytes as the message of assert, got 'two\\nlines'", X=VECTOR, n=int)
def assert_with_two_lines(X, n):
    hr.grid(1)
    assert n > 3, "two\nlines"  # <--


@hr.inline
def checked_sum(a, b):
    assert a == a, "not a number"  # <--
    return a + b


@refused("assert is not part of functions that combine elements: assert what comes out", X=VECTOR, inside=checked_sum)
def assert_in_a_reduction(X):
    hr.grid(1)
    X[0] = hr.reduce(X[0:64], 0, checked_sum)


@refused('expected a constant string as the first argument of print, got a tile f32[64]: write print("x", x)', X=VECTOR)
def print_without_text(X):
    hr.grid(1)
    print(X[0:64])  # <--


@refused("expected no keyword arguments of print in a kernel, got end=", X=VECTOR)
def print_with_keyword(X):
    hr.grid(1)
    print("x", X[0:64], end="")  # <--


@refused("expected scalars and tiles in print, got the array f32[::1]: load it first", X=VECTOR)
def print_of_an_array(X):
    hr.grid(1)
    print("x", X)  # <--


@refused("expected scalars and tiles in print, got 'b': put constants into its text", X=VECTOR)
def print_of_a_string(X):
    hr.grid(1)
    print("a", "b")  # <--


@refused("expected tiles of one shape in print, got a tile f32[64] and a tile f32[32]: print them one by one", X=VECTOR)
def print_of_two_shapes(X):
    hr.grid(1)
    print("x", X[0:64], X[0:32])  # <--


@refused("expected at most 8 values in print, got 9: print the rest on another line", X=VECTOR)
def print_of_many(X):
    hr.grid(1)
    print("x", 1, 2, 3, 4, 5, 6, 7, 8, 9)  # <--


@refused(
    "expected values of 16 bits or more, or integers, in print, got a tile e4m3[64]: write x.to(hr.f32)",
    X=hr.e4m3[::1],
)
def print_of_8_bit_floats(X):
    hr.grid(1)
    print("x", X[0:64])  # <--
