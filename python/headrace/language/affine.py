"""Sums of known multiples of unknown integers: how far apart two positions are, decided at compile time."""

from __future__ import annotations

from dataclasses import dataclass

#: What a term stands for: the name of a value, or a product of two sums.
Term = object


@dataclass(frozen=True)
class Affine:
    """`constant` + the sum of `terms`, pairs of (term, factor) with factors that are not 0, in a fixed order."""

    constant: int
    terms: tuple[tuple[Term, int], ...] = ()

    @staticmethod
    def of(name: str) -> Affine:
        """The value `name`, of which nothing is known."""
        return Affine(0, ((name, 1),))

    @property
    def is_constant(self) -> bool:
        return not self.terms

    def __add__(self, other: Affine) -> Affine:
        factors = dict(self.terms)
        for term, factor in other.terms:
            factors[term] = factors.get(term, 0) + factor
        terms = tuple(sorted(((t, f) for t, f in factors.items() if f), key=repr))
        return Affine(self.constant + other.constant, terms)

    def scaled(self, factor: int) -> Affine:
        """`factor` times this."""
        if factor == 0:
            return Affine(0)
        return Affine(self.constant * factor, tuple((term, f * factor) for term, f in self.terms))

    def __sub__(self, other: Affine) -> Affine:
        return self + other.scaled(-1)

    def __mul__(self, other: Affine) -> Affine:
        """The product: exact if one is a constant, else a term that equals itself only."""
        if self.is_constant:
            return other.scaled(self.constant)
        if other.is_constant:
            return self.scaled(other.constant)
        return Affine(0, ((("product", *sorted((self, other), key=repr)), 1),))
