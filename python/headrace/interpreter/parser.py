"""Parser of the generic form of MLIR: operations, regions and values, of any dialect."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from headrace.interpreter.attributes import parse_dictionary, parse_function_type, parse_type
from headrace.interpreter.scanner import Scanner
from headrace.interpreter.types import Type

_VALUE = re.compile(r"%[\w$.-]+(?:#\d+)?")
_RESULT = re.compile(r"(%[\w$.-]+)(?::(\d+))?")
_QUOTED = re.compile(r'"([^"]+)"')
_BLOCK = re.compile(r"\^\w+")
_PLACE = re.compile(r'"(?:[^"\\]|\\.)*":(\d+):(\d+)')


@dataclass(frozen=True)
class BlockArgument:
    """A value that a block starts with; `place` is its line and column in the source, from 1 on."""

    name: str
    type: Type
    place: tuple[int, int] | None


@dataclass
class Block:
    """Arguments and operations."""

    arguments: list[BlockArgument] = field(default_factory=list)
    operations: list[Operation] = field(default_factory=list)


@dataclass
class Operation:
    """`operands` and `results` are names of values; `attributes` include the properties."""

    name: str
    operands: list[str]
    attributes: dict[str, object]
    regions: list[list[Block]]
    operand_types: tuple[Type, ...]
    result_types: tuple[Type, ...]
    results: list[str]
    line: int | None


def parse_module(text: str) -> Operation:
    """The module of a generic form."""
    scan = Scanner(text)
    module = _operation(scan)
    scan.skip()
    if scan.position < len(text):
        raise scan.error("expected the end of the module")
    return module


def _operation(scan: Scanner) -> Operation:
    results: list[str] = []
    if scan.looking_at("%"):
        found = scan.require(_RESULT, "a result")
        results = [f"{found[1]}#{i}" for i in range(int(found[2]))] if found[2] else [found[1]]
        scan.expect("=")
    name = scan.require(_QUOTED, "an operation's name")[1]
    scan.expect("(")
    operands = scan.separated(lambda: scan.require(_VALUE, "a value")[0], ")")
    attributes: dict[str, object] = {}
    if scan.accept("<"):
        scan.expect("{")
        attributes.update(parse_dictionary(scan, "}"))
        scan.expect(">")
    regions = []
    if scan.accept("("):
        regions = scan.separated(lambda: _region(scan), ")")
    if scan.accept("{"):
        attributes.update(parse_dictionary(scan, "}"))
    scan.expect(":")
    type_ = parse_function_type(scan)
    place = _location(scan)
    line = place[0] if place else None
    return Operation(name, operands, attributes, regions, type_.inputs, type_.results, results, line)


def _region(scan: Scanner) -> list[Block]:
    scan.expect("{")
    blocks: list[Block] = []
    while not scan.accept("}"):
        if scan.match(_BLOCK):
            block = Block()
            if scan.accept("("):
                block.arguments = scan.separated(lambda: _argument(scan), ")")
            scan.expect(":")
            blocks.append(block)
            continue
        if not blocks:
            blocks.append(Block())
        blocks[-1].operations.append(_operation(scan))
    return blocks


def _argument(scan: Scanner) -> BlockArgument:
    name = scan.require(_VALUE, "a value")[0]
    scan.expect(":")
    type_ = parse_type(scan)
    return BlockArgument(name, type_, _location(scan))


def _location(scan: Scanner) -> tuple[int, int] | None:
    """Line and column of a location; None without a location, or if it names no file."""
    if not scan.accept("loc"):
        return None
    found = _PLACE.search(scan.balanced("(", ")"))
    return (int(found[1]), int(found[2])) if found and int(found[1]) else None
