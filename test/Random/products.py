"""Products of tiles, into new or given accumulators, also of products."""

from __future__ import annotations

from accesses import load_bound
from builder import FLOAT8, LIMITS, Value
from program_tree import Type
from shape_ops import ShapeOps

_DOT_RESULT = {"i8": "i32", "f64": "f64"}
#: Sums of products of 8-bit floats keep 13 fraction bits on some hardware.
_F8_SUM = 2**12


class Products(ShapeOps):
    """All operations on tiles, products included."""

    # Products.

    def dot(self, sizes: tuple[int, int, int], accumulator: Value | None = None, room: int | None = None) -> Value:
        """A product of M x K and K x N, each stored either way, added to `accumulator` or to what is in scope.

        `room` bounds what the product may add.
        """
        b = self.b
        m, n, k = sizes
        if (
            k % 32 == 0
            and (accumulator is None or accumulator.element == "f32")
            and b.chance(self.weights["scaled-dot"])
        ):
            return self._scaled_dot(sizes, accumulator, room or LIMITS["f32"] // 2)
        element = self._operand_element(accumulator)
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

    def _operand_element(self, accumulator: Value | None) -> str:
        b, rng = self.b, self.b.rng
        if accumulator is not None and accumulator.element in ("i32", "f64"):
            return {"i32": "i8", "f64": "f64"}[accumulator.element]
        if accumulator is None and b.chance(self.weights["f64-dot"]):
            return "f64"
        if self.weights["f8"] and b.chance(15):
            return rng.choice(sorted(FLOAT8))
        return rng.choice(["bf16", "bf16", "f16", "f16", "f32"] + ["i8"] * (accumulator is None))

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

    def _scaled_dot(self, sizes: tuple[int, int, int], accumulator: Value | None, room: int) -> Value:
        """A product of blocks with scales that make whole numbers of all: of e2m1 in pairs, or of 8-bit floats."""
        b = self.b
        m, n, k = sizes
        result = Type("f32", (m, n))
        element = b.rng.choice(sorted(FLOAT8)) if self.weights["f8"] and b.chance(50) else "i8"
        factors = element == "i8" and self.weights["f8"] and b.chance(50)
        operands, bound = [], k
        for rows in (m, n):
            numbers = self._operand(
                Type(element, (rows, k // 2 if element == "i8" else k)), 2 if element != "i8" else 127
            )
            # As i8, -128 and -127 are the exponents of 2 and 4.
            scale = 2 if factors else b.rng.choice((-128, -127) if element == "i8" else (127, -128, -127))
            type_ = Type("f8E4M3FN" if factors else "i8", (rows, k // (16 if factors else 32)))
            operands += [numbers, b.constant(type_, scale)]
            bound *= (2 if factors else {127: 1, -128: 2, -127: 4}[scale]) * (6 if element == "i8" else numbers.bound)
        if bound > room:
            return self.dot(sizes, accumulator, room)
        acc = b.constant(result, 0) if accumulator is None else accumulator
        names = ", ".join(operand.name for operand in (*operands, acc))
        types = ", ".join(str(operand.type) for operand in operands)
        return b.emit(f"tile.dot_scaled {names} : {types} -> {result}", result, acc.bound + bound)

    def chained_dot(self, sizes: tuple[int, int, int], extent: int) -> Value:
        """The result of a product, cast, as the first operand of another: M x N times N x `extent`."""
        b = self.b
        m, n, _ = sizes
        first = self.dot(sizes)
        if first.element != "f32":
            return first
        element = b.rng.choice(["bf16", "f16"])
        x = self.cast(b.clamp(first, 16), element)
        y = self._operand(Type(element, (n, extent)), 3)
        result = Type("f32", (m, extent))
        acc = b.constant(result, 0)
        text = f"tile.dot {x.name}, {y.name}, {acc.name} : {x.type}, {y.type} -> {result}"
        return b.emit(text, result, n * x.bound * y.bound)
