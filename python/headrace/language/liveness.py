"""Which names are read later: what a branch has to merge, and what a loop has to carry from trip to trip.

One walk backwards over the structured syntax; the head of a loop is a fixed point.
"""

from __future__ import annotations

import ast


class Liveness:
    """The names that are live after each statement of a function's body, and at the head of each loop."""

    def __init__(self, body: list[ast.stmt]):
        self._after: dict[int, frozenset[str]] = {}
        self._head: dict[int, frozenset[str]] = {}
        self._keep = body  # the ids below stay theirs
        #: Functions inside are called later than they are defined: what they read is always live.
        self._always = frozenset(
            name
            for statement in body
            for node in ast.walk(statement)
            if isinstance(node, (ast.FunctionDef, ast.Lambda))
            for name in names_read(node)
        )
        self._block(body, frozenset())

    def after(self, statement: ast.stmt) -> frozenset[str]:
        """Names whose value after `statement` may be read."""
        return self._after[id(statement)] | self._always

    def head(self, loop: ast.For | ast.While) -> frozenset[str]:
        """Names whose value at the start of a trip, or after the last one, may be read."""
        return self._head[id(loop)] | self._always

    def _block(self, body: list[ast.stmt], live: frozenset[str]) -> frozenset[str]:
        for statement in reversed(body):
            self._after[id(statement)] = live
            live = self._statement(statement, live)
        return live

    def _statement(self, statement: ast.stmt, after: frozenset[str]) -> frozenset[str]:
        if isinstance(statement, ast.If):
            branches = self._block(statement.body, after) | self._block(statement.orelse, after)
            return branches | names_read(statement.test)
        if isinstance(statement, ast.For):
            targets = names_assigned([statement.target])
            head = self._loop(statement, after, targets, frozenset())
            return head | names_read(statement.iter)
        if isinstance(statement, ast.While):
            return self._loop(statement, after, frozenset(), names_read(statement.test))
        if isinstance(statement, ast.Return):
            return names_read(statement)
        if isinstance(statement, ast.FunctionDef):
            return after - {statement.name}
        return (after - names_assigned([statement])) | names_read(statement)

    def _loop(
        self, loop: ast.For | ast.While, after: frozenset[str], targets: frozenset[str], test: frozenset[str]
    ) -> frozenset[str]:
        head = after | test
        while True:
            grown = head | (self._block(loop.body, head) - targets)
            if grown == head:
                break
            head = grown
        self._block(loop.orelse, after)
        self._head[id(loop)] = head
        return head


def names_read(node: ast.AST) -> frozenset[str]:
    """Names that `node` reads, those of lambdas and functions in it included. ``x += 1`` reads x."""
    names = {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
    names |= {n.target.id for n in ast.walk(node) if isinstance(n, ast.AugAssign) and isinstance(n.target, ast.Name)}
    return frozenset(names)


def names_assigned(body: list[ast.AST]) -> frozenset[str]:
    """Names that `body` assigns, in all branches and loops, but not in functions inside."""
    names: set[str] = set()
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            names.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif not isinstance(node, ast.Lambda):
            names |= names_assigned(list(ast.iter_child_nodes(node)))
    return frozenset(names)
