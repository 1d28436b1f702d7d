"""The kernels of test/EndToEnd/library have twins in Python that become the same PTX."""

from __future__ import annotations

import re
import subprocess

import numpy as np
import pytest
from language_library import TWINS
from language_tools import ROOT, use_tools

import headrace as hr
from headrace.driver.compiler import find_tool

FOLDER = ROOT / "test" / "EndToEnd" / "library"
TARGETS = ("sm_80", "sm_90a", "sm_100a")
#: Kernels of which the Python form is another program with the same meaning.
OTHER_FORM = {
    "gemm_grouped": "its search for the group computes in the condition of scf.while",
}


def parameters(path, target: str) -> dict:
    """The values of the file's parameters for `target`, as constants of Python."""
    values = {}
    for name, first, rest in re.findall(r"^// param (\w+) = ([^,\n]+)(.*)$", path.read_text(), re.MULTILINE):
        special = dict(re.findall(r"(sm_\w+): ([^,\n]+)", rest))
        text = special.get(target, first).strip()
        values[name] = {"true": True, "false": False}.get(text, int(text) if re.fullmatch(r"-?\d+", text) else text)
    return values


def without_lines(ptx: str) -> list[str]:
    """PTX without what comes from places in the source."""
    return [line for line in ptx.splitlines() if not re.match(r"\s*(\.loc|\.file|\$L__(tmp|func)|//)", line)]


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", sorted(set(TWINS) - set(OTHER_FORM)))
def test_twin_gives_the_same_ptx(name, target, monkeypatch, tmp_path):
    use_tools(monkeypatch, tmp_path)
    source, theirs = FOLDER / f"{name}.mlir", tmp_path / "kernel.ptx"
    command = [find_tool("headrace-compile"), source, f"--target={target}", "-o", theirs]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"the .mlir file is refused: {done.stderr.splitlines()[0]}")
    twin, values = TWINS[name], parameters(source, target)
    constants = {p.name: values[p.name] for p in twin.kernel.parameters if p.constant}
    ours = hr.compile(twin.kernel, {**twin.types(getattr(hr, values["T"])), **constants}, target)
    assert without_lines(ours.ptx) == without_lines(theirs.read_text())


def test_every_kernel_has_a_twin():
    assert set(TWINS) == {path.stem for path in FOLDER.glob("*.mlir")}


@pytest.mark.parametrize("target", ["sm_80", "sm_90a"])
def test_grouped_product_on_the_simulator(target, monkeypatch, tmp_path):
    use_tools(monkeypatch, tmp_path)
    rng = np.random.default_rng()
    offsets = np.array([0, 40, 40, 130, 150], np.int32)
    a, b = (rng.standard_normal(shape).astype(np.float16) for shape in ((150, 72), (4, 96, 72)))
    c = np.full((150, 96), 7, np.float16)
    sizes = {"BM": 64, "BN": 64, "BK": 32, "STAGES": "auto", "SPECIALIZE": "auto"}
    TWINS["gemm_grouped"].kernel.run_on("sim", a, b, offsets, c, target=target, **sizes)
    group = np.searchsorted(offsets, np.arange(150), side="right") - 1
    expected = np.einsum("mk,mnk->mn", a.astype(np.float32), b.astype(np.float32)[group])
    np.testing.assert_allclose(c.astype(np.float32), expected, atol=0.05)
