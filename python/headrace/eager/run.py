"""Runs a kernel's own Python function, once for each program of the grid."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from headrace.eager.arguments import array_of, on_host, scalar_of
from headrace.eager.check import Checked, checked
from headrace.eager.emitter import EagerEmitter
from headrace.eager.evaluation import Evaluation
from headrace.eager.grid import Grid, NoProgramError
from headrace.errors import LaunchError
from headrace.language.dtypes import ArrayType
from headrace.language.errors import CompileError
from headrace.language.facts import Fact, RefusedError, ScalarType, bind
from headrace.language.interpretation import CURRENT
from headrace.language.values import Array

if TYPE_CHECKING:
    from headrace.language.kernel import KernelFunction


def interpret(kernel: KernelFunction, args: tuple, kwargs: dict[str, Any], grid: Any) -> Checked:
    """Runs `kernel` on arrays in the memory of this process. See `KernelFunction.interpret`."""
    values, facts = host_arguments(kernel, args, kwargs)
    found = checked(kernel, facts)
    grid = grid() if callable(grid) else grid
    if grid is None and not found.program.has_grid:
        raise LaunchError(f"kernel '{found.program.name}': expected a grid, since the kernel says none: pass grid=, "
                          "or write hr.grid(...) in it")  # fmt: skip
    plain = {name: _plain(name, facts[name], value, found) for name, value in values.items()}
    evaluation = Evaluation(found.code)
    function = evaluation.function(kernel.function)
    token = CURRENT.set(evaluation)
    try:
        _run(function, evaluation, Grid(grid), found, lambda em: _bound(em, kernel, facts, plain))
    except NoProgramError:
        pass
    finally:
        CURRENT.reset(token)
    return found


def host_arguments(kernel: KernelFunction, args: tuple, kwargs: dict[str, Any]) -> tuple[dict, dict[str, Fact]]:
    """The arguments by name, arrays as numpy's, and what the kernel is checked for. Raises CompileError."""
    try:
        given = bind(kernel.function.__name__, kernel.parameters, args, kwargs)
    except RefusedError as refused:
        raise CompileError(str(refused), kernel.source.place(kernel.source.node)) from None
    constants = {parameter.name for parameter in kernel.parameters if parameter.constant}
    values = {name: value if name in constants else on_host(name, value) for name, value in given.items()}
    return kernel.facts((), values)


def _run(function: Callable, evaluation: Evaluation, grid: Grid, found: Checked, bound: Callable) -> None:
    for program in grid.programs():
        em = EagerEmitter(grid, program, found.code.frames)
        evaluation.begin(em)
        function(**{name: evaluation.wrap(value) for name, value in bound(em).items()})


def _plain(name: str, fact: Fact, value: Any, found: Checked) -> Any:
    if isinstance(fact, ArrayType):
        return array_of(name, fact, value, name in found.program.written)
    return scalar_of(name, fact, value) if isinstance(fact, ScalarType) else fact


def _bound(em: EagerEmitter, kernel: KernelFunction, facts: dict[str, Fact], plain: dict[str, Any]) -> dict[str, Any]:
    """The parameters as values of the frontend, whose numbers `em` holds."""
    bound = {}
    for name, fact in facts.items():
        if not isinstance(fact, (ArrayType, ScalarType)):
            bound[name] = plain[name]
            continue
        value = em.names.fresh(name)
        em.held[value] = plain[name]
        if isinstance(fact, ArrayType):
            bound[name] = Array(value, fact, name, kernel.source.place(kernel.source.node))
        else:
            bound[name] = em.as_scalar(value, fact.dtype)
    return bound
