"""From what the frontend writes, one operation at a time, to what the evaluator of tile programs takes.

The frontend writes MLIR's pretty form. Its operations are few, and are told apart by their names; attributes and types
are read by the evaluator's own parser.
"""

from __future__ import annotations

import functools
import re

import numpy as np

from headrace.interpreter.arithmetic import FLOAT_PREDICATES, INTEGER_PREDICATES
from headrace.interpreter.attributes import Number, parse_attribute, parse_dictionary, parse_type
from headrace.interpreter.parser import Block, BlockArgument, Operation
from headrace.interpreter.scanner import Scanner
from headrace.interpreter.types import Scalar, Tile, Type
from headrace.language.errors import InternalError
from headrace.language.mlir import Block as TextBlock

_VALUE = re.compile(r"%\w+")
_FORM = re.compile(r"(?P<name>[\w.]+) ?(?P<head>.*?)(?: \{(?P<attributes>.*?)\})?(?: : (?P<types>.*))?", re.DOTALL)
_ARGUMENT = re.compile(r"(%\w+): ([^,)]+)")
_SETTING = re.compile(r"\b(axis|group|multiple_of|trips) (\d+)")
_COMBINE = re.compile(r"#tile\.combine<\w+>")
_ORDER = re.compile(r"\[([\d, ]+)\]$")
_WORDS = re.compile(r"\b(persistent|transpose_a|transpose_b|reverse)\b")
_RENAMED = {"multiple_of": "divisor"}


def read(parts: tuple[str | TextBlock, ...], results: tuple[str, ...]) -> Operation:
    """The operation of `parts`, text and regions in turn, that defines `results`."""
    text = "".join(part for part in parts if isinstance(part, str))
    if text.startswith("arith.constant "):
        return _constant(text, results)
    found = _FORM.fullmatch(text)
    if found is None:
        raise InternalError(f"cannot interpret '{text}'")
    name, head, types = found["name"], found["head"], found["types"] or ""
    attributes = _settings(head)
    if name.startswith(("arith.cmp", "tile.program_id", "tile.num_programs")):
        attributes.update(_leading(name, head))
    if found["attributes"]:
        attributes.update(_dictionary(found["attributes"]))
    regions = [[_region(part)] for part in parts if isinstance(part, TextBlock)]
    operands = _VALUE.findall(head)
    return Operation(name, operands, attributes, regions, (), _result_types(name, types, results), list(results), None)


def _constant(text: str, results: tuple[str, ...]) -> Operation:
    value = parse_attribute(Scanner(text[len("arith.constant ") :]))
    type_ = value.type if isinstance(value, Number) else Scalar("i1")
    return Operation("arith.constant", [], {"value": value}, [], (), (type_,), list(results), None)


def _settings(head: str) -> dict[str, object]:
    """Attributes that the pretty form spells in words of its own."""
    attributes: dict[str, object] = {
        _RENAMED.get(name, name): _number(int(value)) for name, value in _SETTING.findall(head)
    }
    attributes.update(dict.fromkeys(_WORDS.findall(head), True))
    if combine := _COMBINE.search(head):
        attributes["combine"] = parse_attribute(Scanner(combine[0]))
    if order := _ORDER.search(head):
        attributes["permutation"] = [int(axis) for axis in order[1].split(",")]
    return attributes


def _leading(name: str, head: str) -> dict[str, object]:
    """The predicate of a comparison, or the axis of a program's place."""
    word = head.split()[0].rstrip(",")
    if name == "arith.cmpi":
        return {"predicate": _number(INTEGER_PREDICATES.index(word))}
    if name == "arith.cmpf":
        return {"predicate": _number(FLOAT_PREDICATES.index(word))}
    return {"axis": _number(int(word))}


@functools.lru_cache(maxsize=1024)
def _number(value: int) -> Number:
    return Number(np.array(value), Scalar("i64"))


@functools.lru_cache(maxsize=1024)
def _dictionary(text: str) -> dict[str, object]:
    return parse_dictionary(Scanner(text + "}"), "}")


@functools.lru_cache(maxsize=4096)
def _type(text: str) -> Type:
    return parse_type(Scanner(text))


def _result_types(name: str, types: str, results: tuple[str, ...]) -> tuple[Type, ...]:
    if not results:
        return ()
    if name in ("tile.program_id", "tile.num_programs", "tile.grouped_index", "tile.assume", "memref.dim"):
        return (Scalar("index"),) * len(results)
    if name.startswith("arith.cmp"):
        operand = _type(types)
        return (Tile(operand.shape, "i1") if isinstance(operand, Tile) else Scalar("i1"),)
    for arrow in (" -> ", " to "):
        if arrow in types:
            types = types.rpartition(arrow)[2]
            if types.startswith("("):
                return tuple(map(_type, _split(types[1:-1])))
            return (_type(types),) * len(results)
    return (_type(_split(types)[-1]),)


def _split(types: str) -> list[str]:
    """Types between commas; those of tiles and numbers have none inside."""
    return types.split(", ")


def _region(block: TextBlock) -> Block:
    arguments = [BlockArgument(name, _type(text), None) for name, text in _ARGUMENT.findall(block.arguments)]
    return Block(arguments, [read(op.parts, op.results) for op in block.ops])
