"""Loads and stores of random programs: arrays, their extents and offsets."""

from __future__ import annotations

from builder import BYTES, FLOATS, Builder, Index, Value
from program_tree import ArrayArgument, Type

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
        if b.chance(self.weights["more-dimensions"]):
            extent = rng.randint(1, 3)
            offsets.insert(0, rng.choice([*b.indices[-1:], b.constant_index(rng.choice([0, 0, 1, extent, -1]))]))
            shape = (extent, *shape)
        bound = bound or _BOUNDS[type_.element]
        align = 16 if not b.chance(self.weights["unaligned"]) else rng.choice([0, BYTES[type_.element], 8, 4])
        align = align if align >= BYTES[type_.element] else 0
        array = self._array(type_.element, shape, "in", align, bound)
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
        if b.chance(self.weights["more-dimensions"]):
            extent = rng.randint(1, 3)
            offsets.insert(0, b.constant_index(rng.choice([0, extent - 1, extent])))
            shape = (extent, *shape)
        align = 16 if not b.chance(self.weights["unaligned"]) else 0
        array = self._array(value.element, shape, "out", align)
        array.tolerance = value.error
        cache = " {cache = #tile.cache<evict_first>}" if rng.random() < 0.05 else ""
        places = ", ".join(o.name for o in offsets)
        b.do(f"tile.store {value.name}, %{array.name}[{places}]{cache} : {value.type}, {array.type}")

    def gather(self, shape: tuple[int, int], places: Value) -> Value:
        """Rows or columns at the places that a tile of rank 1 names; places outside the array give the fill."""
        b, rng = self.builder, self.builder.rng
        element = rng.choice(["f32", "bf16", "i32", "f16", "i8"])
        extents = (shape[0] + rng.randint(0, 9), shape[1] + rng.randint(0, 20))
        array = self._array(element, extents, "in", 16, _BOUNDS[element])
        by_rows = places.shape[0] == shape[0] and (places.shape[0] != shape[1] or b.chance(70))
        start = b.constant_index(rng.choice([0, 0, 3, 8, -2]))
        names, types = [start.name, places.name], ["index", str(places.type)]
        if by_rows:
            names.reverse()
            types.reverse()
        to = Type(element, shape)
        text = f"tile.gather %{array.name}[{', '.join(names)}] : {array.type}, ({', '.join(types)}) -> {to}"
        return b.emit(text, to, array.high)

    def scatter(self, value: Value, places: Value) -> None:
        """Adds slices along the first dimension to whatever rows `places` names: sums of integers have no order."""
        b = self.builder
        array = self._array(value.element, (value.shape[0] + 3, *value.shape[1:]), "inout", 16, 5)
        names, types = [places.name], [str(places.type)]
        for _ in value.shape[1:]:
            names.append(b.constant_index(0).name)
            types.append("index")
        combine = f"combine #tile.combine<{b.rng.choice(['add', 'min', 'max'])}>"
        b.do(f"tile.scatter {combine} {value.name}, %{array.name}[{', '.join(names)}] : {value.type}, {array.type}, "
             f"({', '.join(types)})")  # fmt: skip

    def reduce_store(self, value: Value) -> None:
        b, rng = self.builder, self.builder.rng
        shape = tuple(max(extent + rng.choice([0, 0, 3, -1]), 1) for extent in value.shape)
        array = self._array(value.element, shape, "inout", 16, 5)
        places = ", ".join(b.constant_index(rng.choice([0, 0, 0, 1, -2])).name for _ in shape)
        b.do(f"tile.reduce_store #tile.combine<{rng.choice(['add', 'min', 'max'])}> {value.name}, "
             f"%{array.name}[{places}] : {value.type}, {array.type}")  # fmt: skip

    def load_scalar(self) -> Index:
        """A small number from an array, as an index."""
        b, rng = self.builder, self.builder.rng
        array = self._array("i32", (rng.randint(1, 6),), "in", rng.choice([0, 16]))
        array.high = 3
        place = rng.choice([b.constant_index(rng.choice([0, 0, 1, 7, -1])), *b.indices[-2:]])
        text = f"tile.load_scalar %{array.name}[{place.name}] : {array.type} -> i32"
        number = b.emit(text, Type("i32"), 3, keep=False)
        index = b.index(f"arith.index_cast {number.name} : i32 to index", 0, 3)
        b.indices.append(index)
        return index

    def store_scalar(self, index: Index) -> None:
        b = self.builder
        number = b.emit(f"arith.index_cast {index.name} : index to i32", Type("i32"), 2**31, keep=False)
        (place,), shape = self.own_place((1,))
        array = self._array("i32", shape, "out", 0)
        b.do(f"tile.store_scalar {number.name}, %{array.name}[{place.name}] : i32, {array.type}")

    def read_back(self, value: Value) -> Value:
        """Stores a tile and loads it again: what lies outside of the array becomes zero."""
        b = self.builder
        offsets, shape = self.own_place(value.type.shape)
        array = self._array(value.element, shape, "out", b.rng.choice([0, 16]))
        places = ", ".join(o.name for o in offsets)
        b.do(f"tile.store {value.name}, %{array.name}[{places}] : {value.type}, {array.type}")
        return b.emit(f"tile.load %{array.name}[{places}] : {array.type} -> {value.type}", value.type, value.bound)

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

    def _array(self, element: str, shape: tuple[int, ...], role: str, align: int, bound: int = 0) -> ArrayArgument:
        columns = len(shape) > 1 and self.builder.chance(self.weights["column-major"])
        return self.builder.array(element, shape, role, align, bound, columns=columns)

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
