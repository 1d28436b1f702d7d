"""All kernels of the library with the values of their parameters that are checked."""

from __future__ import annotations

from library import moves, products, quantized, rows
from library.case import Variant


def variants() -> list[Variant]:
    """Every variant, by name."""
    found = [variant for module in (products, quantized, rows, moves) for variant in module.variants()]
    return sorted(found, key=lambda variant: variant.name)
