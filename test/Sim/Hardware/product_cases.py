"""Crafted dot products that show how a tensor core adds: which bits it keeps, whether it rounds, and in which order."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from formats import FORMATS, decode, encode


@dataclass(frozen=True)
class Case:
    """d = sum of a[k] * b[k] + c. `label` names the family, `shift` the distance of the small addend, in bits."""

    label: str
    shift: int
    a: tuple[float, ...]
    b: tuple[float, ...]
    c: float


#: Exponent of the large addend; small ones lie below it.
_TOP = {"f16": 10, "bf16": 0, "tf32": 0, "e4m3": 12, "e5m2": 10}


class _Builder:
    def __init__(self, dtype: str, accumulator: str, depth: int):
        self.form = FORMATS[dtype]
        self.accumulator = FORMATS[accumulator]
        self.depth = depth
        self.cases: list[Case] = []

    def factors(self, product: float) -> tuple[float, float] | None:
        """a and b with a * b = product, where product is m * 2^e and m fits the format."""
        if product == 0:
            return 0.0, 0.0
        mantissa, exponent = math.frexp(product)
        exponent -= 1
        low, high = self.form.min_exponent, self.form.max_exponent - 1
        first = min(max(exponent, low), high)
        second = exponent - first
        return (mantissa * 2 * 2.0**first, 2.0**second) if low <= second <= high else None

    def add(self, label: str, shift: int, products: dict[int, float], c: float = 0.0) -> None:
        """A case from its products by position; left out if the types cannot hold them."""
        pairs = [self.factors(products.get(k, 0.0)) for k in range(self.depth)]
        limits = self.accumulator
        fits = c == 0 or (limits.min_exponent - limits.mantissa <= math.frexp(c)[1] - 1 <= limits.max_exponent)
        if fits and all(pair is not None for pair in pairs):
            a, b = zip(*pairs, strict=True)
            self.cases.append(Case(label, shift, a, b, c))


def _alignment(build: _Builder, top: int) -> None:
    big = 2.0**top
    for shift in range(41):
        for sign, word in ((1, "plus"), (-1, "minus")):
            small = sign * 2.0 ** (top - shift)
            build.add(f"product {word} product", shift, {0: big, 1: small})
            build.add(f"accumulator {word} product", shift, {0: small}, big)
            build.add(f"product {word} accumulator", shift, {0: big}, small)
            build.add(f"accumulator {word} all products", shift, dict.fromkeys(range(build.depth), small), big)
            build.add(f"product {word} all other products", shift, {**dict.fromkeys(range(build.depth), small), 0: big})
        small = 2.0 ** (top - shift)
        build.add("small product between cancelling products", shift, {0: big, 1: small, 2: -big})
        build.add("small product, accumulator cancels product", shift, {0: big, 1: small}, -big)
        build.add("small accumulator, products cancel", shift, {0: big, 1: -big}, small)
        build.add("product of 2.25 plus product", shift, {0: 2.25 * big, 1: small})
        build.add("1.5 small between cancelling products", shift, {0: big, 1: 1.5 * small, 2: -big})


def _order(build: _Builder, top: int) -> None:
    """1 only if the large product is cancelled before the small one comes."""
    distance = 12 if build.form.bytes == 1 else 28
    for large in range(build.depth):
        for small in range(build.depth):
            if large != small:
                products = {large: 2.0**top, small: 2.0 ** (top - distance)}
                build.add(f"order: large at {large}, small at {small}", distance, products, -(2.0**top))


def _rounding(build: _Builder, top: int) -> None:
    bits = build.accumulator.mantissa
    big, last = 2.0**top, 2.0 ** (top - bits)
    for sign in (1, -1):
        for name, rest in {
            "1/2": (0.5,), "1/4": (0.25,), "3/4": (0.5, 0.25), "5/8": (0.5, 0.125), "7/8": (0.5, 0.25, 0.125),
        }.items():  # fmt: skip
            for odd in (0, 1):
                parts = [big, odd * last, *(part * last for part in rest)]
                products = {k: sign * part for k, part in enumerate(parts)}
                build.add(f"rounding: {'odd' if odd else 'even'} {'+' if sign > 0 else '-'}{name}", 0, products)
                c = products.pop(0)
                build.add(
                    f"rounding: accumulator {'odd' if odd else 'even'} {'+' if sign > 0 else '-'}{name}", 0, products, c
                )


def _random(build: _Builder, dtype: str, accumulator: str, count: int) -> None:
    rng = np.random.default_rng(11)
    for i in range(count):
        spread = (1, 4, 8)[i % 3]
        a, b = (rng.standard_normal(build.depth) * 2.0 ** rng.integers(-spread, spread, build.depth) for _ in range(2))
        a, b = (tuple(float(v) for v in decode(encode(np.clip(x, -64, 64), dtype), dtype)) for x in (a, b))
        c = float(
            decode(encode(rng.standard_normal() * 2.0 ** rng.integers(-spread, spread), accumulator), accumulator)
        )
        build.cases.append(Case(f"random, exponents within {spread}", i, a, b, c if i % 2 else 0.0))


def _special(build: _Builder) -> None:
    depth, form, limits = build.depth, build.form, build.accumulator
    zeros = (0.0,) * depth
    inf = math.inf
    if not form.finite:
        build.cases.append(Case("special: inf * 0", 0, (inf, *zeros[1:]), zeros, 1.0))
        build.cases.append(Case("special: inf - inf", 0, (inf, -inf, *zeros[2:]), (1.0,) * depth, 1.0))
        build.cases.append(Case("special: inf + c", 0, (inf, *zeros[1:]), (1.0,) * depth, 1.0))
    build.cases.append(Case("special: nan", 0, (math.nan, *zeros[1:]), (1.0,) * depth, 1.0))
    build.cases.append(Case("special: nan accumulator", 0, zeros, zeros, math.nan))
    build.cases.append(Case("special: -0 + -0 * 1", 0, (-0.0,) * depth, (1.0,) * depth, -0.0))
    build.cases.append(Case("special: -0 + 0 * 0", 0, zeros, zeros, -0.0))
    smallest = 2.0 ** (limits.min_exponent - limits.mantissa)
    build.cases.append(Case("special: subnormal accumulator", 0, zeros, zeros, 3 * smallest))
    build.add("special: subnormal sum", 0, {0: 5 * smallest, 1: 16 * smallest})
    subnormal = 2.0 ** (form.min_exponent - form.mantissa)
    build.cases.append(Case("special: subnormal factor", 0, (subnormal, *zeros[1:]), (1.0,) * depth, 0.0))
    largest = float(decode(limits.infinity - 1, "f16" if limits.exponent == 5 else "f32"))
    build.add("special: overflow", 0, {0: 2.0 ** (limits.max_exponent - 2)}, largest)


def cases(dtype: str, accumulator: str, depth: int, random: int = 300) -> list[Case]:
    """All cases for products of `dtype` added into `accumulator`, `depth` products in one instruction."""
    build = _Builder(dtype, accumulator, depth)
    top = _TOP[dtype]
    _alignment(build, top)
    _rounding(build, top)
    _order(build, top)
    _special(build)
    _random(build, dtype, accumulator, random)
    return build.cases
