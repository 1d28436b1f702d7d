"""Reads launch records, version 1, from JSON. Every field is checked here, so that a launch need not doubt any."""

from __future__ import annotations

import json
from pathlib import Path
from typing import NoReturn

from headrace.errors import LaunchError
from headrace.runtime.dtypes import KERNEL_DTYPES
from headrace.runtime.schema import OPERATORS, TENSOR_MAP_SIZES, Arg, Expr, Grid, Param, Record, Requirement, TensorMap

VERSION = 1

_PARAM_FIELDS = {
    "pointer": ("arg",),
    "dim": ("arg", "dim", "type"),
    "stride": ("arg", "dim", "type"),
    "scalar": ("arg", "type"),
    "tensor_map": ("map",),
}
_CONTRACT_FIELDS = {
    "pointer_multiple": ("arg", "bytes"),
    "stride_multiple": ("arg", "dim", "bytes"),
    "dim_multiple": ("arg", "dim", "of"),
    "scalar_multiple": ("arg", "of"),
}


def load(path: str | Path) -> Record:
    """Reads the record at `path`. Raises LaunchError naming the file and the field that is not as specified."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise LaunchError(f"launch record '{path}': cannot read it: {error.strerror}") from None
    try:
        data = json.loads(text)
    except ValueError as error:
        raise LaunchError(f"launch record '{path}': expected JSON, got an error: {error}") from None
    return parse(data, str(path))


def parse(data: dict, source: str = "<record>") -> Record:
    """The record in `data` (parsed JSON). `source` names it in errors. Raises LaunchError."""
    return _Parser(source).record(data)


class _Parser:
    """Turns JSON into a Record; `self.args` is known before anything that refers to arguments is read."""

    def __init__(self, source: str):
        self.source = source
        self.args: tuple[Arg, ...] = ()

    def record(self, data) -> Record:
        if not isinstance(data, dict):
            self.fail("expected a JSON object", data)
        if data.get("version") != VERSION:
            self.fail(f"expected version {VERSION}", data.get("version"))
        self.args = tuple(self.arg(item, f"args[{i}]") for i, item in enumerate(self.items(data, "args")))
        maps = tuple(self.tensor_map(m, f"tensor_maps[{i}]") for i, m in enumerate(self.items(data, "tensor_maps")))
        return Record(
            kernel=self.text(data, "kernel", "kernel"),
            target=self.text(data, "target", "target"),
            threads=self.number(data, "threads", "threads", 1, 1024),
            cluster=self.cluster(data),
            shared_bytes=self.number(data, "shared_bytes", "shared_bytes", 0),
            min_ctas_per_sm=self.number(data, "min_ctas_per_sm", "min_ctas_per_sm", 1),
            grid=self.grid(self.field(data, "grid", "grid")),
            args=self.args,
            params=tuple(self.param(p, f"params[{i}]", len(maps)) for i, p in enumerate(self.items(data, "params"))),
            tensor_maps=maps,
            contract=tuple(self.requirement(c, f"contract[{i}]") for i, c in enumerate(self.items(data, "contract"))),
        )

    def cluster(self, data) -> tuple[int, int, int]:
        cluster = self.field(data, "cluster", "cluster")
        if not isinstance(cluster, list) or len(cluster) != 3 or not all(_is_int(c) and c >= 1 for c in cluster):
            self.fail("expected 'cluster' to be three positive integers", cluster)
        return tuple(cluster)

    def grid(self, data) -> Grid:
        persistent = self.field(data, "persistent", "grid.persistent")
        if not isinstance(persistent, bool):
            self.fail("expected 'grid.persistent' to be true or false", persistent)
        trips = data.get("trips")
        if trips is not None and not (_is_int(trips) and trips >= 1):
            self.fail("expected 'grid.trips' to be a positive integer", trips)
        axes = {axis: self.expr(self.field(data, axis, f"grid.{axis}"), f"grid.{axis}") for axis in "xyz"}
        return Grid(**axes, persistent=persistent, trips=trips)

    def expr(self, data, where: str) -> Expr:
        if _is_int(data):
            return data
        if not isinstance(data, list) or not data:
            self.fail(f"expected '{where}' to be an integer or [operator, ...]", data)
        head, *rest = data
        if not isinstance(head, str):
            self.fail(f"expected '{where}' to start with an operator", data)
        if head in OPERATORS and len(rest) == 2:
            return head, self.expr(rest[0], where), self.expr(rest[1], where)
        if head == "dim" and len(rest) == 2:
            return "dim", self.array(rest[0], where), self.dim_of(rest[0], rest[1], where)
        if head == "scalar" and len(rest) == 1:
            return "scalar", self.integer_scalar(rest[0], where)
        return self.fail(f"expected '{where}' to be [dim, arg, d], [scalar, arg] or [operator, a, b]", data)

    def arg(self, data, where: str) -> Arg:
        name = self.text(data, "name", f"{where}.name")
        kind = self.choice(data, "kind", ("array", "scalar"), where)
        dtype = self.choice(data, "dtype", sorted(KERNEL_DTYPES), where)
        if kind == "scalar":
            return Arg(name, kind, dtype)
        shape = self.extents(data, "shape", where)
        strides = self.extents(data, "strides", where)
        if len(shape) != len(strides):
            self.fail(f"expected '{where}.strides' to have {len(shape)} entries, as its shape", list(strides))
        return Arg(name, kind, dtype, shape, strides)

    def extents(self, data, key: str, where: str) -> tuple[int | None, ...]:
        values = self.field(data, key, f"{where}.{key}")
        if not isinstance(values, list) or not all(v is None or (_is_int(v) and v >= 0) for v in values):
            self.fail(f"expected '{where}.{key}' to be a list of null or integers of at least 0", values)
        return tuple(values)

    def param(self, data, where: str, map_count: int) -> Param:
        kind = self.choice(data, "kind", tuple(_PARAM_FIELDS), where)
        if kind == "tensor_map":
            return Param(kind, self.number(data, "map", f"{where}.map", 0, map_count - 1))
        arg = self.field(data, "arg", f"{where}.arg")
        if kind == "pointer":
            return Param(kind, self.array(arg, where))
        if kind == "scalar":
            return Param(kind, self.scalar(arg, where), type=self.choice(data, "type", sorted(KERNEL_DTYPES), where))
        dim = self.dim_of(self.array(arg, where), self.field(data, "dim", f"{where}.dim"), where)
        return Param(kind, arg, dim, self.choice(data, "type", ("i32", "i64"), where))

    def tensor_map(self, data, where: str) -> TensorMap:
        arg = self.array(self.field(data, "arg", f"{where}.arg"), where)
        rank = len(self.args[arg].shape)
        dims = self.field(data, "dims", f"{where}.dims")
        if not isinstance(dims, list) or not 1 <= len(dims) <= 5 or len(set(map(str, dims))) != len(dims):
            self.fail(f"expected '{where}.dims' to be 1 to 5 different dimensions", dims)
        if not all(_is_int(d) and 0 <= d < rank for d in dims):
            self.fail(f"expected '{where}.dims' to be dimensions of an array of rank {rank}", dims)
        box = self.field(data, "box", f"{where}.box")
        if not isinstance(box, list) or len(box) != len(dims) or not all(_is_int(b) and 1 <= b <= 256 for b in box):
            self.fail(f"expected '{where}.box' to be {len(dims)} integers, 1 to 256", box)
        return TensorMap(
            arg=arg,
            dtype=self.choice(data, "dtype", tuple(TENSOR_MAP_SIZES), where),
            dims=tuple(dims),
            box=tuple(box),
            swizzle=self.choice(data, "swizzle", (0, 32, 64, 128), where),
            l2_promotion=self.choice(data, "l2_promotion", (0, 64, 128, 256), where),
        )

    def requirement(self, data, where: str) -> Requirement:
        what = self.choice(data, "what", tuple(_CONTRACT_FIELDS), where)
        fields = _CONTRACT_FIELDS[what]
        arg = self.field(data, "arg", f"{where}.arg")
        arg = self.integer_scalar(arg, where) if what == "scalar_multiple" else self.array(arg, where)
        dim = self.dim_of(arg, self.field(data, "dim", f"{where}.dim"), where) if "dim" in fields else 0
        of = self.number(data, fields[-1], f"{where}.{fields[-1]}", 1)
        return Requirement(what, arg, of, self.text(data, "because", f"{where}.because"), dim)

    def array(self, arg, where: str) -> int:
        return self.arg_of_kind(arg, "array", where)

    def scalar(self, arg, where: str) -> int:
        return self.arg_of_kind(arg, "scalar", where)

    def integer_scalar(self, arg, where: str) -> int:
        dtype = self.args[self.scalar(arg, where)].dtype
        if not dtype.startswith("i"):
            self.fail(f"expected '{where}' to refer to an integer scalar", dtype)
        return arg

    def arg_of_kind(self, arg, kind: str, where: str) -> int:
        if not _is_int(arg) or not 0 <= arg < len(self.args):
            self.fail(f"expected '{where}' to refer to one of {len(self.args)} arguments", arg)
        if self.args[arg].kind != kind:
            self.fail(f"expected '{where}' to refer to {kind} arguments only", f"{self.args[arg].kind} {arg}")
        return arg

    def dim_of(self, arg: int, dim, where: str) -> int:
        rank = len(self.args[arg].shape)
        if not _is_int(dim) or not 0 <= dim < rank:
            self.fail(f"expected '{where}' to name a dimension of an array of rank {rank}", dim)
        return dim

    def field(self, data, key: str, where: str):
        if not isinstance(data, dict):
            self.fail(f"expected '{where.rpartition('.')[0] or where}' to be an object", data)
        if key not in data:
            raise LaunchError(f"launch record '{self.source}': expected field '{where}', got none")
        return data[key]

    def items(self, data, key: str) -> list:
        value = self.field(data, key, key)
        if not isinstance(value, list):
            self.fail(f"expected '{key}' to be a list", value)
        return value

    def text(self, data, key: str, where: str) -> str:
        value = self.field(data, key, where)
        if not isinstance(value, str):
            self.fail(f"expected '{where}' to be a string", value)
        return value

    def number(self, data, key: str, where: str, low: int, high: int = 2**63 - 1) -> int:
        value = self.field(data, key, where)
        if not _is_int(value) or not low <= value <= high:
            limit = f"of at least {low}" if high == 2**63 - 1 else f"from {low} to {high}"
            self.fail(f"expected '{where}' to be an integer {limit}", value)
        return value

    def choice(self, data, key: str, choices, where: str):
        value = self.field(data, key, f"{where}.{key}")
        if isinstance(value, bool) or value not in choices:
            self.fail(f"expected '{where}.{key}' to be one of {', '.join(map(str, choices))}", value)
        return value

    def fail(self, expected: str, got) -> NoReturn:
        raise LaunchError(f"launch record '{self.source}': {expected}, got {json.dumps(got)}")


def _is_int(value) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
