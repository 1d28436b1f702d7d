"""Programs that are refused: one error each, at the line to change, that says what to write instead."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest
from language_tools import use_tools

import headrace as hr

FOLDER = Path(__file__).parent / "wrong_programs"


def _programs():
    sys.path.insert(0, str(FOLDER))
    try:
        for path in sorted(FOLDER.glob("*.py")):
            if path.stem != "refused":
                spec = importlib.util.spec_from_file_location(f"wrong_programs_{path.stem}", path)
                module = importlib.util.module_from_spec(spec)
                sys.modules[spec.name] = module
                spec.loader.exec_module(module)
        return importlib.import_module("refused").PROGRAMS
    finally:
        sys.path.remove(str(FOLDER))


PROGRAMS = _programs()


def test_there_are_many():
    assert len(PROGRAMS) >= 60


@pytest.mark.parametrize("name", PROGRAMS)
def test_is_refused_at_its_line(name, monkeypatch, tmp_path):
    use_tools(monkeypatch, tmp_path)
    wrong = PROGRAMS[name]
    with pytest.raises(hr.CompileError) as caught:
        hr.compile(wrong.kernel, wrong.signature, wrong.target)
    error = caught.value
    if wrong.message.endswith("..."):
        assert error.message.startswith(wrong.message[:-3])
    else:
        assert error.message == wrong.message
    assert error.place.line == wrong.line
    assert Path(error.place.filename).parent == FOLDER
    check_text(str(error))


def check_text(text: str) -> None:
    """The printed error shows the line with a caret, and nothing of ours."""
    first, source, caret, *_ = text.splitlines()
    assert ": error: " in first
    assert source.strip()
    assert set(caret.strip()) == {"^"}
    assert len(caret) <= len(source)
    for ours in ("Traceback", "Assertion ", "headrace/language", "ptxas fatal", "LLVM ERROR"):
        assert ours not in text


def test_traceback_has_the_callers_line_and_one_of_ours():
    wrong = PROGRAMS["unknown_name"]
    with pytest.raises(hr.CompileError) as caught:
        wrong.kernel.mlir(**wrong.signature)
    assert len([entry for entry in caught.traceback if "headrace" in str(entry.path.parent)]) <= 1
    assert caught.value.__cause__ is None
