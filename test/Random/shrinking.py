"""Makes a failing program smaller: drops operations, unfolds regions, shrinks extents, as long as it fails alike."""

from __future__ import annotations

import pickle
import re
import time
from collections.abc import Callable, Iterator
from typing import TypeVar

from builder import FLOATS
from program_tree import Block, Op, Program, Type, rename

_Tree = TypeVar("_Tree")

#: Whether a program still fails in the same way.
Fails = Callable[[Program], bool]


def shrink(program: Program, fails: Fails, seconds: float) -> Program:
    """The smallest program found in that time."""
    deadline = time.monotonic() + seconds
    progress = True
    while progress and time.monotonic() < deadline:
        progress = False
        for make in (_one_writer, _without_operations, _unfolded, _forwarded, _simplified, _smaller_extents):
            position: int | None = 0
            while position is not None and time.monotonic() < deadline:
                program, position = _next_smaller(program, make, position, fails, deadline)
                progress |= position is not None
    return program


def _next_smaller(
    program: Program, make: Callable[[Program], Iterator[Program]], position: int, fails: Fails, deadline: float
) -> tuple[Program, int | None]:
    """The first candidate from `position` on that fails too, and its position; else the same program and None."""
    for i, candidate in enumerate(make(program)):
        if time.monotonic() > deadline:
            break
        if i < position:
            continue
        _remove_unused(candidate)
        if str(candidate) != str(program) and fails(candidate):
            return candidate, i
    return program, None


def _copy(tree: _Tree) -> _Tree:
    """A deep copy; pickling is several times faster than the module `copy`."""
    return pickle.loads(pickle.dumps(tree, pickle.HIGHEST_PROTOCOL))


def _blocks(block: Block) -> Iterator[Block]:
    yield block
    for op in block.operations:
        for inner in op.blocks:
            yield from _blocks(inner)


def _places(program: Program) -> list[tuple[int, int]]:
    """(number of the block, number of the operation), later operations first."""
    return [(i, j) for i, block in enumerate(_blocks(program.body)) for j in reversed(range(len(block.operations)))]


def _copy_at(program: Program, place: tuple[int, int]) -> tuple[Program, Block, Op]:
    result = _copy(program)
    block = list(_blocks(result.body))[place[0]]
    return result, block, block.operations[place[1]]


def _zero(type_: Type) -> str:
    if type_.element == "i1" and type_.shape is None:
        return "arith.constant false"
    digits = "0.0" if type_.element in FLOATS else "false" if type_.element == "i1" else "0"
    return f"arith.constant {f'dense<{digits}>' if type_.shape is not None else digits} : {type_}"


def _one_writer(program: Program) -> Iterator[Program]:
    """All but one store less."""
    writers = [p for p in _places(program) if _writes(_copy_at(program, p)[2])]
    for kept in writers if len(writers) > 1 else ():
        result = _copy(program)
        blocks = list(_blocks(result.body))
        for block, position in writers:  # later operations of a block first
            if (block, position) != kept:
                del blocks[block].operations[position]
        yield result


def _without_operations(program: Program) -> Iterator[Program]:
    """Fewer operations, many at a time at first; their results become zero."""
    count = len(list(_blocks(program.body)))
    for size in (16, 4, 1):
        for i in reversed(range(count)):
            length = len(list(_blocks(program.body))[i].operations)
            for start in reversed(range(0, length, size)):
                result = _copy(program)
                block = list(_blocks(result.body))[i]
                dropped = block.operations[start : start + size]
                if all(_is_basic(op) for op in dropped):
                    continue
                zeros = [
                    op if _is_basic(op) else Op(_zero(t), [(name.replace("#", "_"), t)])
                    for op in dropped
                    for name, t in op.results
                ]
                block.operations[start : start + size] = zeros
                rename(result.body, {n: n.replace("#", "_") for op in dropped for n, _ in op.results})
                yield result


def _is_basic(op: Op) -> bool:
    return op.kind == "plain" and op.text.startswith(("arith.constant", "tile.program_id", "tile.num_programs"))


def _unfolded(program: Program) -> Iterator[Program]:
    """The body of a region in place of its operation, once."""
    for place in _places(program):
        result, _, op = _copy_at(program, place)
        for inner in op.blocks if op.kind == "if" else op.blocks[-1:]:
            values = dict(zip((name for name, _ in inner.arguments), op.inits, strict=False))
            yields = inner.yields or [name for name, _ in inner.arguments[1:]]
            names = dict(zip((name for name, _ in op.results), yields, strict=False))
            again = _copy(result)
            target = list(_blocks(again.body))[place[0]]
            unfolded = _copy(inner.operations)
            target.operations[place[1] : place[1] + 1] = unfolded
            rename(again.body, names)
            rename(again.body, values)
            yield again


