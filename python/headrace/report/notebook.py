"""Tables as HTML, for notebooks. Colours are those of the notebook's theme; nothing is loaded."""

from __future__ import annotations

from html import escape

from headrace.report.tables import Table, headline, remarks, tables


def render(report: dict) -> str:
    """The report as one ``<div>``."""
    lines = "".join(f"<li>{escape(line)}</li>" for line in remarks(report))
    listed = f"<ul>{lines}</ul>" if lines else ""
    return f"<div><b>{escape(headline(report))}</b>{listed}{''.join(map(table_html, tables(report)))}</div>"


def table_html(table: Table) -> str:
    """A table; rows that cost speed are bold."""
    head = "".join(_cell("th", name, column in table.numeric, False) for column, name in enumerate(table.columns))
    body = "".join(
        "<tr>"
        + "".join(_cell("td", cell, column in table.numeric, index in table.bad) for column, cell in enumerate(row))
        + "</tr>"
        for index, row in enumerate(table.rows)
    )
    caption = f'<caption style="text-align:left"><b>{escape(table.title)}</b></caption>'
    return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _cell(tag: str, text: str, is_number: bool, is_bad: bool) -> str:
    content = f"<b>{escape(text)}</b>" if is_bad else escape(text)
    return f'<{tag} style="text-align:{"right" if is_number else "left"}">{content}</{tag}>'
