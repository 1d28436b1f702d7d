"""Everything public has a docstring with an example that parses; tutorials and the documents' programs run."""

from __future__ import annotations

import ast
import importlib.util
import inspect
import re

import numpy as np
import pytest
from language_tools import ROOT, use_tools

import headrace as hr
from headrace.language.api.builtin import ALL

TUTORIALS = sorted((ROOT / "python" / "examples" / "tutorial").glob("*.py"))


@pytest.mark.parametrize("name", [*ALL, "kernel", "inline", "compile", "array"])
def test_public_function_has_a_docstring_with_an_example(name):
    text = inspect.getdoc(getattr(hr, name))
    assert text
    examples = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert examples
    for example in examples:
        ast.parse(example)


@pytest.mark.parametrize("name", [n for n in hr.__all__ if inspect.isclass(getattr(hr, n))])
def test_public_class_has_a_docstring(name):
    assert len(inspect.getdoc(getattr(hr, name)) or "") > 40


def test_every_builtin_is_exported_and_lowered():
    from headrace.language.lowering.registry import LOWERINGS

    assert set(ALL) <= set(hr.__all__)
    assert set(LOWERINGS) == set(ALL.values())
    for name, function in ALL.items():
        parameters = list(inspect.signature(LOWERINGS[function]).parameters)[1:]
        assert parameters == list(function.headrace_signature.parameters), name


@pytest.mark.parametrize("path", TUTORIALS, ids=lambda path: path.stem)
def test_tutorial_prints_small_errors(path, monkeypatch, tmp_path, capsys):
    use_tools(monkeypatch, tmp_path)
    assert len(path.read_text().splitlines()) <= 60
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.main()
    printed = capsys.readouterr().out
    errors = [float(text) for text in re.findall(r"error:? ([0-9][0-9.e+-]*)", printed)]
    assert ("right: True" in printed) or errors
    assert all(error < 0.02 for error in errors)


def programs(document: str) -> str:
    """The Python of a document, in order, that needs no GPU."""
    text = (ROOT / document).read_text(encoding="utf-8")
    return "\n".join(re.findall(r"(?<!GPU -->\n)```python\n(.*?)```", text, re.DOTALL))


@pytest.mark.parametrize(("document", "operands"), [("README.md", "abd"), ("docs/python.md", "xwy")])
def test_programs_of_documents_run(document, operands, monkeypatch, tmp_path, capsys):
    use_tools(monkeypatch, tmp_path)
    path = tmp_path / "program.py"
    path.write_text(programs(document), encoding="utf-8")
    spec = importlib.util.spec_from_file_location("program", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert "Loops" in capsys.readouterr().out
    left, right, activated = (getattr(module, name).astype(np.float32) for name in operands)
    z = left @ right.T
    expected = z / 2 * (1 + np.tanh((z + 0.044715 * z**3) * 0.7978845608))
    np.testing.assert_allclose(activated, expected, rtol=2.0**-8, atol=1e-3)
    if hasattr(module, "c"):
        np.testing.assert_allclose(module.c.astype(np.float32), z, rtol=2.0**-8, atol=1e-3)


def test_documents_name_what_there_is():
    text = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
    listed = {name for name in re.findall(r"`(\w+)`", text) if name in dir(hr.kernels)}
    assert listed >= set(hr.kernels.__all__) - {"pack_int4"}
    for name in re.findall(r"\bhr\.(\w+)", text):
        assert hasattr(hr, name), name