def _forwarded(program: Program) -> Iterator[Program]:
    """An operand of the same type in place of an operation."""
    for place in _places(program):
        result, _, op = _copy_at(program, place)
        if op.kind != "plain" or len(op.results) != 1:
            continue
        types = {n: t for b in _blocks(result.body) for o in b.operations for n, t in o.results}
        types |= {n: t for b in _blocks(result.body) for n, t in b.arguments}
        for operand in sorted(op.reads()):
            if types.get(operand) == op.results[0][1]:
                again, inner, same = _copy_at(program, place)
                inner.operations.remove(same)
                rename(again.body, {op.results[0][0]: operand})
                yield again


def _simplified(program: Program) -> Iterator[Program]:
    """Without an attribute, a cache hint, a fill or a promise; fewer stages; fewer choices; one carried value less."""
    if program.attributes:
        result = _copy(program)
        result.attributes = {}
        yield result
    for i, scalar in enumerate(program.scalars):
        for choice in scalar.choices if len(scalar.choices) > 1 else ():
            result = _copy(program)
            result.scalars[i].choices = (choice,)
            yield result
    for place in _places(program):
        result, _, op = _copy_at(program, place)
        if " {" in op.text and op.text.startswith(("tile.load", "tile.store", "tile.dot")):
            op.text = re.sub(r" \{[^}]*\}", "", op.text)
            yield result
        for annotation in ("", " pipeline(stages = 1)", " pipeline(stages = 2)"):
            if op.kind == "for" and len(annotation) < len(op.annotation):
                again, _, same = _copy_at(program, place)
                same.annotation = annotation
                yield again
        yield from _fewer_carried(program, place, op)


def _fewer_carried(program: Program, place: tuple[int, int], op: Op) -> Iterator[Program]:
    for i in range(len(op.results) if op.kind in ("for", "if") else 0):
        result, _, same = _copy_at(program, place)
        if op.kind == "for":
            name = same.blocks[0].arguments.pop(i + 1)[0]
            rename(same.blocks[0], {name: same.inits.pop(i + 1)})
        lost, type_ = same.results.pop(i)
        for block in same.blocks:
            block.yields.pop(i)
        names = {
            n: f"{n.split('#')[0]}{f'#{k}' if len(same.results) > 1 else ''}" for k, (n, _) in enumerate(same.results)
        }
        same.results = [(names[n], t) for n, t in same.results]
        rename(result.body, {**names, lost: "%lost"})
        result.body.operations.insert(0, Op(_zero(type_), [("%lost", type_)]))
        yield result


def _smaller_extents(program: Program) -> Iterator[Program]:
    """Another extent everywhere in place of one of a tile's."""
    text = str(program)
    extents = {int(e) for shape in re.findall(r"tensor<((?:\d+x)+)", text) for e in shape.split("x") if e}
    for extent in sorted(extents, reverse=True):
        for smaller in (e for e in (8, 16, 32, 64) if e < extent):
            result = _copy(program)
            for block in _blocks(result.body):
                block.arguments = [(n, _resized(t, extent, smaller)) for n, t in block.arguments]
                for op in block.operations:
                    op.results = [(n, _resized(t, extent, smaller)) for n, t in op.results]
                    op.text = _resized_text(op.text, extent, smaller)
            yield result


def _resized(type_: Type, extent: int, smaller: int) -> Type:
    if type_.shape is None:
        return type_
    return Type(type_.element, tuple(smaller if e == extent else e for e in type_.shape))


def _resized_text(text: str, extent: int, smaller: int) -> str:
    def resized(found: re.Match[str]) -> str:
        return "tensor<" + "".join(f"{smaller if e == str(extent) else e}x" for e in found[1].split("x") if e)

    return re.sub(r"tensor<((?:\d+x)+)", resized, text)


def _remove_unused(program: Program) -> None:
    """Drops operations, arrays and numbers that nothing uses."""
    while True:
        used = {name for block in _blocks(program.body) for op in block.operations for name in op.reads()}
        used |= {name for block in _blocks(program.body) for name in block.yields}
        changed = False
        for block in _blocks(program.body):
            kept = [op for op in block.operations if _has_effect(op) or any(name in used for name, _ in op.results)]
            changed |= len(kept) < len(block.operations)
            block.operations = kept
        if not changed:
            break
    program.arrays = [a for a in program.arrays if f"%{a.name}" in used]
    program.scalars = [s for s in program.scalars if f"%{s.name}" in used]


def _writes(op: Op) -> bool:
    return op.text.startswith(("tile.store", "tile.scatter", "tile.reduce_store"))


def _has_effect(op: Op) -> bool:
    return (
        _writes(op)
        or op.text.startswith("tile.grid")
        or any(_has_effect(inner) for b in op.blocks for inner in b.operations)
    )
