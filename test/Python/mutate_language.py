"""Random changes of kernels of the language: expressions, names, statements and constants swapped or dropped."""

from __future__ import annotations

import ast
import copy
import random

OPERATORS = [
    ast.Add(),
    ast.Sub(),
    ast.Mult(),
    ast.Div(),
    ast.FloorDiv(),
    ast.Mod(),
    ast.Pow(),
    ast.BitAnd(),
    ast.MatMult(),
]
CONSTANTS = [0, 1, -1, 3, 64, 1 << 40, 0.5, -2.0, True, None, "ab", float("inf")]


def mutate(tree: ast.FunctionDef, rng: random.Random, pool: list[ast.expr]) -> ast.FunctionDef:
    """A copy of `tree` with 1 to 3 changes; expressions may come from `pool`, those of other kernels."""
    tree = copy.deepcopy(tree)
    for _ in range(rng.randint(1, 3)):
        rng.choice([_replace_expression, _replace_expression, _change_leaf, _change_statement])(tree, rng, pool)
    return ast.fix_missing_locations(tree)


def expressions(tree: ast.AST) -> list[ast.expr]:
    """The expressions below `tree` that are read."""
    return [node for node in ast.walk(tree) if isinstance(node, ast.expr)
            and not isinstance(getattr(node, "ctx", None), (ast.Store, ast.Del))]  # fmt: skip


def _replace(tree: ast.AST, old: ast.AST, new: ast.AST) -> None:
    for parent in ast.walk(tree):
        for name, value in ast.iter_fields(parent):
            if value is old:
                setattr(parent, name, new)
            elif isinstance(value, list):
                value[:] = [new if item is old else item for item in value]


def _body_expressions(tree: ast.FunctionDef) -> list[ast.expr]:
    return [node for statement in tree.body for node in expressions(statement)]


def _replace_expression(tree: ast.FunctionDef, rng: random.Random, pool: list[ast.expr]) -> None:
    own = _body_expressions(tree)
    if own:
        source = rng.choice(own if rng.random() < 0.6 else pool)
        _replace(tree, rng.choice(own), copy.deepcopy(source))


def _change_leaf(tree: ast.FunctionDef, rng: random.Random, pool: list[ast.expr]) -> None:
    own = _body_expressions(tree)
    if not own:
        return
    node = rng.choice(own)
    if isinstance(node, ast.BinOp):
        node.op = rng.choice(OPERATORS)
    elif isinstance(node, ast.Name):
        names = [other.id for other in own if isinstance(other, ast.Name)]
        node.id = rng.choice(names)
    else:
        _replace(tree, node, ast.Constant(rng.choice(CONSTANTS)))


def _change_statement(tree: ast.FunctionDef, rng: random.Random, pool: list[ast.expr]) -> None:
    bodies = [node.body for node in ast.walk(tree) if isinstance(getattr(node, "body", None), list)]
    body = rng.choice(bodies)
    at = rng.randrange(len(body))
    kind = rng.randrange(5)
    if kind == 0 and len(body) > 1:
        del body[at]
    elif kind == 1:
        body.insert(at, copy.deepcopy(rng.choice(body)))
    elif kind == 2:
        body[at] = ast.If(rng.choice(_body_expressions(tree) or pool), [body[at]], [])
    elif kind == 3:
        body[at] = ast.For(
            ast.Name("i", ast.Store()), ast.Call(ast.Name("range", ast.Load()), [ast.Constant(3)], []), [body[at]], []
        )
    else:
        body[at] = ast.Assign([ast.Name("x", ast.Store())], rng.choice(pool))
