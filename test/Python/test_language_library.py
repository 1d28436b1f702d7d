"""The kernels of test/EndToEnd/library have twins in Python that become the same PTX."""

from __future__ import annotations

import re
import subprocess

import pytest
from language_library import TWINS
from language_tools import ROOT, use_tools

import headrace as hr
from headrace.driver.compiler import find_tool

FOLDER = ROOT / "test" / "EndToEnd" / "library"
TARGETS = ("sm_80", "sm_90a", "sm_100a")


def parameters(path, target: str) -> dict:
    """The values of the file's parameters for `target`, as constants of Python."""
    values = {}
    for name, first, rest in re.findall(r"^// param (\w+) = ([^,\n]+)(.*)$", path.read_text(), re.MULTILINE):
        special = dict(re.findall(r"(sm_\w+): ([^,\n]+)", rest))
        text = special.get(target, first).strip()
        values[name] = {"true": True, "false": False}.get(text, int(text) if re.fullmatch(r"-?\d+", text) else text)
    return values


def without_lines(ptx: str, kernel: str) -> list[str]:
    """PTX without what comes from places in the source, and from the kernel's name."""
    lines = re.sub(rf"\b{kernel}(?=_param_|\b)", "KERNEL", ptx).splitlines()
    return [line for line in lines if not re.match(r"\s*(\.loc|\.file|\$L__(tmp|func)|//)", line)]


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", sorted(TWINS))
def test_twin_gives_the_same_ptx(name, target, monkeypatch, tmp_path):
    use_tools(monkeypatch, tmp_path)
    source, theirs = FOLDER / f"{name}.mlir", tmp_path / "kernel.ptx"
    command = [find_tool("headrace-compile"), source, f"--target={target}", "-o", theirs]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"the .mlir file is refused: {done.stderr.splitlines()[0]}")
    twin, values = TWINS[name], parameters(source, target)
    constants = {p.name: values[p.name] for p in twin.kernel.parameters if p.constant and p.name in values}
    constants.update(twin.constants)
    ours = hr.compile(twin.kernel, {**twin.types(getattr(hr, values["T"])), **constants}, target)
    assert without_lines(ours.ptx, ours.name) == without_lines(theirs.read_text(), name)


def test_every_kernel_has_a_twin():
    assert set(TWINS) == {path.stem for path in FOLDER.glob("*.mlir")}
