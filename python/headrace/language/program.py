"""From a Python function and the facts of a call to a module of the tile dialect."""

from __future__ import annotations

import ast
import functools
import re
import types
from dataclasses import dataclass
from typing import Any

from headrace.errors import HeadraceError
from headrace.language import expressions, statements
from headrace.language.branches import RESULT
from headrace.language.dtypes import ArrayType, index
from headrace.language.emitter import Emitter
from headrace.language.errors import CompileError, InternalError, Place
from headrace.language.facts import Fact, ScalarType
from headrace.language.liveness import names_assigned
from headrace.language.mlir import Block, location, quote, rename
from headrace.language.scope import Scope
from headrace.language.source import FunctionSource
from headrace.language.values import Array, Scalar

_NAME = re.compile(r"(?!headrace_|llvm|_$)[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True)
class Program:
    """A kernel in the tile dialect. `text` has source locations, `plain` none.

    `arguments` are the parameters that the launch passes, in order; `written` those of them that the kernel writes;
    `reads` the constants that it took from outside and that may be others one day: (lookup, name, value).
    """

    name: str
    text: str
    plain: str
    arguments: tuple[str, ...]
    written: frozenset[str]
    has_grid: bool
    reads: tuple[tuple, ...]


def emit(
    source: FunctionSource,
    facts: dict[str, Fact],
    warps: Any = None,
    occupancy: Any = None,
    emitter: Emitter | None = None,
) -> Program:
    """The program of `source` for `facts`, by parameter. `warps` and `occupancy` are numbers or names of constants.

    `emitter` is a new one that reads the language in another way, such as one that leaves out statements.

    Raises CompileError, at its line, for what is no program of the language.
    """
    if not _NAME.fullmatch(source.name):
        raise CompileError("expected a kernel's name of ASCII letters, digits and '_' that starts with neither "
                           f"'headrace_' nor 'llvm', got '{source.name}'", source.place(source.node))  # fmt: skip
    em = emitter or Emitter(expressions.evaluate, statements.execute)
    body, liveness = source.body_of(source.node)
    scope = em.scope = Scope(source, names_assigned(body) | frozenset(facts), liveness)
    parameters = {node.arg: node for node in _argument_nodes(source)}
    headers, arguments = [], []
    try:
        for name, fact in facts.items():
            place = source.place(parameters[name])
            if isinstance(fact, (ArrayType, ScalarType)):
                arguments.append(name)
                headers.append((_declare(em, name, fact, place), place))
            else:
                scope.variables[name] = fact
        with em.inside(Block()) as block:
            em.execute(body)
        if scope.variables.get(RESULT) is not None:
            em.fail("expected a kernel to return nothing: store the result to an array", _return_node(body))
    except HeadraceError:
        raise
    except RecursionError:
        raise CompileError(
            "expected expressions and calls that are less deeply nested", em.place() or source.place(source.node)
        ) from None
    except Exception as error:
        raise _fault(em, source, error) from error
    block.ops[:0] = em.prologue.ops
    block.prune(set())
    attributes = _attributes(source, facts, warps=warps, occupancy=occupancy)
    texts = [rename(_module(source, headers, attributes, block, locations), em.renamed) for locations in (True, False)]
    return Program(
        source.name, *texts, tuple(arguments), frozenset(em.written), em.grid_place is not None, _changeable(em.reads)
    )


def _changeable(reads: list[tuple]) -> tuple[tuple, ...]:
    """Each of `reads` once, without modules and builtins: every launch looks whether they are still the same."""
    once = {}
    for lookup, name, value in reads:
        owner = lookup.args[0] if isinstance(lookup, functools.partial) else lookup
        if not isinstance(value, (types.ModuleType, types.BuiltinFunctionType)) and not _is_own(owner):
            once[id(getattr(owner, "__self__", owner)), name] = (lookup, name, value)
    return tuple(once.values())


def _is_own(owner: Any) -> bool:
    """Whether it is a module of this package, whose names nobody changes."""
    return isinstance(owner, types.ModuleType) and owner.__name__.split(".")[0] == __name__.split(".")[0]


def _fault(em: Emitter, source: FunctionSource, error: Exception) -> InternalError:
    place = em.place() or source.place(source.node)
    return InternalError(f"{place}: a fault of headrace while it emits this line ({type(error).__name__}: {error}); "
                         f"please report it with the kernel\n{place.excerpt()}")  # fmt: skip


def _argument_nodes(source: FunctionSource):
    arguments = source.node.args
    return (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)


def _return_node(body: list[ast.stmt]) -> ast.Return:
    return next(
        node for statement in body for node in ast.walk(statement) if isinstance(node, ast.Return) and node.value
    )


def _declare(em: Emitter, name: str, fact: ArrayType | ScalarType, place: Place) -> str:
    """Makes the parameter a variable; its text in the kernel's list of arguments."""
    value = em.names.fresh(name)
    attributes = [f"tile.name = {quote(name)}"]
    if isinstance(fact, ArrayType):
        array = Array(value, fact, name, place)
        em.scope.variables[name] = array
        if fact.align > fact.dtype.bits // 8:
            attributes.append(f"tile.align = {fact.align} : i64")
        for dim, multiple in enumerate(fact.multiples):
            if multiple > 1:
                em.extent(array, dim)
        return f"{value}: {fact.mlir} {{{', '.join(attributes)}}}"
    em.scope.variables[name] = _scalar(em, value, fact)
    return f"{value}: {fact.dtype.mlir} {{{', '.join(attributes)}}}"


def _scalar(em: Emitter, value: str, fact: ScalarType) -> Scalar:
    if fact.dtype is not index or fact.multiple == 1:
        return em.as_scalar(value, fact.dtype)
    assumed = em.names.fresh(value[1:])
    em.op(f"tile.assume {value} multiple_of {fact.multiple}", results=(assumed,), block=em.prologue)
    return em.as_scalar(assumed, index)


def _attributes(source: FunctionSource, facts: dict[str, Fact], **knobs: Any) -> str:
    entries = []
    for name, value in knobs.items():
        value = facts.get(value) if isinstance(value, str) else value
        if value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= 32:
            raise CompileError(f"expected {name} of 1 to 32, or the name of a constexpr parameter, got {value!r}",
                               source.place(source.node))  # fmt: skip
        entries.append(f"{name} = {value} : i64")
    return f" attributes {{{', '.join(entries)}}}" if entries else ""


def _module(source: FunctionSource, headers, attributes: str, block: Block, locations: bool) -> str:
    shown = [f"{text} loc({location((place,))})" if locations else text for text, place in headers]
    separator = ",\n" + " " * len(f"tile.kernel @{source.name}(")
    lines = block.lines(1, locations)
    where = f" loc({location((source.place(source.node),))})" if locations else ""
    first = f"tile.kernel @{source.name}({separator.join(shown)}){attributes} {{"
    return "\n".join([first, *lines, f"  tile.return{where}", f"}}{where}", ""])
