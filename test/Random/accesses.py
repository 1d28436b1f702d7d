"""Loads and stores of random programs: arrays, their extents and offsets."""

from __future__ import annotations

from builder import BYTES, FLOATS, Builder, Index, Value
from program_tree import Type

#: Largest absolute value of the numbers in input arrays.
_BOUNDS = {"bf16": 3, "f16": 3, "f32": 5, "f64": 9, "f8E4M3FN": 2, "f8E5M2": 2, "i8": 100, "i16": 300, "i32": 1000}
_BOUNDS |= {"i64": 100000, "i1": 1}


class Accesses:
    """Makes arrays as they are needed: one for each load or store, or an earlier one again."""

    def __init__(self, builder: Builder, weights: dict[str, int]):
        self.builder, self.weights = builder, weights
        self._program: Index | None = None

    def set_program(self, program: Index) -> None:
        """The index that tells programs of the grid from each other."""
        self._program = program

    def load(self, type_: Type, bound: int | None = None) -> Value:
        b, rng = self.builder, self.builder.rng
        offsets = [self._offset(extent) for extent in type_.shape]
        shape = tuple(self._extent(o.high + e, e) for o, e in zip(offsets, type_.shape, strict=True))
        bound = bound or _BOUNDS[type_.element]
        align = 16 if not b.chance(self.weights["unaligned"]) else rng.choice([0, BYTES[type_.element], 8, 4])
        align = align if align >= BYTES[type_.element] else 0
        array = b.array(type_.element, shape, "in", align, bound)
        fill, attributes = 0, []
        if b.chance(self.weights["fill"]):
            fill = rng.randint(-bound, bound)
            attributes.append(f"fill = {fill}{'.0' if type_.element in FLOATS else ''} : {type_.element}")
        if b.chance(10):
            attributes.append(f"cache = #tile.cache<{rng.choice(['ca', 'cg', 'evict_first', 'evict_last'])}>")
        attributes = f" {{{', '.join(attributes)}}}" if attributes else ""
        places = ", ".join(o.name for o in offsets)
        return b.emit(f"tile.load %{array.name}[{places}]{attributes} : {array.type} -> {type_}", type_, bound)

    def store(self, value: Value) -> None:
        """Every program and trip writes a place of its own."""
        b, rng = self.builder, self.builder.rng
        offsets, shape = self.own_place(value.type.shape)
        align = 16 if not b.chance(self.weights["unaligned"]) else 0
        array = b.array(value.element, shape, "out", align)
        array.tolerance = value.error
        cache = " {cache = #tile.cache<evict_first>}" if rng.random() < 0.05 else ""
        places = ", ".join(o.name for o in offsets)
        b.do(f"tile.store {value.name}, %{array.name}[{places}]{cache} : {value.type}, {array.type}")

    def own_place(self, extents: tuple[int, ...]) -> tuple[list[Index], tuple[int, ...]]:
        """Offsets that differ between programs and trips by at least the tile's extents, and the array's shape."""
        b = self.builder
        number, count = self._program, self._program.high + 1
        for index in (i for i in b.indices if i.name.startswith("%t")):  # numbers of trips of enclosing loops
            extent = b.constant_index(index.high + 1)
            scaled = b.index(f"arith.muli {number.name}, {extent.name} : index", 0, number.high * (index.high + 1))
            number = b.index(f"arith.addi {scaled.name}, {index.name} : index", 0, scaled.high + index.high)
            count = number.high + 1
        size = b.constant_index(extents[0])
        first = b.index(f"arith.muli {number.name}, {size.name} : index", 0, number.high * extents[0])
        shape = [max(count * extents[0] - b.rng.choice([0, 0, 0, 1, 5]), 1)]
        offsets = [first]
        for extent in extents[1:]:
            shift = b.rng.choice([0, 0, 0, 0, 1, -3, 8])
            offsets.append(b.constant_index(shift))
            shape.append(max(extent + shift + b.rng.choice([0, 0, 0, -1, -7, 8]), 1))
        return offsets, tuple(shape)

    def _extent(self, full: int, extent: int) -> int:
        """Of an array, so that its end lies behind, in or before the last tile."""
        rng = self.builder.rng
        ragged = rng.choice([0, 0, 0, 0, 1, 8, rng.randint(0, extent)])
        return max(full - ragged, 1)

    def _offset(self, extent: int) -> Index:
        b, rng = self.builder, self.builder.rng
        zero = b.constant_index(0)
        choices = [lambda: zero] * 2
        choices.append(lambda: b.constant_index(rng.choice([-3, 1, 5, 8, 16, -16, extent])))
        if self._program is not None and self._program.high:
            choices.append(lambda: self._scaled(self._program, extent))
        for index in [i for i in b.indices if i.high - i.low < 300][-3:]:
            choices += [lambda i=index: i if i.high > 20 else self._scaled(i, extent)] * 3
        chosen = rng.choice(choices)()
        if rng.random() < 0.1:
            shift = b.constant_index(rng.choice([1, 8, 16, -8]))
            chosen = b.index(
                f"arith.addi {chosen.name}, {shift.name} : index", chosen.low + shift.low, chosen.high + shift.high
            )
        return chosen

    def _scaled(self, index: Index, extent: int) -> Index:
        b = self.builder
        if extent == 1 or index.high * extent > 1000:
            return index
        size = b.constant_index(extent)
        return b.index(f"arith.muli {index.name}, {size.name} : index", index.low * extent, index.high * extent)


def load_bound(element: str) -> int:
    """Largest absolute value that a load of that type gives."""
    return _BOUNDS[element]

