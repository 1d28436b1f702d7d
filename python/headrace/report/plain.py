"""Tables as plain text, for terminals without rich, files and logs."""

from __future__ import annotations

from headrace.report.tables import Table, headline, remarks, tables


def render(report: dict) -> str:
    """The report as text; columns are aligned, and a row that costs speed starts with ``!``. Ends in a newline."""
    parts = [headline(report), *(f"  {line}" for line in remarks(report))]
    for table in tables(report):
        parts += ["", *lines(table)]
    return "\n".join(parts) + "\n"


def lines(table: Table) -> list[str]:
    """The title, the names of the columns and the rows of a table."""
    shown = [table.columns, *table.rows]
    widths = [max(len(row[column]) for row in shown) for column in range(len(table.columns))]

    def line(row: tuple[str, ...], mark: str) -> str:
        padded = (
            cell.rjust(width) if column in table.numeric else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        return f"{mark} {'  '.join(padded)}".rstrip()

    body = [line(row, "!" if index in table.bad else " ") for index, row in enumerate(table.rows)]
    return [table.title, line(table.columns, " "), *body]
