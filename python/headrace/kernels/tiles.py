"""Tile sizes by target.

Those of large bf16 products, softmax and norms on sm_90a, and of attention on sm_80 and sm_90a are the fastest of what
python/benchmarks has measured on an H200. Others are the largest for which ptxas spills at most a few bytes.
"""

from __future__ import annotations

from typing import Any

from headrace.errors import LaunchError
from headrace.language.dtypes import DType

#: Tiles (rows, columns) of a product, by generation: the first that makes enough tiles is taken.
_PRODUCTS = {
    "sm_75": ((64, 64),),
    "sm_80": ((128, 256), (128, 128), (64, 64)),
    "sm_90": ((128, 256), (128, 128), (64, 64)),
    "sm_100": ((128, 256), (128, 128), (128, 64)),
}
_OTHER_PRODUCTS = ((128, 128), (64, 64))
#: Tiles that a product should have, or some processors idle: about as many as an A100, an H200 or a B200 has.
ENOUGH = 120
#: Bytes of a row of an operand's tile, so many as the widest swizzle of shared memory covers.
_ROW_BYTES = 128


def generation_of(target: str) -> str:
    """``sm_90`` of ``sm_90a``"""
    return target.rstrip("abcdefghijklmnopqrstuvwxyz")


def product(target: str, rows: int, columns: int, dtype: DType, widest: int = 256) -> dict[str, int]:
    """BM, BN and BK of a product of `rows` by `columns` with operands of `dtype`; at most `widest` columns a tile."""
    generation = generation_of(target)
    sizes = [size for size in _PRODUCTS.get(generation, _OTHER_PRODUCTS) if size[1] <= widest]
    enough = (size for size in sizes if -(-rows // size[0]) * -(-columns // size[1]) >= ENOUGH)
    bm, bn = next(enough, sizes[-1])
    row = _ROW_BYTES // 2 if generation == "sm_75" else _ROW_BYTES
    return {"BM": bm, "BN": bn, "BK": row * 8 // dtype.bits}


def widest(target: str, dtype: DType, precision: str | None = None, registers: bool = False) -> int:
    """The most columns of a product's tile; `registers` if its epilogue computes much, or if it has two sums."""
    generation = generation_of(target)
    if dtype.bits > 16 and precision != "tf32":
        return 64
    if dtype.bits > 16 or (registers and generation == "sm_100"):
        return 128 if generation == "sm_90" else 64
    return 256


#: Columns of the longest row that a kernel holds at once.
LONGEST_ROW = 16384
#: Longer rows are held in multiples of so many columns; of shorter ones more are taken at once.
_SHORT_ROW = 1024
#: Of softmax, and of norms, which hold weights as well: columns at most, then BR, WARPS, OCCUPANCY.
_ROWS = ((_SHORT_ROW, 4, 4, 4), (4096, 4, 16, 2), (8192, 2, 16, 2), (LONGEST_ROW, 1, 16, 2))
_NORM_ROWS = ((_SHORT_ROW, 4, 4, 4), (4096, 2, 16, 2), (8192, 1, 16, 2), (LONGEST_ROW, 1, 16, 1))
#: Of 16-bit rows where a multiprocessor has 227 KiB of shared memory: also STAGES, SPECIALIZE and TRIPS.
_WIDE_ROWS = {
    "softmax": (
        (_SHORT_ROW, 2, 2, 8, 1, "off", 4), (2048, 1, 4, 8, 2, "off", 4), (4096, 2, 4, 4, 1, "off", 3),
        (8192, 2, 16, 2, 1, "off", 2), (LONGEST_ROW, 1, 16, 2, 1, "off", 2),
    ),
    "layer_norm": (
        (_SHORT_ROW, 2, 2, 8, 2, "off", 8), (2048, 1, 4, 8, 2, "off", 7), (4096, 1, 8, 4, 3, "off", 7),
        (8192, 1, 4, 3, 2, "off", 5), (LONGEST_ROW, 1, 8, 1, 4, "on", 5),
    ),
    "rms_norm": (
        (_SHORT_ROW, 2, 4, 8, 2, "off", 4), (2048, 1, 4, 8, 2, "off", 4), (4096, 1, 8, 4, 3, "off", 7),
        (8192, 1, 4, 3, 3, "off", 4), (LONGEST_ROW, 1, 8, 1, 4, "on", 4),
    ),
}  # fmt: skip


def check_row(name: str, columns: int) -> None:
    """Raises LaunchError if a row of the argument is longer than a kernel holds."""
    if columns > LONGEST_ROW:
        raise LaunchError(f"argument '{name}': expected at most {LONGEST_ROW} columns, got {columns}")


def rows(kernel: str, target: str, columns: int, dtype: DType) -> dict[str, Any]:
    """Constants of a `kernel` over rows ("softmax", "layer_norm", "rms_norm"): BR rows at once, BC columns that hold a
    whole row, WARPS and OCCUPANCY, and where they are chosen STAGES, SPECIALIZE and TRIPS."""
    table: tuple[tuple[Any, ...], ...] = _ROWS if kernel == "softmax" else _NORM_ROWS
    if dtype.bits == 16 and generation_of(target) in ("sm_90", "sm_100"):
        table = _WIDE_ROWS[kernel]
    rows_at_once, *others = next(sizes for most, *sizes in table if columns <= most)
    held = -(-columns // _SHORT_ROW) * _SHORT_ROW
    if columns <= _SHORT_ROW:
        held = max(1 << (max(columns, 1) - 1).bit_length(), 64)
        rows_at_once *= _SHORT_ROW // held
    names = ("WARPS", "OCCUPANCY", "STAGES", "SPECIALIZE", "TRIPS")
    return {"BR": rows_at_once, "BC": held, **dict(zip(names, others, strict=False))}


#: By generation: the longest heads, then queries and keys at once and warps. Others have 99 KiB of shared memory.
_ATTENTION = {
    "sm_75": ((64, 64, 64, 4), (128, 64, 32, 4), (256, 32, 16, 4)),
    "sm_80": ((64, 128, 64, 4), (128, 128, 64, 4), (256, 64, 32, 4)),
    "sm_90": (
        (64, 192, 176, 12), (96, 192, 144, 12), (128, 192, 128, 12), (160, 128, 112, 8), (192, 128, 80, 8),
        (256, 128, 48, 8),
    ),
    "sm_100": ((128, 128, 128, 8), (256, 64, 32, 4)),
}  # fmt: skip
_OTHER_ATTENTION = ((64, 128, 64, 4), (128, 64, 64, 4), (192, 64, 32, 4), (256, 64, 16, 4))


def attention(target: str, queries: int, dimension: int) -> dict[str, int]:
    """D, BM queries and BN keys at once, WARPS, STAGES of attention with heads of `dimension`."""
    held = -(-dimension // 16) * 16
    choices = _ATTENTION.get(generation_of(target), _OTHER_ATTENTION)
    bm, bn, warps = next((sizes for most, *sizes in choices if held <= most), choices[-1][1:])
    if queries <= 64 < bm:
        bm, bn, warps = 64, min(bn, 64), 4
    return {"D": held, "BM": bm, "BN": bn, "WARPS": warps, "STAGES": 2}
