"""Operations on tiles, element by element: arithmetic, comparisons, casts. Each takes values in scope."""

from __future__ import annotations

from accesses import Accesses
from builder import FLOAT8, FLOATS, LIMITS, Builder, Value
from program_tree import Type

_UNIT = {"bf16": 2.0**-8, "f16": 2.0**-11, "f32": 2.0**-24, "f64": 2.0**-53, "f8E4M3FN": 2.0**-4, "f8E5M2": 2.0**-3}


class TileOps:
    """`shapes` are those that tiles of this program like to have."""

    def __init__(self, builder: Builder, accesses: Accesses, weights: dict[str, int], shapes: list[tuple[int, ...]]):
        self.b, self.accesses, self.weights, self.shapes = builder, accesses, weights, shapes
        self.elements = ["f32", "f32", "bf16", "f16", "i32", "i32", "i8", "i16"] * 3 + ["f64", "i64"]

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
        if type_.element == "i1":
            return self.mask(type_.shape)
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
            return b.emit(
                f"{'math' if kind == 'absf' else 'arith'}.{kind} {x.name} : {x.type}", x.type, x.bound, x.error
            )
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
        x = self.pick(lambda v: v.element in ("f32", "bf16", "f16")) or self.fresh(
            Type("f32", b.rng.choice(self.shapes))
        )
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
