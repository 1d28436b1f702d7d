"""All kernels of the library with the values of their parameters that are checked."""

from __future__ import annotations

from library import attention, convolution, moves, products, quantized, rows
from library.case import Variant


def variants() -> list[Variant]:
    """Every variant, by name."""
    modules = (products, quantized, rows, moves, convolution, attention)
    return sorted((variant for module in modules for variant in module.variants()), key=lambda variant: variant.name)
