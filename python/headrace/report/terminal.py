"""Tables in a terminal, by rich. Only imported where rich is."""

from __future__ import annotations

from collections.abc import Iterator

from rich import box
from rich.console import RenderableType
from rich.markup import escape
from rich.table import Table as RichTable
from rich.text import Text

from headrace.report.tables import Table, headline, remarks, tables


def renderables(report: dict) -> Iterator[RenderableType]:
    """What rich prints: the headline, remarks, and one table after the other."""
    yield Text(headline(report), style="bold")
    for line in remarks(report):
        yield Text(f"  {line}")
    for table in tables(report):
        yield drawn(table)


def drawn(table: Table) -> RichTable:
    """A table of rich; rows that cost speed are yellow."""
    result = RichTable(title=table.title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD)
    for column, name in enumerate(table.columns):
        result.add_column(escape(name), justify="right" if column in table.numeric else "left")
    for index, row in enumerate(table.rows):
        result.add_row(*map(escape, row), style="yellow" if index in table.bad else None)
    return result
