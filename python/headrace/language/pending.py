"""Operations that are put off until their use is known: transposes, and products without an accumulator."""

from __future__ import annotations

from headrace.language.emitter import Emitter
from headrace.language.mlir import tensor
from headrace.language.values import Product, Tile, Transposed


def written(em: Emitter, tile: Tile) -> Tile:
    """`tile` with a name: a transpose or a product that was put off is emitted."""
    if isinstance(tile, Transposed):
        source = written(em, tile.source)
        order = ", ".join(map(str, reversed(range(len(source.shape)))))
        text = f"tile.transpose {source.name} [{order}] : {source.mlir} -> {tensor(tile.shape, tile.dtype)}"
        return em.tile(text, tile.shape, tile.dtype)
    if isinstance(tile, Product):
        return emit_product(em, tile, em.splat_constant(0, tile.shape, tile.dtype))
    return tile


def emit_product(em: Emitter, product: Product, accumulator: Tile) -> Tile:
    """`product` added to `accumulator`, which has its shape and dtype."""
    operands, types = [], []
    for tile, flag in ((product.a, " transpose_a"), (product.b, " transpose_b")):
        transposed = isinstance(tile, Transposed)
        source = written(em, tile.source if transposed else tile)
        operands.append(source.name + (flag if transposed else ""))
        types.append(source.mlir)
    precision = f" {{precision = #tile.precision<{product.precision}>}}" if product.precision else ""
    text = f"tile.dot {', '.join(operands)}, {accumulator.name}{precision} : {', '.join(types)} -> {accumulator.mlir}"
    return em.tile(text, product.shape, product.dtype, "dot")
