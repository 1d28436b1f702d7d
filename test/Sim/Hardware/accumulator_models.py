"""Models of how a tensor core adds, and which of them explain measured results.

A model works through K in blocks. In a block, the accumulator and the products are cut (toward zero) at a fixed number
of fraction bits below the largest exponent among them, added exactly, and the sum becomes the accumulator of the next
block, cut or rounded to its type. Tensor cores differ in these numbers only; the simulator's own arithmetic is the
model that cuts nothing, takes all products at a time and rounds.
"""

from __future__ import annotations

import functools
import itertools
import math
from dataclasses import dataclass

import numpy as np

from formats import FORMATS, decode
from product_cases import Case

_EXACT = 200  # fraction bits: nothing is cut


@dataclass(frozen=True)
class Model:
    """`fraction` bits kept below the largest exponent, `block` products at a time, result rounded or cut.

    `normalized`: a product's exponent is that of its value, else the sum of its factors' exponents.
    """

    fraction: int
    block: int
    rounds: bool
    normalized: bool

    def __str__(self) -> str:
        kept = "all bits" if self.fraction == _EXACT else f"{self.fraction} fraction bits"
        result = "rounded to nearest" if self.rounds else "cut"
        exponent = "value" if self.normalized else "factors"
        return f"{kept}, {self.block} products at a time, result {result}, exponent of the {exponent}"


@dataclass(frozen=True)
class _Term:
    """units * 2^scale, and the exponents of its value and of its factors."""

    units: int
    scale: int
    value_exponent: int
    factor_exponent: int

    def cut(self, scale: int) -> int:
        """In units of 2^scale, toward zero."""
        shift = self.scale - scale
        size = abs(self.units)
        size = size << shift if shift >= 0 else size >> -shift
        return size if self.units > 0 else -size


def _integer(value: float) -> tuple[int, int]:
    """(units, scale) with units * 2^scale = value, |units| < 2^24. Requires: at most 24 significant bits."""
    mantissa, exponent = math.frexp(value)
    return int(mantissa * (1 << 24)), exponent - 24


def _term(a: float, b: float = 1.0) -> _Term:
    (x, first), (y, second) = _integer(a), _integer(b)
    scale = first + second
    return _Term(x * y, scale, abs(x * y).bit_length() - 1 + scale, math.frexp(a)[1] + math.frexp(b)[1] - 2)


@functools.lru_cache(maxsize=1 << 16)
def _products(case: Case) -> tuple[_Term | None, ...]:
    return tuple(_term(a, b) if a and b else None for a, b in zip(case.a, case.b, strict=True))


def _finish(total: int, scale: int, rounds: bool, accumulator: str) -> float:
    """total * 2^scale in the accumulator's type."""
    form = FORMATS[accumulator]
    if total == 0:
        return 0.0
    size = abs(total)
    exponent = max(size.bit_length() - 1 + scale, form.min_exponent)
    drop = exponent - form.mantissa - scale
    if drop > 0:
        rest = size & ((1 << drop) - 1)
        size >>= drop
        half = 1 << (drop - 1)
        size += rounds and (rest > half or (rest == half and size & 1))
        scale += drop
    return math.copysign(math.ldexp(size, scale), total)


def evaluate(model: Model, case: Case, accumulator: str) -> float:
    """The result of a finite case."""
    result = case.c
    products = _products(case)
    for first in range(0, len(products), model.block):
        terms = [term for term in products[first : first + model.block] if term]
        if result:
            terms.append(_term(result))
        if not terms:
            result = 0.0
            continue
        top = max(term.value_exponent if model.normalized else term.factor_exponent for term in terms)
        scale = top - model.fraction
        result = _finish(sum(term.cut(scale) for term in terms), scale, model.rounds, accumulator)
    return result


def _same(a: float, b: float, largest: float) -> bool:
    return a == b or (abs(a) > largest and math.isinf(b))


def best_models(cases: list[Case], bits: np.ndarray, dtype: str, accumulator: str, count: int = 4) -> list[str]:
    """The models that explain most results, with how many. Special cases are left out.

    Models are first judged by some of the cases; those that explain the most are then judged by all.
    """
    chosen = [i for i, case in enumerate(cases) if not case.label.startswith("special")]
    values = [float(v) for v in decode(bits, accumulator)]
    form = FORMATS[accumulator]
    largest = float(decode(form.infinity - 1, accumulator))
    depth = len(cases[0].a)
    blocks = [block for block in (4, 8, 16, 32) if block <= depth]
    fractions = [*range(10, 32), _EXACT]
    models = [Model(*knobs) for knobs in itertools.product(fractions, blocks, (False, True), (False, True))]

    def score(model: Model, indices) -> int:
        return sum(_same(evaluate(model, cases[i], accumulator), values[i], largest) for i in indices)

    for sample, keep in ((chosen[:: max(len(chosen) // 40, 1)], 24), (chosen, count)):
        scores = {model: score(model, sample) for model in models}
        models = sorted(models, key=lambda model: -scores[model])[:keep]
    return [f"{scores[model]} of {len(chosen)}: {model}" for model in models]
