"""Early returns: a body whose `return` statements all come last in their block.

``if c: return a`` followed by more is rewritten to ``if c: return a`` with the rest under `else`.
"""

from __future__ import annotations

import ast


def move_returns_to_the_end(body: list[ast.stmt]) -> list[ast.stmt]:
    """`body` with what follows an `if` that may return moved into its branches. Nodes keep their places.

    A return inside of a loop stays: whoever emits the loop refuses it.
    """
    result: list[ast.stmt] = []
    for position, statement in enumerate(body):
        if isinstance(statement, ast.Return):
            return [*result, statement]
        if isinstance(statement, ast.If) and has_return([statement]):
            rest = body[position + 1 :]
            moved = ast.If(
                test=statement.test,
                body=move_returns_to_the_end(statement.body + rest),
                orelse=move_returns_to_the_end(statement.orelse + rest),
            )
            return [*result, ast.copy_location(moved, statement)]
        result.append(statement)
    return result


def has_return(body: list[ast.stmt]) -> bool:
    """Whether one of `body`, or of the branches in it, is a return; functions and loops in it do not count."""
    for statement in body:
        if isinstance(statement, ast.Return):
            return True
        if isinstance(statement, ast.If) and (has_return(statement.body) or has_return(statement.orelse)):
            return True
    return False
