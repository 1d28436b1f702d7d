"""Where an interpreted kernel is: from Python's frames to places of its source."""

from __future__ import annotations

import ast
import functools
import sys
from collections.abc import Iterator
from types import CodeType, FrameType

from headrace.language.errors import Place
from headrace.language.source import FunctionSource


class Frames:
    """The code of the kernel and of the functions that it calls, by which their frames are told from others."""

    def __init__(self) -> None:
        self._sources: dict[CodeType, FunctionSource] = {}

    def add(self, code: CodeType, source: FunctionSource) -> None:
        """Makes `code`, and the functions in it, code of `source`."""
        self._sources[code] = source
        for constant in code.co_consts:
            if isinstance(constant, CodeType):
                self.add(constant, source)

    def source_of(self, code: CodeType) -> FunctionSource | None:
        """The source that `code` was made from, None if it is not the kernel's."""
        return self._sources.get(code)

    def places(self) -> list[Place]:
        """Where the kernel is: the innermost place first, then the calls that led there."""
        return [_place(self._sources[code], *_position(code, at, line)) for code, at, line in self._stack()]

    def place(self) -> Place | None:
        """The innermost of `places`."""
        first = next(self._stack(), None)
        return _place(self._sources[first[0]], *_position(*first)) if first else None

    def subscript(self) -> ast.Subscript | None:
        """The subscript that is evaluated now; None if Python does not say."""
        first = next(self._stack(), None)
        return _subscripts(self._sources[first[0]]).get(_position(*first)) if first else None

    def _stack(self) -> Iterator[tuple[CodeType, int, int]]:
        frame: FrameType | None = sys._getframe(1)
        while frame is not None:
            if frame.f_code in self._sources:
                yield frame.f_code, frame.f_lasti, frame.f_lineno
            frame = frame.f_back


@functools.lru_cache(maxsize=8192)
def _position(code: CodeType, at: int, line: int) -> tuple[int, int | None, int | None, int | None]:
    """First and last line and column of the instruction `at`; before Python 3.11 only `line` is known."""
    positions = getattr(code, "co_positions", None)
    if positions is None:
        return line, None, None, None
    first, last, start, end = list(positions())[at // 2]
    return first or line, last, start, end


@functools.lru_cache(maxsize=8192)
def _place(source: FunctionSource, line: int, last: int | None, start: int | None, end: int | None) -> Place:
    node = ast.Pass(lineno=line, col_offset=start or 0, end_lineno=last, end_col_offset=end)
    return source.place(node)


@functools.lru_cache(maxsize=256)
def _subscripts(source: FunctionSource) -> dict[tuple, ast.Subscript]:
    return {
        (node.lineno, node.end_lineno, node.col_offset, node.end_col_offset): node
        for node in ast.walk(source.node)
        if isinstance(node, ast.Subscript)
    }
