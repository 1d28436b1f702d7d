"""Operations on tiles: element-wise chains, casts, shapes, products, reductions. Each takes values that are in scope."""

from __future__ import annotations

from accesses import Accesses, load_bound
from builder import FLOAT8, FLOATS, LIMITS, Builder, Value
from program_tree import Op, Type

_UNIT = {"bf16": 2.0**-8, "f16": 2.0**-11, "f32": 2.0**-24, "f64": 2.0**-53, "f8E4M3FN": 2.0**-4, "f8E5M2": 2.0**-3}
_DOT_RESULT = {"i8": "i32", "f64": "f64"}
#: Sums of products of 8-bit floats keep 13 fraction bits on some hardware.
_F8_SUM = 2**12


class TileOps:
    """`shapes` are those that tiles of this program like to have."""

    def __init__(self, builder: Builder, accesses: Accesses, weights: dict[str, int], shapes: list[tuple[int, ...]]):
        self.b, self.accesses, self.weights, self.shapes = builder, accesses, weights, shapes
        self.elements = ["f32", "f32", "bf16", "f16", "i32", "i32", "i8", "i16"]

    # Choices.

    def pick(self, accept=lambda value: True, *, exact: bool = True) -> Value | None:
        """A tile in scope, the later ones more often."""
        fitting = [v for v in self.b.values if v.shape is not None and accept(v) and not (exact and v.error)]
        return fitting[-1 - min(int(self.b.rng.expovariate(0.4)), len(fitting) - 1)] if fitting else None

    def any_tile(self) -> Value:
        return self.pick(exact=False) or self.fresh()

    def fresh(self, type_: Type | None = None) -> Value:
        """A tile that is loaded, or a constant."""
        type_ = type_ or Type(self.b.rng.choice(self.elements), self.b.rng.choice(self.shapes))
        if type_.element == "i1":
            return self.mask(type_.shape)
        if self.b.chance(20):
            return self.b.constant(type_, self.b.rng.randint(-3, 3), keep=True)
        return self.accesses.load(type_)

    def of_type(self, type_: Type, bound: int | None = None) -> Value:
        """A tile of that type with values up to `bound`."""
        value = self.pick(lambda v: v.type == type_) or self.shaped(type_)
        return value if bound is None else self.b.clamp(value, bound)

    def shaped(self, type_: Type) -> Value:
        """A new tile of that type: cast from one of the shape, or loaded."""
        source = self.pick(lambda v: v.shape == type_.shape and v.element != "i1" and v.element not in FLOAT8)
        if source and type_.element not in FLOAT8 and self.b.chance(60):
            return self.cast(source, type_.element)
        return self.fresh(type_)

    # Element by element.

    def elementwise(self) -> Value:
        value = self.pick(lambda v: v.element not in FLOAT8, exact=self.b.chance(80)) or self.fresh()
        if value.element in FLOAT8:
            return value
        if value.element == "i1":
            return self._mask_arithmetic(value)
        return self._float_arithmetic(value) if value.element in FLOATS else self._integer_arithmetic(value)

    def _partner(self, value: Value) -> Value:
        if self.b.chance(25):
            return self.b.constant(value.type, self.b.rng.choice([-2, -1, 1, 2, 3]))
        return self.of_type(value.type)

    def _float_arithmetic(self, x: Value) -> Value:
        b, limit = self.b, LIMITS[x.element]
        kind = b.rng.choice(["addf", "subf", "mulf", "maximumf", "minimumf", "negf", "absf", "fma"])
        if kind in ("negf", "absf"):
            return b.emit(f"{'math' if kind == 'absf' else 'arith'}.{kind} {x.name} : {x.type}", x.type, x.bound, x.error)
        y = self._partner(x)
        if kind in ("mulf", "fma"):
            half = int(limit**0.5) if kind == "mulf" else int((limit / 2) ** 0.5)
            x, y = b.clamp(x, half), b.clamp(y, half)
            bound, error = x.bound * y.bound, x.error * y.bound + x.bound * y.error
            if kind == "fma":
                z = b.clamp(self.of_type(x.type), limit // 2)
                return self._rounded(f"math.fma {x.name}, {y.name}, {z.name} : {x.type}", x.type, bound + z.bound,
                                     error + z.error)  # fmt: skip
        elif kind in ("maximumf", "minimumf"):
            bound, error = max(x.bound, y.bound), max(x.error, y.error)
        else:
            x, y = b.clamp(x, limit // 2), b.clamp(y, limit // 2)
            bound, error = x.bound + y.bound, x.error + y.error
        return self._rounded(f"arith.{kind} {x.name}, {y.name} : {x.type}", x.type, bound, error)

    def _rounded(self, text: str, type_: Type, bound: int, error: float) -> Value:
        """A result that is exact if the operands are, or else rounded."""
        return self.b.emit(text, type_, bound, error + _UNIT[type_.element] * bound if error else 0.0)

    def _integer_arithmetic(self, x: Value) -> Value:
        b, y, full = self.b, self._partner(x), LIMITS[x.element] + 1
        kind = b.rng.choice(["addi", "subi", "muli", "andi", "ori", "xori", "maxsi", "minsi", "minui", "shli", "shrsi",
                             "divsi", "remsi", "floordivsi", "ceildivsi"])  # fmt: skip
        bound = {"addi": x.bound + y.bound, "subi": x.bound + y.bound, "muli": x.bound * y.bound,
                 "maxsi": max(x.bound, y.bound), "minsi": max(x.bound, y.bound)}.get(kind, full)  # fmt: skip
        if kind in ("shli", "shrsi"):
            y = b.constant(x.type, b.rng.randint(0, 5))
        elif kind in ("divsi", "remsi", "floordivsi", "ceildivsi"):
            y, bound = b.constant(x.type, b.rng.choice([1, 2, 3, 5, 7, -3])), min(x.bound + 8, full)
        elif kind == "andi" and b.chance(50):
            y, bound = b.constant(x.type, 7), 7
        return b.emit(f"arith.{kind} {x.name}, {y.name} : {x.type}", x.type, min(bound, full))

    def _mask_arithmetic(self, x: Value) -> Value:
        y = self.of_type(x.type)
        kind = self.b.rng.choice(["andi", "ori", "xori"])
        return self.b.emit(f"arith.{kind} {x.name}, {y.name} : {x.type}", x.type, 1)

    def mask(self, shape: tuple[int, ...]) -> Value:
        """A comparison of two tiles."""
        b = self.b
        x = self.pick(lambda v: v.shape == shape and v.element != "i1" and v.element not in FLOAT8)
        x = x or self.fresh(Type(b.rng.choice(self.elements), shape))
        y = self._partner(x)
        if x.element in FLOATS:
            text = f"arith.cmpf {b.rng.choice(['olt', 'oge', 'oeq', 'une', 'ugt'])}, {x.name}, {y.name} : {x.type}"
        else:
            text = f"arith.cmpi {b.rng.choice(['slt', 'sge', 'eq', 'ne', 'ult', 'ugt'])}, {x.name}, {y.name} : {x.type}"
        return b.emit(text, Type("i1", shape), 1)

    def select(self) -> Value:
        b, x = self.b, self.any_tile()
        y = self.of_type(x.type)
        mask = self.of_type(Type("i1", x.shape))
        text = f"arith.select {mask.name}, {x.name}, {y.name} : {Type('i1', x.shape)}, {x.type}"
        return b.emit(text, x.type, max(x.bound, y.bound), max(x.error, y.error))

    def cast(self, x: Value, element: str) -> Value:
        """A tile in another type, clamped where that cannot hold its values."""
        b = self.b
        if x.element == element:
            return x
        to = x.type.with_element(element)
        if x.element == "i1":
            return b.emit(f"arith.{'uitofp' if element in FLOATS else 'extui'} {x.name} : {x.type} to {to}", to, 1)
        from_float, to_float = x.element in FLOATS, element in FLOATS
        if from_float and to_float:
            return self._float_cast(x, to)
        if from_float or to_float:
            x = b.clamp(x, min(LIMITS[x.element], LIMITS[element]))
            return b.emit(f"arith.{'fptosi' if from_float else 'sitofp'} {x.name} : {x.type} to {to}", to, x.bound)
        kind = "extsi" if LIMITS[element] > LIMITS[x.element] else "trunci"
        bound = min(x.bound, LIMITS[element] + 1)
        return b.emit(f"arith.{kind} {x.name} : {x.type} to {to}", to, bound)

    def _float_cast(self, x: Value, to: Type) -> Value:
        b, element = self.b, to.element
        size = {"f64": 8, "f32": 4, "bf16": 2, "f16": 2}
        before, after = size.get(x.element, 1), size.get(element, 1)
        if before == after:  # by way of f32
            return self._float_cast(self._float_cast(x, x.type.with_element("f32")), to)
        if after > before:
            return b.emit(f"arith.extf {x.name} : {x.type} to {to}", to, x.bound, x.error)
        if before == 8 and after == 1:
            x = self._float_cast(x, x.type.with_element("f32"))
        x = b.clamp(x, LIMITS[element])
        error = x.error + _UNIT[element] * x.bound if x.error else 0.0
        return b.emit(f"arith.truncf {x.name} : {x.type} to {to}", to, x.bound, error)

    def random_cast(self) -> Value:
        value = self.pick(lambda v: v.element not in FLOAT8) or self.fresh()
        return value if value.element in FLOAT8 else self.cast(value, self.b.rng.choice(self.elements))

    def through_float8(self) -> Value:
        """To an 8-bit float and back."""
        x = self.pick(lambda v: v.element in ("f32", "bf16", "f16"))
        x = x or self.fresh(Type("f32", self.b.rng.choice(self.shapes)))
        element = self.b.rng.choice(sorted(FLOAT8))
        return self._float_cast(self._float_cast(x, x.type.with_element(element)), x.type)

    def approximate(self) -> Value:
        """A function that the hardware only approximates, of an exact float."""
        b = self.b
        x = self.pick(lambda v: v.element in ("f32", "bf16", "f16")) or self.fresh(Type("f32", b.rng.choice(self.shapes)))
        if x.element not in ("f32", "bf16", "f16"):
            x = self.cast(x, "f32")
        kind = b.rng.choice(["exp", "exp2", "tanh", "rsqrt", "sqrt", "log2", "log"])
        x = b.clamp(x, 6)
        bound = {"exp": 404, "exp2": 64, "tanh": 1}.get(kind, 3)
        if kind in ("rsqrt", "sqrt", "log2", "log"):  # of 1 to 7
            positive = b.emit(f"math.absf {x.name} : {x.type}", x.type, x.bound, keep=False)
            one = b.constant(x.type, 1)
            x = b.emit(f"arith.addf {positive.name}, {one.name} : {x.type}", x.type, 7, keep=False)
        error = 2.0**-19 * bound + 2 * _UNIT[x.element] * bound
        return b.emit(f"math.{kind} {x.name} : {x.type}", x.type, bound, error)

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

    def transpose(self) -> Value:
        x = self.pick(lambda v: len(v.shape) == 2, exact=False) or self.fresh(Type("f32", self.shapes[0]))
        to = Type(x.element, x.shape[::-1])
        return self.b.emit(f"tile.transpose {x.name} [1, 0] : {x.type} -> {to}", to, x.bound, x.error)

    def reshape(self) -> Value:
        b, x = self.b, self.any_tile()
        count = 1
        for extent in x.shape:
            count *= extent
        ways = [(count,)] + [(e, count // e) for e in (1, 2, 4, 8, 16, 32, *(s[0] for s in self.shapes)) if count % e == 0]
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
        reverse = " attributes {reverse}" if b.chance(40) else ""
        return b.emit(f"tile.scan {x.name} axis {axis}{reverse} {text} : ({x.type}) -> {x.type}", x.type, bound)

    def _combine_region(self, x: Value, count: int) -> tuple[Value, str, int]:
        b = self.b
        is_float = x.element in FLOATS
        kind = b.rng.choice(["addf", "addf", "maximumf", "minimumf"] if is_float else ["addi", "maxsi", "minsi", "xori"])
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
        places = b.emit(f"tile.iota axis {axis} : {Type('i32', x.shape)}", Type("i32", x.shape), x.shape[axis], keep=False)
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
        text = f"tile.reduce {x.name}, {places.name} axis {axis} {region} : ({x.type}, {places.type}) -> ({to}, {place_type})"
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

    # Products.

    def dot(self, sizes: tuple[int, int, int], accumulator: Value | None = None, room: int | None = None) -> Value:
        """A product of M x K and K x N, each stored either way, added to `accumulator` or to what is in scope.

        `room` bounds what the product may add.
        """
        b, rng = self.b, self.b.rng
        m, n, k = sizes
        if accumulator is not None and accumulator.element == "i32":
            element = "i8"
        else:
            element = rng.choice(["bf16", "bf16", "f16", "f16", "f32"] + ["i8"] * (accumulator is None))
            if self.weights["f8"] and b.chance(15):
                element = rng.choice(sorted(FLOAT8))
        result = Type(_DOT_RESULT.get(element, "f32"), (m, n))
        limit = _F8_SUM if element in FLOAT8 else LIMITS[result.element] // 2
        room = min(room or limit, limit)
        bound = max(int((room / k) ** 0.5), 1)
        if element not in FLOAT8:
            bound = min(bound, LIMITS[element], 1024)
        flip_a, flip_b = b.chance(35), b.chance(50)
        x = self._operand(Type(element, (k, m) if flip_a else (m, k)), bound)
        y = self._operand(Type(element, (n, k) if flip_b else (k, n)), bound)
        acc = accumulator
        if acc is None:
            acc = self.b.constant(result, 0) if b.chance(60) else b.clamp(self.of_type(result), limit)
        precision = " {precision = #tile.precision<tf32>}" if element == "f32" and b.chance(30) else ""
        text = (
            f"tile.dot {x.name}{' transpose_a' * flip_a}, {y.name}{' transpose_b' * flip_b}, {acc.name}{precision} "
            f": {x.type}, {y.type} -> {result}"
        )
        return b.emit(text, result, acc.bound + k * x.bound * y.bound)

    def _operand(self, type_: Type, bound: int) -> Value:
        """Mostly loaded; sometimes computed, and a product of before if those may be chained."""
        b = self.b
        computed = self.weights["register-dot"] and b.chance(10 * self.weights["register-dot"])
        if computed and type_.element not in FLOAT8:
            value = self.pick(lambda v: v.type == type_)
            if value is None and (source := self.pick(lambda v: v.shape == type_.shape and v.element not in FLOAT8)):
                value = self.cast(source, type_.element)
            if value is not None:
                return b.clamp(value, bound)
        return b.clamp(self.accesses.load(type_, min(bound, load_bound(type_.element))), bound)

    def chained_dot(self, sizes: tuple[int, int, int], extent: int) -> Value:
        """The result of a product, cast, as the first operand of another: M x N times N x `extent`."""
        b = self.b
        m, n, _ = sizes
        first = self.dot(sizes)
        if first.element == "i32":
            return first
        element = b.rng.choice(["bf16", "f16"])
        x = self.cast(b.clamp(first, 16), element)
        y = self._operand(Type(element, (n, extent)), 3)
        result = Type("f32", (m, extent))
        acc = b.constant(result, 0)
        text = f"tile.dot {x.name}, {y.name}, {acc.name} : {x.type}, {y.type} -> {result}"
        return b.emit(text, result, n * x.bound * y.bound)

