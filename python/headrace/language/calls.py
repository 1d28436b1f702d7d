"""Calls: of built-in functions, of functions of the kernel language, and of Python's own on constants."""

from __future__ import annotations

import ast
import builtins
import inspect
from collections.abc import Callable
from typing import Any

from headrace.language import access, checks, functions, hints
from headrace.language.api import BUILTINS
from headrace.language.api.builtin import is_builtin
from headrace.language.dtypes import DType, f32, i1, index
from headrace.language.emitter import Emitter
from headrace.language.lowering import control, elementwise, tiles
from headrace.language.lowering.memory import TAKE_PART
from headrace.language.lowering.registry import LOWERINGS
from headrace.language.operators import compare, fold, select
from headrace.language.values import (
    Array,
    Function,
    Method,
    Scalar,
    Tile,
    describe,
    is_constant,
    is_number,
)

#: Python functions that are computed when all arguments are constants.
_FOLDED = (
    builtins.abs,
    bool,
    divmod,
    float,
    int,
    len,
    max,
    min,
    pow,
    round,
    str,
    sum,
    tuple,
    sorted,
    builtins.all,
    builtins.any,
)
#: What Python's own conversions make of a run-time scalar.
_CONVERSIONS = {int: index, float: f32, bool: i1}
_LIBRARIES = ("numpy", "torch", "triton", "cupy", "jax", "ml_dtypes")
_INSTEAD = {
    int: "x.to(hr.i32)", float: "x.to(hr.f32)", bool: "x != 0", round: "hr.round(x)", sum: "hr.sum(x)",
    isinstance: "a constexpr parameter, or x.dtype == hr.f32", pow: "x ** y", builtins.any: "hr.any(x)",
    builtins.all: "hr.all(x)", sorted: "hr.max and hr.argmax", str: "a constant", list: "a tuple",
    divmod: "a // b, a % b",
}  # fmt: skip


def call(em: Emitter, node: ast.Call) -> Any:
    """The value of a call."""
    function = em.evaluate(node.func)
    if is_builtin(function):
        return _call_builtin(em, node, function)
    args, kwargs = _arguments(em, node)
    with em.at(node):
        if isinstance(function, functions.InlineFunction):
            return functions.call(em, functions.function_of(em, function), args, kwargs)
        if isinstance(function, Function):
            return functions.call(em, function, args, kwargs)
        if isinstance(function, Method):
            return call_method(em, function, args, kwargs)
        if isinstance(function, DType):
            if len(args) != 1 or kwargs:
                em.fail(f"expected one number or scalar in hr.{function}(...)")
            return tiles.cast(em, args[0], function)
        return _call_python(em, node, function, args, kwargs)


def _arguments(em: Emitter, node: ast.Call, skip: int = 0) -> tuple[list[Any], dict[str, Any]]:
    args: list[Any] = []
    for argument in node.args[skip:]:
        if isinstance(argument, ast.Starred):
            value = em.evaluate(argument.value)
            if not isinstance(value, tuple):
                em.fail(f"expected a tuple after '*', got {describe(value)}", argument)
            args.extend(value)
        else:
            args.append(em.evaluate(argument))
    kwargs = {}
    for keyword in node.keywords:
        if keyword.arg is None:
            em.fail("expected keyword arguments by name, got '**'", keyword.value)
        kwargs[keyword.arg] = em.evaluate(keyword.value)
    return args, kwargs


def _call_builtin(em: Emitter, node: ast.Call, function: Callable) -> Any:
    takes_part = function in TAKE_PART
    leading = [_part(em, node, function)] if takes_part else []
    args, kwargs = _arguments(em, node, skip=len(leading))
    bound = bind_builtin(em, function, [*leading, *args], kwargs)
    return LOWERINGS[function](em, **bound)


def bind_builtin(em: Emitter, function: Callable, args: list[Any], kwargs: dict[str, Any]) -> dict[str, Any]:
    """Arguments of a built-in by the names of its parameters, with its defaults."""
    signature = function.headrace_signature
    try:
        bound = signature.bind(*args, **kwargs)
    except TypeError as error:
        hint = next((f": {text}" for name in kwargs if (text := hints.for_keyword(name))), "")
        em.fail(f"expected arguments of {_shown(function)}, got another call, {error}{hint}")
    bound.apply_defaults()
    return dict(bound.arguments)


def _shown(function: Callable) -> str:
    """A built-in with its parameters and defaults, as Python writes them."""
    signature = function.headrace_signature
    plain = [p.replace(annotation=inspect.Parameter.empty) for p in signature.parameters.values()]
    return f"hr.{function.__name__}{signature.replace(parameters=plain, return_annotation=inspect.Signature.empty)}"


