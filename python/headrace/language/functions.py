"""Functions of the kernel language: `@hr.inline` ones, functions inside of kernels, lambdas. Calls are written out."""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable
from typing import Any

from headrace.errors import HeadraceError
from headrace.language.branches import RESULT
from headrace.language.emitter import Emitter
from headrace.language.interpretation import CURRENT
from headrace.language.liveness import names_assigned
from headrace.language.scope import Scope
from headrace.language.source import source_of
from headrace.language.values import Function, describe, is_constant


class InlineFunction:
    """A function for kernels, see `inline`."""

    def __init__(self, function: Callable):
        self.function = function
        functools.update_wrapper(self, function)

    def __call__(self, *args: Any, **kwargs: Any):
        if (interpretation := CURRENT.get()) is not None:
            return interpretation.call_inline(self.function, args, kwargs)
        name = self.function.__name__
        raise HeadraceError(
            f"{name} is for kernels, because of @hr.inline: call it in a function decorated with @hr.kernel"
        )


def inline(function: Callable) -> InlineFunction:
    """Makes a Python function callable from kernels; each call is written out where it stands.

    Parameters are whatever is passed: tiles, scalars, arrays, constants, functions; those annotated `hr.constexpr` must
    be constants. It may return early, a tuple, or nothing. Errors inside name its line and the calls that led there.

    ```python
    @hr.inline
    def gelu(x):
        return x * hr.sigmoid(1.702 * x)
    ```
    """
    return InlineFunction(function)


def function_of(em: Emitter, inlined: InlineFunction) -> Function:
    """`inlined` as a value of the language, with its own module's names."""
    source = source_of(inlined.function)
    node = source.node
    defaults = inlined.function.__defaults__ or ()
    names = [argument.arg for argument in node.args.args]
    values = dict(zip(names[len(names) - len(defaults) :], defaults, strict=True))
    values.update(inlined.function.__kwdefaults__ or {})
    return Function(node, Scope(source, frozenset()), source.name, values)


def define(em: Emitter, node: ast.FunctionDef) -> Function:
    """The value of a function defined inside of a kernel."""
    marked = any(isinstance(em.evaluate(decorator), type(inline)) and em.evaluate(decorator) is inline
                 for decorator in node.decorator_list)  # fmt: skip
    if not marked or len(node.decorator_list) != 1:
        em.fail(
            f"expected @hr.inline above a function inside of a kernel: write @hr.inline above 'def {node.name}'", node
        )
    positional = node.args.args[len(node.args.args) - len(node.args.defaults) :]
    pairs = [
        *zip(positional, node.args.defaults, strict=True),
        *zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True),
    ]
    defaults = {argument.arg: em.evaluate(default) for argument, default in pairs if default is not None}
    return Function(node, em.scope, node.name, defaults)


def call(em: Emitter, function: Function, args: list[Any], kwargs: dict[str, Any]) -> Any:
    """The result of calling `function`, written out here."""
    variables = _bind(em, function, args, kwargs)
    source, node = function.scope.source, function.node
    if isinstance(node, ast.Lambda):
        scope = Scope(source, frozenset(variables), None, function.scope, variables)
        with em.inlined(scope), em.at(node.body):
            return em.evaluate(node.body)
    body, liveness = source.body_of(node)
    scope = Scope(source, names_assigned(body) | frozenset(variables), liveness, function.scope, variables)
    with em.inlined(scope):
        em.execute(body)
        return variables.get(RESULT)


def _bind(em: Emitter, function: Function, args: list[Any], kwargs: dict[str, Any]) -> dict[str, Any]:
    """Arguments by the names of parameters. Refuses a call that does not fit."""
    parameters = function.node.args
    if parameters.vararg or parameters.kwarg:
        em.fail(f"expected named parameters of '{function.name}', got *args or **kwargs: pass a tuple")
    positional = [a.arg for a in (*parameters.posonlyargs, *parameters.args)]
    names = positional + [a.arg for a in parameters.kwonlyargs]
    shown = f"{function.name}({', '.join(names)})"
    if len(args) > len(positional):
        em.fail(f"expected at most {len(positional)} positional arguments in a call of {shown}, got {len(args)}")
    values = dict(zip(positional, args, strict=False))
    for name, value in kwargs.items():
        if name not in names:
            em.fail(f"expected a parameter of {shown}, got '{name}'")
        if name in values:
            em.fail(f"expected one value for '{name}' in a call of {shown}, got two")
        values[name] = value
    for name in names:
        if name not in values and name not in function.defaults:
            em.fail(f"expected a value for '{name}' in a call of {shown}, got none")
    result = {name: values.get(name, function.defaults.get(name)) for name in names}
    for argument in (*parameters.args, *parameters.kwonlyargs):
        if _is_constexpr(argument.annotation) and not is_constant(result[argument.arg]):
            em.fail(f"expected a constant for '{argument.arg}' of {shown}, which is hr.constexpr, got "
                    f"{describe(result[argument.arg])}: pass a number, or a constexpr parameter of the "
                    "kernel")  # fmt: skip
    return result


def _is_constexpr(annotation: ast.expr | None) -> bool:
    return annotation is not None and ast.unparse(annotation).split(".")[-1] == "constexpr"
