"""Column-major arrays for headrace-sim, whose .npy files are row-major.

The file holds the array transposed, and a copy of the launch record says the same of the kernel's argument: wherever it
speaks of one of the last two dimensions it speaks of the other. The kernel sees the column-major array that it wants.
"""

from __future__ import annotations

import json
from pathlib import Path

from program_tree import ArrayArgument


def transpose_record(record: Path, arrays: list[ArrayArgument]) -> Path:
    """The path of a record for row-major files: `record` itself without column-major arrays, else a copy beside it."""
    if not any(array.columns for array in arrays):
        return record
    content = json.loads(record.read_text(encoding="utf-8"))
    turned = {array.name: len(array.shape) for array in arrays if array.columns}
    ranks = {i: turned[arg["name"]] for i, arg in enumerate(content["args"]) if arg["name"] in turned}
    for i, rank in ranks.items():
        for key in ("shape", "strides"):
            sizes = content["args"][i][key]
            content["args"][i][key] = [sizes[_other(dim, rank)] for dim in range(rank)]
    for entry in (*content["params"], *content["contract"]):
        if "dim" in entry and entry["arg"] in ranks:
            entry["dim"] = _other(entry["dim"], ranks[entry["arg"]])
    for tensor_map in content["tensor_maps"]:
        if tensor_map["arg"] in ranks:
            tensor_map["dims"] = [_other(dim, ranks[tensor_map["arg"]]) for dim in tensor_map["dims"]]
    for axis in ("x", "y", "z"):
        content["grid"][axis] = _in_expression(content["grid"][axis], ranks)
    path = record.with_name(f"{record.stem}.transposed.json")
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def _other(dim: int, rank: int) -> int:
    """The last two dimensions in place of each other."""
    return 2 * rank - 3 - dim if dim >= rank - 2 else dim


def _in_expression(expression, ranks: dict[int, int]):
    if not isinstance(expression, list):
        return expression
    if expression[0] == "dim" and expression[1] in ranks:
        return ["dim", expression[1], _other(expression[2], ranks[expression[1]])]
    return [_in_expression(part, ranks) for part in expression]
