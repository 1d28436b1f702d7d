"""Folders of compiled products: for each kernel NAME.json (launch record), NAME.cubin and NAME.meta.json.

The meta file says what the kernel computes and with which knobs:
{"orientation": "TN", "dtype": "bf16", "out": "bf16", "acc": "f32", "precision": "ieee", "align": 16, "bm": 128, ...}
orientation, dtype and out are required. Kernels are called kernel(A, B, C); gemm_reference says how A and B are stored.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path

from gemm_reference import DTYPES, Problem

_PROBLEM_FIELDS = ("orientation", "dtype", "out", "acc", "precision", "align")
_ACCUMULATORS = {"i8": "i32", "f64": "f64"}


@dataclass(frozen=True)
class CompiledKernel:
    """One kernel of a folder. `knobs` are the meta file's other entries."""

    name: str
    record: Path
    problem: Problem
    knobs: dict = field(hash=False)


def from_record(record: Path) -> CompiledKernel:
    """The kernel whose launch record is at `record`. Raises ValueError if its meta file is missing or incomplete."""
    meta_path = record.with_suffix(".meta.json")
    try:
        meta = json.loads(meta_path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ValueError(f"{meta_path}: expected a meta file: {error}") from None
    missing = [key for key in ("orientation", "dtype", "out") if key not in meta]
    if missing:
        raise ValueError(f"{meta_path}: expected {', '.join(missing)}")
    given = {key: meta[key] for key in _PROBLEM_FIELDS if meta.get(key) is not None}
    given.setdefault("acc", _ACCUMULATORS.get(given["dtype"], "f32"))
    if given["orientation"] not in ("TN", "TT", "NN", "NT"):
        raise ValueError(f"{meta_path}: expected orientation TN, TT, NN or NT, got {given['orientation']}")
    unknown = {given["dtype"], given["out"]} - set(DTYPES)
    if unknown:
        raise ValueError(f"{meta_path}: expected dtypes among {', '.join(DTYPES)}, got {', '.join(sorted(unknown))}")
    knobs = {key: value for key, value in meta.items() if key not in _PROBLEM_FIELDS}
    return CompiledKernel(record.stem, record, Problem(**given), knobs)
