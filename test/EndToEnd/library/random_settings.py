"""Variants with random values of the parameters that their calls do not depend on."""

from __future__ import annotations

import dataclasses
import random
import re
from collections.abc import Iterator

import numpy as np
from sim_reference import Array

from library.arrays import realigned
from library.case import Call, Variant

#: Not all powers of two, and some that no tensor core takes.
_CHOICES = {
    "BM": (16, 32, 48, 64, 96, 128, 128, 192, 256),
    "BN": (8, 16, 24, 40, 64, 64, 96, 128, 176),
    "BW": (16, 64, 96, 128),
    "BK": (16, 32, 48, 64, 128),
    "STAGES": ("auto", 0, 1, 2, 3, 4, 5),
    "SPECIALIZE": ("auto", "on", "off"),
    "ALIGN": (16, 16, 8, 4),
    "WARPS": (1, 2, 4, 8),
    "BR": (1, 2, 3, 4, 8, 16),
    "BC": (32, 100, 128, 256, 1000),
}
#: Kernels whose tile holds whole rows: BC is no less than the calls' columns.
_WHOLE_ROWS = ("softmax_rows", "layer_norm", "layer_norm_backward", "rms_norm", "rms_norm_backward")
#: The tile of these is fixed by the arrays' layout.
_FIXED = {"gemm_fp8_block_scaled": ("BN", "BK")}


def random_variants(everything: list[Variant], count: int, rng: random.Random) -> list[Variant]:
    """`count` variants of each source, each based on one in `everything`."""
    result = []
    for source in sorted({variant.source for variant in everything}):
        bases = [variant for variant in everything if variant.source == source]
        result += [_random_variant(rng.choice(bases), number, rng) for number in range(count)]
    return result


def _random_variant(base: Variant, number: int, rng: random.Random) -> Variant:
    declared = re.findall(r"^// param (\w+)", base.path.read_text(encoding="utf-8"), re.MULTILINE)
    free = [name for name in declared if name in _CHOICES and name not in _FIXED.get(base.source, ())]
    settings = {**base.settings, **{name: rng.choice(_CHOICES[name]) for name in free}}
    if base.source in _WHOLE_ROWS:
        settings["BC"] = int(base.settings["BC"]) + rng.choice((0, 0, 1, 8, 100))
    align = settings.get("ALIGN", 16)

    def calls(generator: np.random.Generator) -> Iterator[Call]:
        for call in base.calls(generator):
            args = [realigned(arg, align) if isinstance(arg, Array) else arg for arg in call.args]
            yield dataclasses.replace(call, args=args)

    label = "-".join(filter(None, (base.label, "random", str(number))))
    return dataclasses.replace(base, calls=calls, settings=settings, label=label, in_quick=True)
