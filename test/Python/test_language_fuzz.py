"""Random changes of programs are emitted as legal MLIR, or refused at a line; arithmetic is Python's."""

from __future__ import annotations

import ast
import importlib.util
import inspect
import random
import subprocess
import warnings

import numpy as np
import pytest
from language_kernels import CASES
from language_tools import opt, use_tools
from mutate_language import expressions, mutate

import headrace as hr

HEADER = """import math
import headrace as hr
from language_kernels import N, SCALE, SIZES, clamp, sign, welford
"""


def load(source: str, path):
    """The module with `source`, written to `path`."""
    path.write_text(source, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)
        spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("seed", range(8))
def test_changed_programs_are_refused_or_legal(seed, tmp_path):
    trees = {name: ast.parse(inspect.getsource(case.kernel.function)).body[0] for name, case in CASES.items()}
    pool = [node for tree in trees.values() for statement in tree.body for node in expressions(statement)]
    rng = random.Random(seed)
    accepted, places = 0, []
    for number in range(25):
        name = rng.choice(list(trees))
        tree = mutate(trees[name], rng, pool)
        tree.decorator_list = []
        text = HEADER + ast.unparse(tree)
        try:
            module = load(text, tmp_path / f"changed_{seed}_{number}.py")
        except SyntaxError:
            continue  # Python refuses it
        kernel = hr.kernel(getattr(module, name))
        try:
            emitted = kernel.mlir(locations=True, **CASES[name].make(np.random.default_rng(0)))
        except hr.CompileError as refused:
            places.append(refused.place)
            continue
        accepted += 1
        source = tmp_path / "kernel.mlir"
        source.write_text(emitted, encoding="utf-8")
        done = subprocess.run([opt(), source], capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{text}\n{done.stderr}"
    assert accepted
    assert None not in places


class _Expressions:
    """Random expressions of integers a, b, c and conditions of them."""

    def __init__(self, seed: int):
        self.rng = random.Random(seed)

    def number(self, depth: int) -> str:
        if depth == 0 or self.rng.random() < 0.15:
            return self.rng.choice(["a", "b", "c", str(self.rng.randint(-9, 9))])
        one, two = self.number(depth - 1), self.number(depth - 1)
        kind = self.rng.randrange(8)
        if kind == 0:
            return f"({one}) {self.rng.choice(['//', '%'])} {self.rng.choice([-7, -3, 2, 5])}"
        if kind == 1:
            return f"({one}) {self.rng.choice(['&', '|', '^'])} ({two})"
        if kind == 2:
            return f"(({one}) >> {self.rng.randint(0, 4)}) * {self.rng.randint(-3, 3)}"
        if kind == 3:
            return f"{self.rng.choice(['min', 'max'])}({one}, {two})"
        if kind == 4:
            return f"({one} if {self.condition(depth - 1)} else {two})"
        if kind == 5:
            return f"{self.rng.choice(['-', '~', '+'])}abs({one})"
        return f"({one}) {self.rng.choice('+-*')} ({two})"

    def condition(self, depth: int) -> str:
        if depth <= 0 or self.rng.random() < 0.4:
            symbols = ["<", "<=", ">", ">=", "==", "!="]
            chain = f" {self.rng.choice(symbols)} {self.number(0)}" if self.rng.random() < 0.3 else ""
            return f"({self.number(1)} {self.rng.choice(symbols)} {self.number(1)}{chain})"
        if self.rng.random() < 0.25:
            return f"(not {self.condition(depth - 1)})"
        return f"({self.condition(depth - 1)} {self.rng.choice(['and', 'or'])} {self.condition(depth - 1)})"


@pytest.mark.parametrize("seed", range(4))
def test_integers_and_conditions_are_pythons(seed, monkeypatch, tmp_path):
    use_tools(monkeypatch, tmp_path)
    make = _Expressions(seed)
    names = {"a": make.rng.randint(-50, 50), "b": make.rng.randint(0, 20), "c": make.rng.randint(-4, 4)}
    texts = []
    while len(texts) < 24:
        text = make.number(3)
        try:
            small = abs(eval(text, {}, dict(names))) < 2**31
        except ZeroDivisionError:
            continue
        if small and any(name in text.replace("abs", "").replace("max", "") for name in "abc"):
            texts.append(text)
    lines = [f"    Z[{i}] = hr.i32({text})" for i, text in enumerate(texts)]
    source = "\n".join(["import headrace as hr", "", "def kernel(Z, a, b, c):", "    hr.grid(1)", *lines, ""])
    kernel = hr.kernel(load(source, tmp_path / f"integers_{seed}.py").kernel)
    result = np.zeros(len(texts), np.int32)
    kernel.run_on("sim", result, target="sm_80", **names)
    wanted = [eval(text, {}, dict(names)) for text in texts]
    assert dict(zip(texts, result.tolist(), strict=True)) == dict(zip(texts, wanted, strict=True))
