"""The compiler as a module of this process: the same answers as headrace-compile, from any thread."""

import json
import re
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from headrace.driver import compiler, native
from headrace.driver.tools import find_tool

ROOT = Path(__file__).resolve().parents[2]
GEMM = (ROOT / "examples" / "gemm.mlir").read_text(encoding="utf-8")
COPY = """\
tile.kernel @copy(%X: memref<?xf32, strided<[1]>> {tile.name = "X"},
                  %Y: memref<?xf32, strided<[1]>> {tile.name = "Y"}) {
  %c0 = arith.constant 0 : index
  %x = tile.load %X[%c0] : memref<?xf32, strided<[1]>> -> tensor<128xf32>
  tile.store %x, %Y[%c0] : tensor<128xf32>, memref<?xf32, strided<[1]>>
  tile.return
}
"""

module = native.module()
pytestmark = pytest.mark.skipif(module is None, reason="built without the Python module")


@pytest.mark.parametrize("level", ["layout", "pipe", "llvm", "ptx"])
@pytest.mark.parametrize("target", ["sm_80", "sm_90a", "sm_100a"])
def test_same_code_as_the_program(target, level, tmp_path):
    out = tmp_path / "kernel.out"
    source = tmp_path / "kernel.mlir"
    source.write_text(GEMM, encoding="utf-8")
    command = [find_tool("headrace-compile"), source.name, f"--target={target}", f"--emit={level}", "-o", out]
    subprocess.run(command, check=True, capture_output=True, cwd=tmp_path)
    assert module.compile(GEMM, target, level).code == out.read_bytes()


def test_record_and_report():
    answer = module.compile(GEMM, "sm_90a", "record", settings=[("BM", "64")])
    assert answer.status == 0
    assert answer.code.decode() == answer.record
    assert json.loads(answer.record)["kernel"] == "gemm"
    assert json.loads(answer.report)["loops"]


def test_refusal_names_the_line():
    answer = module.compile(COPY.replace("tensor<128xf32>,", "tensor<64xf32>,"), "sm_80", "ptx", "mine.mlir")
    assert (answer.status, answer.code, answer.record) == (1, b"", "")
    assert answer.messages.startswith("mine.mlir:5:")
    assert "tile.store" in answer.messages  # the excerpt


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (("sm_9", "ptx"), 1, "error: unknown target 'sm_9'"),
        (("sm_80", "sass"), 2, "unknown level 'sass'"),
    ],
)
def test_wrong_requests(arguments, status, said):
    answer = module.compile(COPY, *arguments)
    assert answer.status == status
    assert answer.messages.startswith(said)


def test_threads_do_not_disturb_each_other():
    targets = ["sm_75", "sm_80", "sm_90a", "sm_100a", "sm_120a"]
    alone = {target: module.compile(GEMM, target, "ptx").code for target in targets}
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda target: (target, module.compile(GEMM, target, "ptx").code), targets * 2))
    assert all(code == alone[target] for target, code in together)


def test_generic_form():
    answer = module.to_generic(COPY, "mine.mlir")
    assert answer.status == 0
    assert b'"tile.load"' in answer.code
    assert b'loc("mine.mlir":4:8)' in answer.code
    assert module.to_generic("tile.kernel").status == 1


def test_driver_uses_it_unless_a_program_is_named(monkeypatch):
    monkeypatch.delenv("HEADRACE_COMPILE", raising=False)
    inside = compiler.run(COPY, "sm_80", "ptx", report=True)
    assert str(module.__file__) in compiler.version()
    monkeypatch.setenv("HEADRACE_COMPILE", str(find_tool("headrace-compile")))
    assert "headrace-compile" in compiler.version()
    outside = compiler.run(COPY, "sm_80", "ptx", report=True)
    without_paths = [re.sub(rb'^\s*\.file.*$', b"", output.code, flags=re.MULTILINE) for output in (inside, outside)]
    assert without_paths[0] == without_paths[1]
    assert inside.report == outside.report
    assert {**outside.record, "ptx": None} == {**inside.record, "ptx": None}
