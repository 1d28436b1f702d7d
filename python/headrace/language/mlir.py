"""Textual MLIR: operations in nested blocks, their names, source locations, and printing.

An operation is text with blocks between; what it defines and uses is known, so that what nobody uses is left out.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field

from headrace.language.dtypes import DType
from headrace.language.errors import Place

_VALUE = re.compile(r"%[A-Za-z_][A-Za-z0-9_]*")
_INDENT = "  "


@dataclass
class Op:
    """One operation. `parts` are text and regions in turn; a pure one without used results is not printed."""

    results: tuple[str, ...]
    parts: tuple[str | Block, ...]
    places: tuple[Place, ...]
    pure: bool

    def is_pure(self) -> bool:
        return self.pure and all(part.is_pure() for part in self.parts if isinstance(part, Block))


@dataclass
class Block:
    """Operations in order; `arguments` is the text after ``^bb0``, "" if the region's syntax names them elsewhere."""

    ops: list[Op] = field(default_factory=list)
    arguments: str = ""

    def is_pure(self) -> bool:
        """Whether running this block, or not, makes no difference but for the values it defines."""
        return all(op.is_pure() for op in self.ops)

    def free(self) -> set[str]:
        """Names of values that are used here and made outside."""
        used: set[str] = set(_VALUE.findall(self.arguments))
        made = set(used)
        for op in self.ops:
            for part in op.parts:
                used |= part.free() if isinstance(part, Block) else set(_VALUE.findall(part))
            made.update(op.results)
        return used - made

    def prune(self, used: set[str]) -> None:
        """Removes pure operations without a user. `used` are names needed after the block; gets those needed before."""
        kept = []
        for op in reversed(self.ops):
            if op.is_pure() and not used.intersection(op.results):
                continue
            for part in op.parts:
                if isinstance(part, Block):
                    part.prune(used)
                else:
                    used.update(_VALUE.findall(part))
            kept.append(op)
        self.ops = kept[::-1]

    def lines(self, depth: int, locations: bool) -> list[str]:
        result = [f"{_INDENT * (depth - 1)}^bb0{self.arguments}:"] if self.arguments else []
        for op in self.ops:
            text = f"{', '.join(op.results)} = " if op.results else ""
            for part in op.parts:
                if isinstance(part, Block):
                    body = "\n".join(part.lines(depth + 1, locations))
                    text += "{\n" + (body + "\n" if body else "") + _INDENT * depth + "}"
                else:
                    text += part
            if locations and op.places:
                text += f" loc({location(op.places)})"
            result.append(_INDENT * depth + text)
        return result


def quote(text: str) -> str:
    """`text` as an MLIR string."""
    return '"' + "".join(c if " " <= c <= "~" and c not in '"\\' else "".join(f"\\{b:02X}" for b in c.encode())
                         for c in text) + '"'  # fmt: skip


def location(places: tuple[Place, ...]) -> str:
    """A location: the innermost place first, then the calls that led there."""
    one = f"{quote(places[0].filename)}:{places[0].line}:{places[0].column + 1}"
    return one if len(places) == 1 else f"callsite({one} at {location(places[1:])})"


def rename(text: str, names: dict[str, str]) -> str:
    """`text` with values called by other names."""
    return _VALUE.sub(lambda match: names.get(match[0], match[0]), text)


class Names:
    """Names of values: what the Python source calls them, made unique."""

    def __init__(self):
        self._taken: dict[str, int] = {}

    def fresh(self, hint: str) -> str:
        stem = re.sub(r"[^A-Za-z0-9_]", "_", hint) or "v"
        if stem[0].isdigit():
            stem = "v" + stem
        count = self._taken.get(stem, 0)
        self._taken[stem] = count + 1
        name = f"{stem}_{count}" if count else stem
        if name in self._taken and count:
            return self.fresh(hint)
        self._taken.setdefault(name, 1)
        return "%" + name


def tensor(shape: tuple[int, ...], dtype: DType) -> str:
    """The type of a tile."""
    return f"tensor<{'x'.join(map(str, shape))}x{dtype.mlir}>"


def literal(value: int | float | bool, dtype: DType) -> str:
    """`value` as an attribute's text, without its type. Floats are written so that they survive bit for bit."""
    if dtype.kind == "bool":
        return "true" if value else "false"
    if not dtype.is_float:
        return str(int(value))
    value = float(value)
    if math.isfinite(value):
        text = repr(value)
        # MLIR wants a point in the mantissa: 1e-05 is 1.0e-05.
        mantissa, e, exponent = text.partition("e")
        return (mantissa if "." in mantissa else mantissa + ".0") + e + exponent
    return hex_float(value, dtype)


def hex_float(value: float, dtype: DType) -> str:
    """The bits of an infinity or a NaN, in hexadecimal, as MLIR writes such values."""
    exponent, mantissa = {
        "bf16": (8, 7),
        "f16": (5, 10),
        "f32": (8, 23),
        "f64": (11, 52),
        "e4m3": (4, 3),
        "e5m2": (5, 2),
    }[dtype.name]
    if dtype.name == "e4m3":
        bits = 0x7F
    else:
        bits = ((1 << exponent) - 1) << mantissa | (1 << (mantissa - 1) if math.isnan(value) else 0)
    if math.copysign(1.0, value) < 0:
        bits |= 1 << (exponent + mantissa)
    return f"0x{bits:0{dtype.bits // 4}X}"
