"""The compiler's JSON report as tables of text, which the terminal and the notebook draw each in their way."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

#: Registers of a thread and threads of a block that every target has at most (CUDA programming guide, table 21).
_REGISTER_LIMIT, _THREAD_LIMIT = 255, 1024
#: Columns of tensor memory (PTX ISA, 9.7.16.1).
_TMEM_LIMIT = 512


@dataclass(frozen=True)
class Table:
    """A title, the names of the columns, and rows of as many cells. `numeric` are the columns to align to the right.

    A row in `bad` (by index) shows what costs speed: bank conflicts, spills, a loop that is not pipelined.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numeric: frozenset[int] = frozenset()
    bad: frozenset[int] = frozenset()


def headline(report: dict) -> str:
    """``gemm for sm_90a``"""
    return f"{report.get('kernel', '?')} for {report.get('target', '?')}"


def remarks(report: dict) -> list[str]:
    """What is said in a line: each matmul's instruction, what ptxas notes, and what is not known yet."""
    lines = []
    for matmul in report.get("matmuls", ()):
        atom = "x".join(map(str, matmul.get("atom", ())))
        groups = " x ".join(map(str, matmul.get("groups", ())))
        line = f"matmul: {matmul.get('family', '?')} {atom}" + (f" by {groups} groups of warps" if groups else "")
        lines.append(line + _why(matmul))
    lines += report.get("messages", ())
    ptxas = report.get("ptxas")
    if ptxas is None:
        lines.append("registers and spills: not known before ptxas")
    else:
        lines += [f"ptxas {note.get('code', '')}: {note.get('text', '')}" for note in ptxas.get("notes", ())]
    return list(dict.fromkeys(lines))


def tables(report: dict) -> list[Table]:
    """The tables of `report`, those without rows left out. Fields that a report lacks are shown as ``-``."""
    makers: tuple[Callable[[dict], Table], ...] = (_resources, _channels, _roles, _loops, _copies, _accesses)
    return [_without_empty_end(table) for table in (maker(report) for maker in makers) if table.rows]


def _without_empty_end(table: Table) -> Table:
    """The table without its last column, if no row says anything there."""
    if any(row[-1] for row in table.rows):
        return table
    rows = tuple(row[:-1] for row in table.rows)
    return replace(table, columns=table.columns[:-1], rows=rows)


def _resources(report: dict) -> Table:
    rows: list[tuple[str, ...]] = []
    bad: set[int] = set()

    def add(name: str, used: int | None, limit: int | None, is_bad: bool = False) -> None:
        if used is None:
            return
        if is_bad:
            bad.add(len(rows))
        share = f"{100 * used / limit:.0f}%" if limit else "-"
        rows.append((name, _number(used), _number(limit), share))

    add("shared memory, bytes", report.get("shared_bytes"), report.get("shared_limit"))
    if report.get("tmem_columns"):
        add("tensor memory, columns", report["tmem_columns"], _TMEM_LIMIT)
    add("threads", 32 * sum(role.get("warps", 0) for role in report.get("roles", ())), _THREAD_LIMIT)
    ptxas = report.get("ptxas", {})
    add("registers a thread", ptxas.get("registers"), _REGISTER_LIMIT)
    add("spills, bytes", ptxas.get("spill_bytes"), None, bool(ptxas.get("spill_bytes")))
    add("stack, bytes", ptxas.get("stack_bytes"), None, bool(ptxas.get("stack_bytes")))
    return Table("Resources", ("resource", "used", "limit", "share"), tuple(rows), frozenset({1, 2, 3}), frozenset(bad))


def _channels(report: dict) -> Table:
    rows = []
    for channel in report.get("channels", ()):
        unit = "bytes" if "slot_bytes" in channel else "columns"
        size, slots = channel.get(f"slot_{unit}"), channel.get("slots")
        total = size * slots if size is not None and slots is not None else None
        cells = (channel.get("name"), channel.get("memory"), channel.get("sync"), slots, size, total, unit)
        rows.append(tuple(_cell(cell) for cell in cells))
    columns = ("channel", "memory", "sync", "slots", "slot", "total", "unit")
    return Table("Channels", columns, tuple(rows), frozenset({3, 4, 5}))


def _roles(report: dict) -> Table:
    rows = [
        (_cell(role.get("name")), _number(role.get("warps")), _number(role.get("registers") or None))
        for role in report.get("roles", ())
    ]
    return Table("Roles", ("role", "warps", "registers"), tuple(rows), frozenset({1, 2}))


def _loops(report: dict) -> Table:
    rows, bad = [], set()
    for index, loop in enumerate(report.get("loops", ())):
        cycles = loop.get("cycles", {})
        asked = loop.get("asked_stages")
        if "not_pipelined" in loop:
            bad.add(index)
        rows.append((
            f"line {loop['line']}" if "line" in loop else "-", _number(loop.get("stages")),
            "auto" if asked is not None and asked < 0 else _number(asked), _number(loop.get("ii_bound")),
            _cell(loop.get("bound_by")), *(_number(cycles.get(unit)) for unit in ("matmul", "copy", "shared")),
            loop.get("not_pipelined", ""),
        ))  # fmt: skip
    units = ("matmul", "copy", "shared memory")
    columns = ("loop", "stages", "asked", "cycles a trip", "bound by", *units, "not pipelined")
    return Table("Loops", columns, tuple(rows), frozenset({1, 2, 3, 5, 6, 7}), frozenset(bad))


def _copies(report: dict) -> Table:
    rows = [
        (_cell(copy.get("array")), _cell(copy.get("direction")), _cell(copy.get("mechanism")),
         _number(copy.get("bytes_per_instruction")), copy.get("why_not_faster", ""))
        for copy in report.get("copies", ())
    ]  # fmt: skip
    columns = ("array", "direction", "mechanism", "bytes an instruction", "why not faster")
    return Table("Copies", columns, tuple(rows), frozenset({3}))


def _accesses(report: dict) -> Table:
    accesses = report.get("shared_accesses", ())
    rows = [
        (_cell(access.get("channel")), _cell(access.get("direction")), _cell(access.get("instruction")),
         _number(access.get("bytes")), _number(access.get("bank_conflicts")))
        for access in accesses
    ]  # fmt: skip
    bad = frozenset(index for index, access in enumerate(accesses) if access.get("bank_conflicts"))
    columns = ("channel", "direction", "instruction", "bytes a thread", "bank conflicts")
    return Table("Shared memory accesses", columns, tuple(rows), frozenset({3, 4}), bad)


def _why(entry: dict) -> str:
    return f" (not faster: {entry['why_not_faster']})" if entry.get("why_not_faster") else ""


def _number(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:,.0f}" if value.is_integer() else f"{value:,.1f}"
    return f"{value:,}"


def _cell(value: Any) -> str:
    return "-" if value is None else _number(value) if isinstance(value, (int, float)) else str(value)
