"""Products of tiles whose blocks have scales."""

from __future__ import annotations

from typing import Any

from headrace.language.api import memory as api_memory
from headrace.language.dtypes import DType, e4m3, e5m2, f32, i8
from headrace.language.emitter import Emitter
from headrace.language.lowering.registry import lowers
from headrace.language.operands import as_tile
from headrace.language.pending import written
from headrace.language.values import Tile, describe

#: Numbers for each scale, by its dtype.
_BLOCKS: dict[DType, int] = {i8: 32, e4m3: 16}


@lowers(api_memory.dot_scaled)
def dot_scaled(em: Emitter, a: Any, a_scale: Any, b: Any, b_scale: Any, acc: Any) -> Tile:
    operands = {"a": a, "a_scale": a_scale, "b": b, "b_scale": b_scale}
    for name, value in operands.items():
        if not isinstance(value, Tile) or len(value.shape) != 2:
            em.fail(f"expected a tile of rank 2 as {name} of hr.dot_scaled, got {describe(value)}",
                    notes=em.note("the tile is made here", value))  # fmt: skip
    notes = [note for name, value in operands.items() for note in em.note(f"{name} is {value}", value)]
    for name in ("a", "b"):
        if operands[name].dtype not in (e4m3, e5m2, i8):
            em.fail(f"expected e4m3, e5m2 or i8 (two numbers of 4 bits) as {name} of hr.dot_scaled, got "
                    f"{operands[name].dtype}", notes=notes)  # fmt: skip
    block = _BLOCKS.get(a_scale.dtype)
    if a_scale.dtype is not b_scale.dtype or block is None:
        em.fail(f"expected scales of i8 (powers of two) or e4m3 for both operands of hr.dot_scaled, got "
                f"{a_scale.dtype} and {b_scale.dtype}", notes=notes)  # fmt: skip
    if a_scale.dtype is e4m3 and not (a.dtype is i8 and b.dtype is i8):
        em.fail("expected scales of i8 for numbers of 8 bits in hr.dot_scaled, got e4m3", notes=notes)
    numbers = {name: operands[name].shape[1] * (2 if operands[name].dtype is i8 else 1) for name in ("a", "b")}
    if numbers["a"] != numbers["b"]:
        em.fail(f"expected one K in hr.dot_scaled, got {numbers['a']} numbers in a row of a and {numbers['b']} of b: "
                "load both as [M, K] and [N, K]", notes=notes)  # fmt: skip
    if numbers["a"] % block:
        em.fail(f"expected a multiple of {block} numbers in a row, as many as have a scale of {a_scale.dtype}, got "
                f"{numbers['a']}", notes=notes)  # fmt: skip
    for name in ("a", "b"):
        shape = (operands[name].shape[0], numbers[name] // block)
        if operands[f"{name}_scale"].shape != shape:
            em.fail(f"expected {name}_scale of {list(shape)}, one for {block} numbers, got "
                    f"{list(operands[f'{name}_scale'].shape)}", notes=notes)  # fmt: skip
    shape = (a.shape[0], b.shape[0])
    if isinstance(acc, Tile) and (acc.shape != shape or acc.dtype is not f32):
        em.fail(f"expected an accumulator {Tile('', shape, f32)} in hr.dot_scaled, as its operands give, got {acc}: "
                f"write hr.zeros({shape})",
                notes=(*em.note("the accumulator is made here", acc), *notes))  # fmt: skip
    total = written(em, as_tile(em, 0.0 if acc is None else acc, shape, f32))
    tiles = [written(em, operands[name]) for name in ("a", "a_scale", "b", "b_scale")]
    text = f"tile.dot_scaled {', '.join(tile.name for tile in (*tiles, total))} : "
    text += f"{', '.join(tile.mlir for tile in tiles)} -> {total.mlir}"
    return em.tile(text, shape, f32, "dot_scaled")
