"""Lines that use operations of the tile dialect on a tile and end in a tile of its type.

The mutator puts them between a tile and its uses. Legal or nearly so; some numbers are out of range on purpose.
"""

from __future__ import annotations

import math
import random
import re

_TILE = re.compile(r"tensor<((?:\d+x)+)(\w+)>$")
_ARRAY = re.compile(r"(%\w+): (memref<((?:[?\d]+x)+)(\w+)(?:, strided<[^>]*>)?>)")
_COMBINES = {
    "f": ("arith.addf", "arith.maximumf", "arith.mulf", "arith.minnumf", "arith.subf"),
    "i": ("arith.addi", "arith.maxsi", "arith.xori", "arith.muli", "arith.minui"),
}


class TileOps:
    """Draws lines for the tile `value` of type `kind` in a program `text`; `new` is the name of the result."""

    def __init__(self, rng: random.Random, text: str, value: str, kind: str, new: str):
        self.rng, self.value, self.kind, self.new = rng, value, kind, new
        match = _TILE.match(kind)
        self.shape = [int(extent) for extent in match[1].split("x")[:-1]] if match else []
        self.element = match[2] if match else ""
        self.arrays = _ARRAY.findall(text)

    def draw(self) -> list[str]:
        """The lines; none for what is no tile of known extents."""
        if not self.shape:
            return []
        makers = [self.iota, self.transpose, self.reshape, self.split, self.join, self.reduce, self.scan]
        if self.arrays:
            makers += [self.gather, self.scatter, self.reduce_store, self.scalar]
        return self.rng.choice(makers)()

    # ---- what the lines are made of

    def tile(self, shape: list[int], element: str = "") -> str:
        return f"tensor<{''.join(f'{extent}x' for extent in shape)}{element or self.element}>"

    def axis(self) -> int:
        return self.rng.choice([*range(len(self.shape))] * 8 + [len(self.shape), -1])

    def back(self, name: str, kind: str) -> str:
        """The last line: from `name` of type `kind` to the tile's own type, in row-major order."""
        return f"{self.new} = tile.reshape {name} : {kind} -> {self.kind}"

    def same(self) -> str:
        """The last line where nothing came back: the tile as it was."""
        return f"{self.new} = tile.reshape {self.value} : {self.kind} -> {self.kind}"

    def combine(self, sources: int = 1) -> str:
        """A combining region of so many sources."""
        op = self.rng.choice(_COMBINES.get(self.element[:1], _COMBINES["f"]))
        sides = [[f"%{side}{i}" for i in range(sources)] for side in "pq"]
        arguments = ", ".join(f"{name}: {self.element}" for side in sides for name in side)
        body = " ".join(f"%r{i} = {op} {p}, {q} : {self.element}" for i, (p, q) in enumerate(zip(*sides, strict=True)))
        body = body.replace(f" %r{sources - 1} =", f"\n%r{sources - 1} =")
        results = ", ".join(f"%r{i}" for i in range(sources))
        return f"{{\n^bb0({arguments}):\n{body}\ntile.yield {results} : {', '.join([self.element] * sources)}\n}}"

    def places(self, count: int) -> tuple[list[str], str, str]:
        """Lines of positions for an array of `count` dimensions, their names, and their types."""
        lines, names, types = [], [], []
        lead = count - len(self.shape)
        for dim in range(count):
            at = dim - lead
            shape = self.rng.choice([[self.shape[at]], self.shape, None, None]) if at >= 0 else None
            if shape is None:
                names.append("%c0")
                types.append("index")
                continue
            integer = self.rng.choice(["i32", "i32", "i64", "i16"])
            names.append(f"{self.new}p{dim}")
            types.append(self.tile(shape, integer))
            axis = self.rng.randrange(len(shape))
            lines.append(f"{names[-1]} = tile.iota axis {axis} : {types[-1]}")
        return lines, ", ".join(names), ", ".join(types)

    def array(self) -> tuple[str, str, int]:
        """Name, type and rank of an array, one of the tile's element type if there is one."""
        fitting = [found for found in self.arrays if found[3] == self.element]
        name, kind, extents, _ = self.rng.choice(fitting or self.arrays)
        return name, kind, extents.count("x")

    # ---- one for each operation

    def iota(self) -> list[str]:
        integer = self.element if self.element[:1] == "i" else self.rng.choice(["i32", "i64", "i8"])
        coordinates, kind = f"{self.new}c", self.tile(self.shape, integer)
        lines = [f"{coordinates} = tile.iota axis {self.axis()} : {kind}"]
        if integer == self.element:
            return [*lines, f"{self.new} = arith.addi {self.value}, {coordinates} : {kind}"]
        lines.append(f"{self.new}f = arith.sitofp {coordinates} : {kind} to {self.kind}")
        return [*lines, f"{self.new} = arith.addf {self.value}, {self.new}f : {self.kind}"]

    def transpose(self) -> list[str]:
        order = self.rng.sample(range(len(self.shape)), len(self.shape))
        turned = self.tile([self.shape[dim] for dim in order])
        inverse = [order.index(dim) for dim in range(len(order))]
        return [
            f"{self.new}t = tile.transpose {self.value} {order} : {self.kind} -> {turned}",
            f"{self.new} = tile.transpose {self.new}t {inverse} : {turned} -> {self.kind}",
        ]

    def reshape(self) -> list[str]:
        count = math.prod(self.shape)
        factor = self.rng.choice([1, 2, 3, 4, 8, 16, 32, count])
        shape = self.rng.choice([[count], [factor, count // factor], [count // factor, factor], [*self.shape, 1]])
        kind = self.tile(shape)
        return [f"{self.new}r = tile.reshape {self.value} : {self.kind} -> {kind}", self.back(f"{self.new}r", kind)]

    def split(self) -> list[str]:
        *others, last = self.shape
        pairs, half = self.tile([*others, last // 2, 2]), self.tile([*others, last // 2])
        a, b = self.rng.sample([f"{self.new}a", f"{self.new}b"], 2)
        return [
            f"{self.new}s = tile.reshape {self.value} : {self.kind} -> {pairs}",
            f"{self.new}a, {self.new}b = tile.split {self.new}s : {pairs} -> {half}",
            f"{self.new}j = tile.join {a}, {b} : {half} -> {pairs}",
            self.back(f"{self.new}j", pairs),
        ]

    def join(self) -> list[str]:
        pairs = self.tile([*self.shape, 2])
        return [
            f"{self.new}j = tile.join {self.value}, {self.value} : {self.kind} -> {pairs}",
            f"{self.new}, {self.new}o = tile.split {self.new}j : {pairs} -> {self.kind}",
        ]

    def reduce(self) -> list[str]:
        axis = self.axis()
        rest = [extent for dim, extent in enumerate(self.shape) if dim != axis]
        kind = self.tile(rest) if rest else self.element
        if self.rng.random() < 0.2:
            lines = [f"{self.new}d:2 = tile.reduce {self.value}, {self.value} axis {axis} {self.combine(2)} : "
                     f"({self.kind}, {self.kind}) -> ({kind}, {kind})"]  # fmt: skip
            reduced = f"{self.new}d#0"
        else:
            lines = [f"{self.new}d = tile.reduce {self.value} axis {axis} {self.combine()} : ({self.kind}) -> {kind}"]
            reduced = f"{self.new}d"
        if not rest:
            return [*lines, f"{self.new} = tensor.splat {reduced} : {self.kind}"]
        one = self.tile([*self.shape[:axis], 1, *self.shape[axis + 1 :]])
        return [
            *lines,
            f"{self.new}e = tile.expand_dims {reduced} axis {axis} : {kind} -> {one}",
            f"{self.new} = tile.broadcast {self.new}e : {one} -> {self.kind}",
        ]

    def scan(self) -> list[str]:
        reverse = self.rng.choice(["", "", " attributes {reverse}"])
        return [f"{self.new} = tile.scan {self.value} axis {self.axis()}{reverse} {self.combine()} : "
                f"({self.kind}) -> {self.kind}"]  # fmt: skip

    def gather(self) -> list[str]:
        name, kind, rank = self.array()
        lines, places, types = self.places(rank)
        return [*lines, f"{self.new} = tile.gather {name}[{places}] : {kind}, ({types}) -> {self.kind}"]

    def scatter(self) -> list[str]:
        name, kind, rank = self.array()
        lines, places, types = self.places(rank)
        combine = self.rng.choice(["", "", "combine <add> ", "combine <max> "])
        scatter = f"tile.scatter {combine}{self.value}, {name}[{places}] : {self.kind}, {kind}, ({types})"
        return [*lines, scatter, self.same()]

    def reduce_store(self) -> list[str]:
        name, kind, rank = self.array()
        places, combine = ", ".join(["%c0"] * rank), self.rng.choice(["add", "min", "max"])
        return [f"tile.reduce_store <{combine}> {self.value}, {name}[{places}] : {self.kind}, {kind}", self.same()]

    def scalar(self) -> list[str]:
        name, kind, rank = self.array()
        places = ", ".join(["%c0"] * rank)
        lines = [f"{self.new}s = tile.load_scalar {name}[{places}] : {kind} -> {self.element}"]
        if self.rng.random() < 0.5:
            lines.append(f"tile.store_scalar {self.new}s, {name}[{places}] : {self.element}, {kind}")
        return [*lines, f"{self.new} = tensor.splat {self.new}s : {self.kind}"]
