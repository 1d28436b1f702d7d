"""A tile program as a tree that can be printed, renamed and cut: operations, blocks, arguments."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

_VALUE = re.compile(r"%[A-Za-z_]\w*(?:#\d+)?")


@dataclass(frozen=True)
class Type:
    """A number (`shape` is None) or a tile."""

    element: str
    shape: tuple[int, ...] | None = None

    def __str__(self) -> str:
        if self.shape is None:
            return self.element
        return f"tensor<{'x'.join(map(str, (*self.shape, self.element)))}>"

    def with_element(self, element: str) -> Type:
        return Type(element, self.shape)


@dataclass
class Block:
    """Arguments (name, type), operations, and the values that its terminator passes on."""

    arguments: list[tuple[str, Type]] = field(default_factory=list)
    operations: list[Op] = field(default_factory=list)
    yields: list[str] = field(default_factory=list)


@dataclass
class Op:
    """One operation. `text` is what follows the results, up to the first region.

    `kind` is "plain", "for", "if" or "while". A loop's `inits` are what its block arguments start as, the induction
    variable's lower bound included for "for".
    """

    text: str
    results: list[tuple[str, Type]] = field(default_factory=list)
    kind: str = "plain"
    blocks: list[Block] = field(default_factory=list)
    inits: list[str] = field(default_factory=list)
    upper: str = ""
    step: str = ""
    annotation: str = ""

    def reads(self) -> set[str]:
        """Names of values that the operation uses itself, without its regions' operations."""
        own = " ".join([self.text, self.upper, self.step, *self.inits, *(y for b in self.blocks for y in b.yields)])
        return set(_VALUE.findall(own))


@dataclass
class Scalar:
    """A number that the kernel takes. `choices` are the values it may have at run time."""

    name: str
    element: str
    choices: tuple[int, ...]


@dataclass
class ArrayArgument:
    """An array that the kernel takes.

    `role` is "in", "out" (poison before the run) or "inout"; `low` and `high` bound the integers that it starts with.
    `align` is the promise of tile.align in bytes, or 0; `tolerance` the largest error of an output's elements. With
    `columns` the last dimension but one is the dense one.
    """

    name: str
    element: str
    shape: tuple[int, ...]
    role: str
    align: int
    low: int = 0
    high: int = 0
    tolerance: float = 0.0
    columns: bool = False

    @property
    def type(self) -> str:
        extents = "x".join(["?"] * len(self.shape) + [self.element])
        strides = ["?"] * len(self.shape)
        strides[-2 if self.columns else -1] = "1"
        return f"memref<{extents}, strided<[{', '.join(strides)}]>>"


@dataclass
class Program:
    """A kernel: its arguments, attributes (`warps`, ...) and body."""

    seed: str
    arrays: list[ArrayArgument] = field(default_factory=list)
    scalars: list[Scalar] = field(default_factory=list)
    attributes: dict[str, int] = field(default_factory=dict)
    body: Block = field(default_factory=Block)

    def __str__(self) -> str:
        arguments = [f"%{a.name}: {a.type} {{{_argument_attributes(a)}}}" for a in self.arrays]
        arguments += [f'%{s.name}: {s.element} {{tile.name = "{s.name}"}}' for s in self.scalars]
        knobs = ", ".join(f"{name} = {value}" for name, value in self.attributes.items())
        knobs = f" attributes {{{knobs}}}" if knobs else ""
        lines = [f"// Random program {self.seed}.", "tile.kernel @random(" + ",\n    ".join(arguments) + f"){knobs} {{"]
        _print_block(self.body, 1, lines)
        return "\n".join([*lines, "  tile.return", "}", ""])


def _argument_attributes(array: ArrayArgument) -> str:
    align = f", tile.align = {array.align} : i64" if array.align else ""
    return f'tile.name = "{array.name}"{align}'


def _print_block(block: Block, depth: int, lines: list[str]) -> None:
    for op in block.operations:
        _print_op(op, depth, lines)


def _print_op(op: Op, depth: int, lines: list[str]) -> None:
    space = "  " * depth
    results = ""
    if op.results:
        base = op.results[0][0].split("#")[0]
        results = f"{base}:{len(op.results)} = " if len(op.results) > 1 else f"{base} = "
    if op.kind == "plain":
        lines.append(f"{space}{results}{op.text}")
        return
    types = ", ".join(str(type_) for _, type_ in op.results)
    if op.kind == "for":
        lines.append(space + results + _loop_head(op, types))
        _print_region(op.blocks[0], op.text.split(".")[0] + ".yield", types, depth, lines)
    elif op.kind == "if":
        arrow = f" -> ({types})" if types else ""
        lines.append(f"{space}{results}{op.text}{arrow} {{")
        _print_region(op.blocks[0], "scf.yield", types, depth, lines)
        if len(op.blocks) > 1:
            lines.append(f"{space}}} else {{")
            _print_region(op.blocks[1], "scf.yield", types, depth, lines)
    else:
        _print_while(op, results, types, depth, lines)
    lines.append(f"{space}}}")


def _loop_head(op: Op, types: str) -> str:
    block = op.blocks[0]
    carried = ", ".join(f"{name} = {init}" for (name, _), init in zip(block.arguments[1:], op.inits[1:], strict=True))
    carried = f" iter_args({carried}) -> ({types})" if carried else ""
    range_ = f"{block.arguments[0][0]} = {op.inits[0]} to {op.upper} step {op.step}"
    return f"{op.text} {range_}{carried}{op.annotation} {{"


def _print_region(block: Block, terminator: str, types: str, depth: int, lines: list[str]) -> None:
    _print_block(block, depth + 1, lines)
    if block.yields:
        lines.append(f"{'  ' * (depth + 1)}{terminator} {', '.join(block.yields)} : {types}")


def _print_while(op: Op, results: str, types: str, depth: int, lines: list[str]) -> None:
    space = "  " * depth
    before, after = op.blocks
    carried = ", ".join(f"{name} = {init}" for (name, _), init in zip(before.arguments, op.inits, strict=True))
    lines.append(f"{space}{results}scf.while ({carried}) : ({types}) -> ({types}) {{")
    _print_block(before, depth + 1, lines)
    lines.append(f"{space}  scf.condition({before.yields[0]}) {', '.join(before.yields[1:])} : {types}")
    lines.append(f"{space}}} do {{")
    lines.append(f"{space}^bb0({', '.join(f'{name}: {type_}' for name, type_ in after.arguments)}):")
    _print_region(after, "scf.yield", types, depth, lines)


def rename(block: Block, names: Mapping[str, str]) -> None:
    """Replaces uses of values everywhere in a block."""

    def new(text: str) -> str:
        return _VALUE.sub(lambda found: names.get(found[0], found[0]), text)

    for op in block.operations:
        op.text, op.upper, op.step = new(op.text), new(op.upper), new(op.step)
        op.inits = [new(init) for init in op.inits]
        for inner in op.blocks:
            rename(inner, names)
    block.yields = [new(value) for value in block.yields]
