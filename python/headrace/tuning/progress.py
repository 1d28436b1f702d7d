"""A bar that shows how far a tuning is: by rich if it is installed, else one line that is written over."""

from __future__ import annotations

import contextlib
import importlib.util
import sys
from collections.abc import Callable, Iterator
from typing import TextIO

#: Called after each step, with what to show beside the bar.
Advance = Callable[[str], None]

_WIDTH = 24


@contextlib.contextmanager
def progress(title: str, total: int, shown: bool | None = None, stream: TextIO | None = None) -> Iterator[Advance]:
    """A bar of `total` steps on `stream` (default: standard error) while the block runs; gone after it.

    `shown` None shows it where `stream` is a terminal.
    """
    stream = stream or sys.stderr
    if total < 1 or not (stream.isatty() if shown is None else shown):
        yield lambda text: None
        return
    draw = _plain if importlib.util.find_spec("rich") is None else _rich
    yield from draw(title, total, stream)


def _rich(title: str, total: int, stream: TextIO) -> Iterator[Advance]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(),
               TextColumn("{task.fields[text]}", markup=False))  # fmt: skip
    with Progress(*columns, console=Console(file=stream), transient=True) as bar:
        task = bar.add_task(title, total=total, text="")
        yield lambda text: bar.update(task, advance=1, text=text)


def _plain(title: str, total: int, stream: TextIO) -> Iterator[Advance]:
    done, width = 0, 0

    def draw(text: str) -> None:
        nonlocal width
        filled = _WIDTH * done // total
        line = f"{title} [{'#' * filled}{'.' * (_WIDTH - filled)}] {done}/{total} {text}".rstrip()
        stream.write("\r" + line.ljust(width))
        stream.flush()
        width = len(line)

    def advance(text: str) -> None:
        nonlocal done
        done += 1
        draw(text)

    draw("")
    try:
        yield advance
    finally:
        stream.write("\r" + " " * width + "\r")
        stream.flush()