def _part(em: Emitter, node: ast.Call, function: Callable) -> Any:
    """The part of an array that the first argument names."""
    name = f"hr.{function.__name__}"
    first = node.args[0] if node.args else None
    if not isinstance(first, ast.Subscript):
        em.fail(
            f"expected a part of an array as the first argument of {name}: write {name}(A[m:m+BM, k:k+BK], ...)", first
        )
    owner = em.evaluate(first.value)
    if not isinstance(owner, Array):
        em.fail(
            f"expected a part of an array as the first argument of {name}, got a subscript of {describe(owner)}", first
        )
    with em.at(first):
        return access.make_part(em, owner, first.slice)


def call_method(em: Emitter, method: Method, args: list[Any], kwargs: dict[str, Any]) -> Any:
    """The result of a method of a tile or a scalar."""
    if method.name == "to":
        if len(args) != 1 or kwargs:
            em.fail("expected one dtype in .to(dtype)")
        return tiles.cast(em, method.owner, args[0])
    if method.name == "reshape" and len(args) != 1:
        args = [tuple(args)]
    function = BUILTINS[method.name]
    return LOWERINGS[function](em, **bind_builtin(em, function, [method.owner, *args], kwargs))


def _call_python(em: Emitter, node: ast.Call, function: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
    if function is range:
        if kwargs:
            em.fail("expected no keyword arguments of range")
        return control.lower_range(em, args)
    if function is print:
        return checks.print_line(em, args, kwargs)
    if function is len and len(args) == 1 and isinstance(args[0], tuple):
        return len(args[0])
    if function in (enumerate, zip, reversed):
        return _iterate(em, function, args, kwargs)
    constant = all(map(is_constant, [*args, *kwargs.values()]))
    from_math = getattr(function, "__module__", None) == "math"
    if constant and (from_math or any(function is one for one in _FOLDED)):
        return fold(em, f"{function.__name__}()", lambda: _plain(function(*args, **kwargs)))
    if function in _CONVERSIONS and len(args) == 1 and isinstance(args[0], Scalar):
        return tiles.cast(em, args[0], _CONVERSIONS[function])
    if function in (builtins.min, builtins.max) and not kwargs:
        return extreme(em, function, args)
    if function is builtins.abs and len(args) == 1:
        return elementwise.absolute(em, args[0])
    name = getattr(function, "__name__", ast.unparse(node.func))
    library = (getattr(function, "__module__", None) or type(function).__module__).split(".")[0]
    if library in _LIBRARIES:
        meant = hints.for_function(name, BUILTINS)
        em.fail(f"'{ast.unparse(node.func)}' is a function of {library}, which runs outside of kernels"
                + (f": write {meant}" if meant else ": write it with the functions of hr"))  # fmt: skip
    if from_math:
        hint = f"write hr.{name}" if name in BUILTINS else "it is not part of the kernel language"
        em.fail(f"expected constants in math.{name}, got {describe(args[0]) if args else 'none'}: {hint}")
    if function in _INSTEAD:
        em.fail(f"{name} is not for what a kernel computes: write {_INSTEAD[function]}")
    if isinstance(function, type) or not callable(function):
        em.fail(f"expected a function, got {describe(function)}")
    if hasattr(function, "headrace_kernel"):
        em.fail(
            f"expected a function of the kernel language, got the kernel '{name}': decorate what both share with "
            "@hr.inline"
        )
    return em.fail(f"'{ast.unparse(node.func)}' is a plain Python function: write @hr.inline above its def, or "
                   "compute its value outside and pass it as a constant")  # fmt: skip


def _plain(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _iterate(em: Emitter, function: Any, args: list[Any], kwargs: dict[str, Any]) -> tuple:
    for value in args[: 1 if function is not zip else None]:
        if not isinstance(value, tuple):
            em.fail(f"expected tuples in {function.__name__}, got {describe(value)}: loop over range, or hr.unroll")
    return fold(em, f"{function.__name__}()", lambda: tuple(function(*args, **kwargs)))


def extreme(em: Emitter, function: Any, args: list[Any]) -> Any:
    """Python's min and max of scalars: the first of equals; a tuple stands for its items."""
    items = args[0] if len(args) == 1 and isinstance(args[0], tuple) else args
    name = function.__name__
    if any(isinstance(item, Tile) for item in items):
        em.fail(f"expected scalars in {name}, got a tile: write hr.{name}imum(x, y), or hr.{name}(x) to reduce")
    if len(items) < 2 or not all(isinstance(item, Scalar) or is_number(item) for item in items):
        em.fail(f"expected at least two numbers in {name}, got {describe(tuple(items))}")
    result = items[0]
    for item in items[1:]:
        if is_number(result) and is_number(item):
            result = function(result, item)
        elif all(isinstance(x, int) or (isinstance(x, Scalar) and not x.dtype.is_float) for x in (result, item)):
            result = elementwise.minimum(em, result, item, largest=function is builtins.max)
        else:
            first, second = elementwise.unify(em, result, item, name)
            wins = compare(em, "<" if function is builtins.min else ">", second, first)
            result = select(em, wins, second, first)
    return result
