"""Twins in Python of the kernels of test/EndToEnd/library: the same kernel, so the same PTX for the same facts."""

import language_attention
import language_convolution
import language_products
import language_quantized
import language_rows
from language_twins import TWINS

__all__ = [
    "TWINS",
    "language_attention",
    "language_convolution",
    "language_products",
    "language_quantized",
    "language_rows",
]
