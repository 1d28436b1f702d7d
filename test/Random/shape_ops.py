"""Operations that change the shape of tiles: broadcasts, transposes, reductions, scans."""

from __future__ import annotations

from builder import FLOAT8, FLOATS, LIMITS, Value
from program_tree import Op, Type
from tile_ops import TileOps


class ShapeOps(TileOps):
    """Element-wise operations, and those that change shapes."""

    # Shapes.

    def broadcast(self) -> Value:
        """A row, a column or one element, repeated."""
        b = self.b
        shape = b.rng.choice([s for s in self.shapes if len(s) == 2] or [(16, 16)])
        axis = b.rng.choice([0, 1])
        element = b.rng.choice(self.elements)
        row = self.pick(lambda v: v.shape == (shape[1 - axis],), exact=False)
        row = row or self.fresh(Type(element, (shape[1 - axis],)))
        thin = tuple(1 if i == axis else e for i, e in enumerate(shape))
        to = Type(row.element, thin)
        text = f"tile.expand_dims {row.name} axis {axis} : {row.type} -> {to}"
        expanded = b.emit(text, to, row.bound, row.error, keep=False)
        if thin == shape:
            return expanded
        to = Type(row.element, shape)
        return b.emit(f"tile.broadcast {expanded.name} : {expanded.type} -> {to}", to, row.bound, row.error)

    def iota(self) -> Value:
        b, shape = self.b, self.b.rng.choice(self.shapes)
        axis = b.rng.randrange(len(shape))
        type_ = Type(b.rng.choice(["i32", "i32", "i16", "i64"]), shape)
        return b.emit(f"tile.iota axis {axis} : {type_}", type_, shape[axis])

    def places(self, extent: int) -> Value:
        """Places along a dimension, most of them inside of arrays: a permuted or a repeating row of numbers."""
        b, type_ = self.b, Type(self.b.rng.choice(["i32", "i32", "i64"]), (extent,))
        found = self.pick(lambda v: v.type == type_)
        if found is None:
            found = self.accesses.load(type_)
        if b.chance(80):
            mask = b.constant(type_, b.rng.choice([7, 15, 63]))
            found = b.emit(f"arith.andi {found.name}, {mask.name} : {type_}", type_, 63)
        return found

    def transpose(self) -> Value:
        x = self.pick(lambda v: len(v.shape) == 2, exact=False) or self.fresh(Type("f32", self.shapes[0]))
        to = Type(x.element, x.shape[::-1])
        return self.b.emit(f"tile.transpose {x.name} [1, 0] : {x.type} -> {to}", to, x.bound, x.error)

    def reshape(self) -> Value:
        b, x = self.b, self.any_tile()
        count = 1
        for extent in x.shape:
            count *= extent
        ways = [(count,)] + [
            (e, count // e) for e in (1, 2, 4, 8, 16, 32, *(s[0] for s in self.shapes)) if count % e == 0
        ]
        to = Type(x.element, b.rng.choice(ways))
        return b.emit(f"tile.reshape {x.name} : {x.type} -> {to}", to, x.bound, x.error)

    # Reductions.

    def reduce(self) -> Value | None:
        """Along an axis: sum, largest, smallest, or the largest and its place."""
        b = self.b
        x = self.pick(lambda v: v.element not in ("i1", *FLOAT8)) or self.fresh(Type("f32", self.shapes[0]))
        if x.element in ("i1", *FLOAT8):
            return None
        axis = b.rng.randrange(len(x.shape))
        if x.element in ("f32", "i32") and b.chance(20):
            return self._largest_and_place(x, axis)
        x, text, bound = self._combine_region(x, x.shape[axis])
        shape = tuple(e for i, e in enumerate(x.shape) if i != axis)
        to = Type(x.element, shape or None)
        value = b.emit(f"tile.reduce {x.name} axis {axis} {text} : ({x.type}) -> {to}", to, bound)
        return self._as_tile(value)

    def scan(self) -> Value | None:
        b = self.b
        x = self.pick(lambda v: v.element not in ("i1", *FLOAT8)) or self.fresh(Type("f32", self.shapes[0]))
        if x.element in ("i1", *FLOAT8):
            return None
        axis = b.rng.randrange(len(x.shape))
        x, text, bound = self._combine_region(x, x.shape[axis])
        if b.chance(20):  # associative, but not commutative
            text = (
                f"{{ ^bb0(%p: {x.element}, %q: {x.element}): tile.yield {b.rng.choice(['%p', '%q'])} : {x.element} }}"
            )
        reverse = " attributes {reverse}" if b.chance(40) else ""
        return b.emit(f"tile.scan {x.name} axis {axis}{reverse} {text} : ({x.type}) -> {x.type}", x.type, bound)

    def _combine_region(self, x: Value, count: int) -> tuple[Value, str, int]:
        b = self.b
        is_float = x.element in FLOATS
        kind = b.rng.choice(
            ["addf", "addf", "maximumf", "minimumf"] if is_float else ["addi", "maxsi", "minsi", "xori"]
        )
        if kind == "addf" and count > LIMITS[x.element]:  # even ones would not add up exactly
            kind = "maximumf"
        bound = x.bound
        if kind == "addf":
            x = b.clamp(x, max(LIMITS[x.element] // count, 1))
            bound = min(x.bound * count, LIMITS[x.element])
        elif not is_float:
            bound = LIMITS[x.element] + 1
        e = x.element
        text = f"{{ ^bb0(%p: {e}, %q: {e}): %r = arith.{kind} %p, %q : {e} tile.yield %r : {e} }}"
        return x, text, bound

    def _largest_and_place(self, x: Value, axis: int) -> Value:
        """Of equal values the first: the region stays commutative."""
        b, e = self.b, x.element
        places = b.emit(
            f"tile.iota axis {axis} : {Type('i32', x.shape)}", Type("i32", x.shape), x.shape[axis], keep=False
        )
        greater, equal = ("cmpf ogt", "cmpf oeq") if e in FLOATS else ("cmpi sgt", "cmpi eq")
        region = (
            f"{{ ^bb0(%p: {e}, %pi: i32, %q: {e}, %qi: i32): %g = arith.{greater}, %p, %q : {e} "
            f"%e = arith.{equal}, %p, %q : {e} %l = arith.cmpi slt, %pi, %qi : i32 %b = arith.andi %e, %l : i1 "
            f"%c = arith.ori %g, %b : i1 %v = arith.select %c, %p, %q : {e} %i = arith.select %c, %pi, %qi : i32 "
            f"tile.yield %v, %i : {e}, i32 }}"
        )
        shape = tuple(s for i, s in enumerate(x.shape) if i != axis) or None
        name = b.name()
        to, place_type = Type(e, shape), Type("i32", shape)
        types = f"({x.type}, {places.type}) -> ({to}, {place_type})"
        text = f"tile.reduce {x.name}, {places.name} axis {axis} {region} : {types}"
        b.block.operations.append(Op(text, [(f"{name}#0", to), (f"{name}#1", place_type)]))
        value, place = Value(f"{name}#0", to, x.bound), Value(f"{name}#1", place_type, x.shape[axis])
        b.values += [v for v in (value, place) if shape]
        return self._as_tile(place)

    def _as_tile(self, value: Value) -> Value:
        """A number as a tile of it."""
        if value.shape is not None:
            return value
        to = Type(value.element, self.b.rng.choice(self.shapes))
        return self.b.emit(f"tensor.splat {value.name} : {to}", to, value.bound, value.error)
