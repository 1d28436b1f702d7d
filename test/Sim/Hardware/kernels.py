"""Compiled products (NAME.json with NAME.ptx, NAME.cubin and NAME.meta.json) on given inputs, to compare two machines.

Inputs depend on the kernel's name only. The outputs of integer-valued inputs must agree bit for bit, those of random
ones within the error that the order of additions may cause.
"""

from __future__ import annotations

import json
import zlib
from pathlib import Path

import numpy as np

from backends import Job
from formats import FORMATS, decode, encode

SHAPES = [(128, 128, 64), (208, 144, 112), (64, 256, 208)]

#: Bits of a sum that hardware is known to keep at least (relative to its largest addend).
_KEPT_BITS = {"e4m3": 12, "e5m2": 12}
_STORAGE = {1: np.uint8, 2: np.uint16, 4: np.float32, 8: np.float64}


def _stored(values: np.ndarray, dtype: str) -> np.ndarray:
    """Values as the arrays of `dtype` travel: f16, f32, f64 and integers as themselves, the rest as bits."""
    if dtype in ("i8", "i32"):
        return values.astype({"i8": np.int8, "i32": np.int32}[dtype])
    if dtype in ("f16", "f32", "f64"):
        return values.astype({"f16": np.float16, "f32": np.float32, "f64": np.float64}[dtype])
    return encode(values, dtype).astype(_STORAGE[FORMATS[dtype].bytes])


def values_of(array: np.ndarray, dtype: str) -> np.ndarray:
    """float64 values of an array as it travels."""
    return decode(array.astype(np.int64), dtype) if dtype in ("bf16", "e4m3", "e5m2") else array.astype(np.float64)


def _padded(shape: tuple[int, int], dtype: str, item: int) -> tuple[int, int]:
    """Rows padded to 16 bytes, as aligned kernels want."""
    unit = 16 // item
    return shape[0], -(-shape[1] // unit) * unit


def _meta(record: Path, args: list[dict]) -> dict:
    path = record.with_suffix(".meta.json")
    meta = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    return {"orientation": "TN", "dtype": args[0]["dtype"], "out": args[-1]["dtype"], **meta}


def jobs(folder: Path) -> list[tuple[Job, dict]]:
    """Jobs for every kernel of `folder`, each with what a comparison must know."""
    result = []
    for path in sorted(folder.glob("*.json")):
        if path.name.endswith(".meta.json"):
            continue
        record = json.loads(path.read_text(encoding="utf-8"))
        args = record.get("args", [])
        if len(args) != 3 or any(arg["kind"] != "array" for arg in args):
            continue
        code = {s: p.read_bytes() if (p := path.with_suffix(f".{s}")).exists() else None for s in ("ptx", "cubin")}
        meta = _meta(path, args)
        for (m, n, k), integers in [(shape, integers) for shape in SHAPES for integers in (True, False)]:
            name = f"{path.stem} {m}x{n}x{k} {'integers' if integers else 'random'}"
            arguments = _inputs(name, args, meta, m, n, k, integers)
            result.append(
                (Job(name, record, arguments, (args[2]["name"],), **code), {**meta, "integers": integers, "k": k})
            )
    return result


def _inputs(name: str, args, meta: dict, m: int, n: int, k: int, integers: bool) -> dict:
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    dtype, out = meta["dtype"], meta["out"]
    # Letter 1 is A's: T has K contiguous. Letter 2 is B's: N has K contiguous.
    shapes = [(m, k) if meta["orientation"][0] == "T" else (k, m), (n, k) if meta["orientation"][1] == "N" else (k, n)]
    arguments = {}
    for arg, shape in zip(args, [*shapes, (m, n)], strict=True):
        sample = _stored(np.zeros(1), out if arg is args[2] else dtype)
        full = _padded(shape, dtype, sample.itemsize)
        if full[1] != shape[1]:
            raise ValueError(f"{name}: rows of {shape[1]} elements are not a multiple of 16 bytes")
        if arg is args[2]:
            data = np.full(shape, 0, sample.dtype)
            data.view(np.uint8).fill(0xEE)
        else:
            values = rng.integers(-3, 4, shape).astype(np.float64) if integers else rng.standard_normal(shape)
            if dtype == "i8" and not integers:
                values = rng.integers(-128, 128, shape).astype(np.float64)
            data = _stored(values, dtype)
        arguments[arg["name"]] = (arg["dtype"], data)
    return arguments


def judge(job: Job, meta: dict, left: np.ndarray, right: np.ndarray) -> dict:
    """How two outputs of `job` differ. "fine" says whether they may."""
    bits = f"u{left.itemsize}"
    different = int((left.view(bits) != right.view(bits)).sum())
    result = {"elements": left.size, "differ": different}
    if meta["integers"] or meta["dtype"] == "i8":
        return {**result, "fine": different == 0}
    names = list(job.arguments)
    a, b = (np.abs(values_of(job.arguments[name][1], meta["dtype"])) for name in names[:2])
    a = a if meta["orientation"][0] == "T" else a.T
    b = b.T if meta["orientation"][1] == "N" else b
    out = meta["out"]
    x, y = values_of(left, out), values_of(right, out)
    # Each addition may lose the bits below those kept of its largest addend; both sides may, in opposite directions.
    kept = _KEPT_BITS.get(meta["dtype"], 22 if meta["dtype"] != "f64" else 50)
    size = a @ b
    bound = 2 * meta["k"] / 4 * size * 2.0**-kept
    mantissa = FORMATS[out].mantissa if out in FORMATS else 52
    bound = bound + np.maximum(np.abs(x), np.abs(y)) * 2.0**-mantissa + 1e-40
    if meta["dtype"] == "f32" and meta.get("precision") == "tf32":
        bound = bound + 2 * size * 2.0**-10
    ratio = float(np.nanmax(np.abs(x - y) / bound))
    return {**result, "largest difference over bound": round(ratio, 4), "fine": bool(ratio <= 1)}
