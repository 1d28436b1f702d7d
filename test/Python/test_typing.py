"""Types and documentation of what is public: a type checker reads kernels, examples and calls of both."""

from __future__ import annotations

import ast
import importlib.util
import inspect
import subprocess
import sys
from pathlib import Path

import pytest
from language_tools import ROOT

import headrace as hr

PACKAGE = ROOT / "python" / "headrace"
#: What users write, read and import: no error there. Modules behind it are only read for their types.
CHECKED = (
    ROOT / "python" / "examples", PACKAGE / "kernels", PACKAGE / "language" / "api", PACKAGE / "report",
    PACKAGE / "__init__.py", PACKAGE / "errors.py", PACKAGE / "language" / "dtypes.py",
    PACKAGE / "language" / "kernel.py",
)  # fmt: skip

#: A kernel and its calls, each line with an error marked.
WRONG = """
import numpy as np
import headrace as hr

@hr.kernel(warps="WARPS")
def kernel(X, Y, BM: hr.constexpr = 64, WARPS: hr.constexpr = 4):
    i, j = hr.grid(hr.cdiv(X.shape[0], BM), 2)
    i, j = hr.grid(hr.cdiv(X.shape[0], BM))  # error
    x = hr.load(X[i * BM : i * BM + BM], fill=-1.0).to(hr.f32)
    x.too(hr.f32)  # error
    Y[i * BM : i * BM + BM] = hr.where(x > 0, x, 0.0).to(hr.bf16)

@hr.kernel
def plain(X, n: int):
    hr.exp(X[0:n], 3)  # error

x = np.zeros(4)
kernel[4](x, x, BM=32)
run = kernel.run_on("sim", x, x, target="sm_80", seeds="2")  # error
run.compiled.ptx.splitlines()
run.compiled.report().data["loops"]
run.orders  # error
tiles: int = hr.cdiv(5, 2)
name: str = hr.cdiv(5, 2)  # error
hr.kernels.gemm(x, x, activation="gelu", out_dtype=hr.f32, BM=64)
hr.kernels.gemm(x, x, activation=3)  # error
hr.kernels.attention(x, x)  # error
compiled = hr.compile(plain, {"X": hr.f32[:, ::1]}, "sm_80")
compiled.cubin.decode()
compiled.cubin.splitlines(True, False)  # error
hr.nothing  # no error: names are loaded when they are used
"""


def check(*paths: Path, folder: Path) -> subprocess.CompletedProcess:
    """mypy's verdict."""
    if importlib.util.find_spec("mypy") is None:
        pytest.skip("mypy is not installed")
    command = [sys.executable, "-m", "mypy", f"--cache-dir={folder}", "--config-file=", "--follow-imports=silent"]
    command += ["--ignore-missing-imports", "--no-error-summary", "--python-version=3.10", *map(str, paths)]
    environment = {"MYPYPATH": str(ROOT / "python"), "PATH": ""}
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment, cwd=folder)


def test_examples_and_public_modules_have_no_type_errors(tmp_path):
    done = check(*CHECKED, folder=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


def test_wrong_calls_are_type_errors(tmp_path):
    """The checker sees types, and not Any, where there are some."""
    path = tmp_path / "wrong.py"
    path.write_text(WRONG)
    done = check(path, folder=tmp_path)
    found = {int(line.split(":")[1]) for line in done.stdout.splitlines() if ": error: " in line}
    expected = {number for number, line in enumerate(WRONG.splitlines(), 1) if line.endswith("# error")}
    assert found == expected, done.stdout


def test_package_says_that_it_has_types():
    assert (PACKAGE / "py.typed").exists()


def public_functions():
    """Functions of the package, of hr.kernels, and public methods of public classes."""
    for name in hr.__all__:
        value = getattr(hr, name)
        if inspect.isclass(value):
            for part, member in vars(value).items():
                if inspect.isfunction(member) and not part.startswith("_"):
                    yield f"{name}.{part}", member
        elif inspect.isfunction(value):
            yield name, value
    for name in hr.kernels.__all__:
        yield f"kernels.{name}", getattr(hr.kernels, name)


FUNCTIONS = dict(public_functions())


@pytest.mark.parametrize("name", FUNCTIONS)
def test_is_annotated_and_documented(name):
    function = FUNCTIONS[name]
    signature = inspect.signature(function)
    parameters = [p for p in signature.parameters.values() if p.name != "self"]
    assert [p.name for p in parameters if p.annotation is p.empty] == []
    assert signature.return_annotation is not signature.empty
    assert len(inspect.getdoc(function) or "") > 20 or inspect.getdoc(function) == f"See `hr.{function.__name__}`."


@pytest.mark.parametrize("name", hr.kernels.__all__)
def test_function_of_arrays_says_their_shapes(name):
    text = inspect.getdoc(getattr(hr.kernels, name)) or ""
    assert "[" in text
    assert "headrace.kernels" in text or name in ("pack_int4", "int4_weights_gemm")


def _modules_by_name(tree: ast.Module) -> set[str]:
    """Names that a module gives to other modules of the package."""
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("headrace"):
            folder = ROOT / "python" / Path(*node.module.split("."))
            names |= {a.asname or a.name for a in node.names if (folder / f"{a.name}.py").exists()}
        if isinstance(node, ast.Import):
            names |= {a.asname for a in node.names if a.name.startswith("headrace") and a.asname}
    return names


def private_uses(source: str) -> list[str]:
    """Names with an underscore that `source` takes from other modules of the package."""
    tree = ast.parse(source)
    modules = _modules_by_name(tree)
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("headrace"):
            found += [a.name for a in node.names if a.name.startswith("_")]
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in modules:
            found += [node.attr] if node.attr.startswith("_") and not node.attr.startswith("__") else []
    return found


def test_modules_use_no_private_names_of_others():
    assert private_uses("from headrace.driver import cache\ncache._read(1)\ncache.get(2)") == ["_read"]
    assert private_uses("from headrace.driver.cache import _read") == ["_read"]
    uses = {str(path): private_uses(path.read_text(encoding="utf-8")) for path in PACKAGE.rglob("*.py")}
    assert {path: names for path, names in uses.items() if names} == {}
