"""Python that kernels do not have."""

# ruff: noqa: N803, SIM105

from refused import MATRIX, VECTOR, refused

import headrace as hr


@refused(
    "break is not part of the kernel language: write while with the condition, or a shorter range",
    X=VECTOR,
    n=int,
)
def break_in_a_loop(X, n):
    hr.grid(1)
    for i in range(n):
        if i == 3:
            break  # <--
        X[i] = 0.0


@refused("continue is not part of the kernel language: put the rest of the loop's body under an if", X=VECTOR, n=int)
def continue_in_a_loop(X, n):
    hr.grid(1)
    for i in range(n):
        if i == 3:
            continue  # <--
        X[i] = 0.0


@refused("return in a loop is not part of the kernel language: carry a flag, or return after the loop", X=VECTOR, n=int)
def return_in_a_loop(X, n):
    hr.grid(1)
    for i in range(n):
        if i == 3:
            return  # <--
        X[i] = 0.0


@refused("else of a loop is not part of the kernel language: write its body after the loop", X=VECTOR, n=int)
def else_of_a_loop(X, n):
    hr.grid(1)
    for i in range(n):
        X[i] = 0.0
    else:
        X[0] = 1.0  # <--


@refused("a list comprehension is not part of the kernel language: write a loop, or a tuple", X=VECTOR)
def comprehension(X):
    hr.grid(1)
    parts = [X[i : i + 64] for i in range(4)]  # <--
    X[0:64] = parts[0]


@refused("a dictionary is not part of the kernel language: write names for the values, or a tuple", X=VECTOR)
def dictionary(X):
    hr.grid(1)
    options = {"scale": 2.0}  # <--
    X[0:64] = X[0:64] * options["scale"]


@refused("try is not part of the kernel language: nothing in a kernel raises", X=VECTOR)
def exceptions(X):
    hr.grid(1)
    try:  # <--
        X[0:64] = X[0:64] * 2
    except ValueError:
        pass


@refused("':=' is not part of the kernel language: write an assignment on a line of its own", X=VECTOR)
def assignment_in_an_expression(X):
    hr.grid(1)
    X[0:64] = (x := X[0:64]) + x  # <--


@refused(
    "expected a scalar in 'if', got a tile i1[64]: a tile has no single truth, write hr.where(c, x, y), "
    "combine with & | ~, or reduce it with hr.any or hr.all",
    X=VECTOR,
)
def condition_on_a_tile(X):
    hr.grid(1)
    x = X[0:64]
    if x > 0:  # <--
        x = x * 2
    X[0:64] = x


@refused(
    "expected a scalar in 'and', got a tile i1[64]: a tile has no single truth, write hr.where(c, x, y), "
    "combine with & | ~, or reduce it with hr.any or hr.all",
    X=VECTOR,
)
def logic_on_tiles(X):
    hr.grid(1)
    x = X[0:64]
    X[0:64] = hr.where(x > 0 and x < 1, x, 0.0)  # <--


@refused("expected scalars in a chain of comparisons, got tiles: write (a < b) & (b < c)", X=VECTOR)
def chain_of_tiles(X):
    hr.grid(1)
    x = X[0:64]
    X[0:64] = hr.where(0 < x < 1, x, 0.0)  # <--


@refused("expected @hr.inline above a function inside of a kernel: write @hr.inline above 'def twice'", X=VECTOR)
def function_without_inline(X):
    hr.grid(1)

    def twice(x):  # <--
        return x * 2

    X[0:64] = twice(X[0:64])


@hr.inline
def endless(x):
    return endless(x)  # <--


@refused(
    "expected calls at most 64 deep, got more: a recursion has no end in a kernel, write a loop",
    inside=endless,
    X=VECTOR,
)
def recursion(X):
    hr.grid(1)
    X[0:64] = endless(X[0:64])


@refused(
    "expected conditions in 'or', got a run-time int: Python would give back an operand, write n != 0",
    X=VECTOR,
    n=int,
)
def or_of_numbers(X, n):
    hr.grid(1)
    X[0:64] = X[0:64] * (n or 1)  # <--


@refused(
    "expected a condition that changes at run time, got a constant: the loop would never end, write for, "
    "or a condition on a variable that the body assigns",
    X=VECTOR,
)
def while_that_never_ends(X):
    hr.grid(1)
    while True:  # <--
        X[0:64] = X[0:64] * 2


@refused(
    "expected range, hr.pipelined, hr.persistent, hr.unroll or a tuple after 'in', got the array f32[:, "
    "::1]: write for i in range(n)",
    X=MATRIX,
)
def loop_over_an_array(X):
    hr.grid(1)
    for row in X:  # <--
        X[0:1, 0:32] = row
