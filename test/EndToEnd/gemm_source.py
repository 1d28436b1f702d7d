"""Tile-dialect source of a GEMM in any orientation and of any types, for the end-to-end checks.

Orientation is BLAS style: first letter A ("T": stored M x K, "N": K x M), second B ("N": stored N x K, "T": K x N).
"""

from __future__ import annotations

from dataclasses import dataclass

MLIR_TYPES = {"e4m3": "f8E4M3FN", "e5m2": "f8E5M2", "i8": "i8", "i32": "i32"}


@dataclass(frozen=True)
class GemmConfig:
    """One kernel: what it computes and how it is tiled. `stages`, `specialize`, `consumers` as tile.for takes them."""

    orientation: str = "TN"
    dtype: str = "bf16"
    out: str = "bf16"
    precision: str | None = None
    align: int = 16
    bm: int = 128
    bn: int = 128
    bk: int = 64
    stages: str = "auto"
    specialize: str = "auto"
    consumers: str = "auto"
    warps: int | None = None
    occupancy: int | None = None
    group: int = 16
    persistent: bool = True

    @property
    def acc(self) -> str:
        """Element type of the accumulator."""
        return {"i8": "i32", "f64": "f64"}.get(self.dtype, "f32")

    def name(self, target: str) -> str:
        """A file name that tells configurations apart."""
        parts = [target, self.orientation, self.dtype, self.out]
        if self.precision:
            parts.append(self.precision)
        parts += [f"{self.bm}x{self.bn}x{self.bk}", f"s{self.stages}", f"ws{self.specialize}", f"a{self.align}"]
        if self.consumers != "auto":
            parts.append(f"c{self.consumers}")
        if self.group != 16:
            parts.append(f"g{self.group}")
        if self.occupancy:
            parts.append(f"o{self.occupancy}")
        if not self.persistent:
            parts.append("grid")
        return "-".join(parts)


def _mlir(dtype: str) -> str:
    return MLIR_TYPES.get(dtype, dtype)


def _epilogue(config: GemmConfig, acc_tile: str, out_tile: str) -> str:
    if config.out == config.acc:
        return ""
    return f"    %out = arith.truncf %sum : {acc_tile} to {out_tile}\n"


def gemm_source(config: GemmConfig) -> str:
    """The module's text."""
    element, out, acc = _mlir(config.dtype), _mlir(config.out), _mlir(config.acc)
    a_kmajor, b_kmajor = config.orientation[0] == "T", config.orientation[1] == "N"
    a_shape = f"{config.bm}x{config.bk}" if a_kmajor else f"{config.bk}x{config.bm}"
    b_shape = f"{config.bn}x{config.bk}" if b_kmajor else f"{config.bk}x{config.bn}"
    array, c_array = f"memref<?x?x{element}, strided<[?, 1]>>", f"memref<?x?x{out}, strided<[?, 1]>>"
    a_tile, b_tile = f"tensor<{a_shape}x{element}>", f"tensor<{b_shape}x{element}>"
    acc_tile, out_tile = (f"tensor<{config.bm}x{config.bn}x{t}>" for t in (acc, out))
    zero = "0" if acc == "i32" else "0.0"
    precision = f" {{precision = #tile.precision<{config.precision}>}}" if config.precision else ""
    knobs = [f"{name} = {value} : i64" for name in ("warps", "occupancy") if (value := getattr(config, name))]
    attributes = f" attributes {{{', '.join(knobs)}}}" if knobs else ""
    align = f"tile.align = {config.align} : i64"
    stored = "%out" if config.out != config.acc else "%sum"
    return f"""\
tile.kernel @gemm(%A: {array} {{tile.name = "A", {align}}}, %B: {array} {{tile.name = "B", {align}}},
                  %C: {c_array} {{tile.name = "C", {align}}}){attributes} {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %bm = arith.constant {config.bm} : index
  %bn = arith.constant {config.bn} : index
  %bk = arith.constant {config.bk} : index
  %M = memref.dim %C, %c0 : {c_array}
  %N = memref.dim %C, %c1 : {c_array}
  %K = memref.dim %A, {"%c1" if a_kmajor else "%c0"} : {array}
  %rows = arith.ceildivsi %M, %bm : index
  %columns = arith.ceildivsi %N, %bn : index
  %tiles = arith.muli %rows, %columns : index
  tile.grid %tiles{" persistent" if config.persistent else ""}
  %first = tile.program_id 0
  %programs = tile.num_programs 0
  scf.for %t = %first to %tiles step %programs {{
    %row, %column = tile.grouped_index %t of %rows x %columns group {config.group}
    %m = arith.muli %row, %bm : index
    %n = arith.muli %column, %bn : index
    %zero = arith.constant dense<{zero}> : {acc_tile}
    %sum = tile.for %k = %c0 to %K step %bk iter_args(%acc = %zero) -> ({acc_tile})
        pipeline(stages = {config.stages}, specialize = {config.specialize}, consumers = {config.consumers}) {{
      %a = tile.load %A[{"%m, %k" if a_kmajor else "%k, %m"}] : {array} -> {a_tile}
      %b = tile.load %B[{"%n, %k" if b_kmajor else "%k, %n"}] : {array} -> {b_tile}
      %s = tile.dot %a{"" if a_kmajor else " transpose_a"}, %b{" transpose_b" if b_kmajor else ""}, %acc{precision}
          : {a_tile}, {b_tile} -> {acc_tile}
      tile.yield %s : {acc_tile}
    }}
{_epilogue(config, acc_tile, out_tile)}    tile.store {stored}, %C[%m, %n] : {out_tile}, {c_array}
  }}
  tile.return
}}
"""
