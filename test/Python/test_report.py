"""Tables of the compiler's report: what is in them, and how terminals and notebooks show them."""

from __future__ import annotations

import builtins
import io
import re
from html.parser import HTMLParser

import pytest
from language_tools import use_tools

import headrace as hr
from headrace.report import Report, report_of
from headrace.report.tables import tables

#: What the compiler says of a product whose staging has bank conflicts and whose second loop is not pipelined.
DATA = {
    "kernel": "gemm<1>",
    "target": "sm_90a",
    "shared_bytes": 116224,
    "shared_limit": 232448,
    "tmem_columns": 256,
    "loops": [
        {"asked_stages": -1, "bound_by": "matmul", "channels": ["A+B"], "ii_bound": 1024.5, "line": 7, "stages": 3,
         "cycles": {"copy": 768, "matmul": 1024.5, "shared": 1024}},
        {"asked_stages": 4, "bound_by": "copy", "channels": [], "ii_bound": 96, "line": 9, "stages": 1,
         "cycles": {"copy": 96, "matmul": 0, "shared": 12},
         "not_pipelined": "shared memory has room for one stage only"},
    ],
    "channels": [
        {"memory": "shared", "name": "A+B", "slot_bytes": 16384, "slots": 3, "sync": "mbarrier"},
        {"memory": "tensor", "name": "acc", "slot_columns": 128, "slots": 2, "sync": "mbarrier"},
    ],
    "copies": [
        {"array": "A", "bytes_per_instruction": 16384, "direction": "load", "mechanism": "tma"},
        {"array": "C", "bytes_per_instruction": 2, "direction": "store", "mechanism": "registers",
         "why_not_faster": "tma: stride & <extent>"},
    ],
    "matmuls": [{"family": "wgmma", "atom": [64, 256, 16], "groups": [2, 1]},
                {"family": "mma_sync", "atom": [16, 8, 16], "why_not_faster": "M = 16"}],
    "roles": [{"name": "compute", "warps": 8, "registers": 240}, {"name": "load", "warps": 4, "registers": 0}],
    "shared_accesses": [
        {"bank_conflicts": 0, "bytes": 16, "channel": "A+B", "direction": "read", "instruction": "ldmatrix"},
        {"bank_conflicts": 7, "bytes": 4, "channel": "C.staging", "direction": "write", "instruction": "vector"},
    ],
    "ptxas": {"registers": 168, "spill_bytes": 24, "stack_bytes": 0,
              "notes": [{"code": "C7510", "text": "serialised"}]},
}  # fmt: skip


def rows(report: str, title: str) -> list[list[str]]:
    """The cells of a table in the plain text, without the row of names."""
    section = report.split(f"\n\n{title}\n")[1].split("\n\n")[0].rstrip("\n")
    return [re.split(r"\s{2,}", line[2:].strip()) for line in section.splitlines()[1:]]


def test_resources():
    assert rows(Report(DATA), "Resources") == [
        ["shared memory, bytes", "116,224", "232,448", "50%"],
        ["tensor memory, columns", "256", "512", "50%"],
        ["threads", "384", "1,024", "38%"],
        ["registers a thread", "168", "255", "66%"],
        ["spills, bytes", "24", "-", "-"],
        ["stack, bytes", "0", "-", "-"],
    ]


def test_loops():
    assert rows(Report(DATA), "Loops") == [
        ["line 7", "3", "auto", "1,024.5", "matmul", "1,024.5", "768", "1,024"],
        ["line 9", "1", "4", "96", "copy", "0", "96", "12", "shared memory has room for one stage only"],
    ]


def test_channels_have_bytes_or_columns():
    assert rows(Report(DATA), "Channels") == [
        ["A+B", "shared", "mbarrier", "3", "16,384", "49,152", "bytes"],
        ["acc", "tensor", "mbarrier", "2", "128", "256", "columns"],
    ]


def test_copies_and_accesses():
    assert rows(Report(DATA), "Copies") == [
        ["A", "load", "tma", "16,384"], ["C", "store", "registers", "2", "tma: stride & <extent>"],
    ]  # fmt: skip
    assert rows(Report(DATA), "Shared memory accesses") == [
        ["A+B", "read", "ldmatrix", "16", "0"], ["C.staging", "write", "vector", "4", "7"],
    ]  # fmt: skip


def test_lines_before_the_tables():
    assert Report(DATA).splitlines()[:4] == [
        "gemm<1> for sm_90a",
        "  matmul: wgmma 64x256x16 by 2 x 1 groups of warps",
        "  matmul: mma_sync 16x8x16 (not faster: M = 16)",
        "  ptxas C7510: serialised",
    ]


def test_what_costs_speed_is_marked():
    marked = [line for line in Report(DATA).splitlines() if line.startswith("!")]
    assert [line.split()[1] for line in marked] == ["spills,", "line", "C.staging"]
    assert {table.title: table.bad for table in tables(DATA) if table.bad} == {
        "Resources": {4}, "Loops": {1}, "Shared memory accesses": {1},
    }  # fmt: skip


def test_without_ptxas_registers_are_not_known():
    report = Report({key: value for key, value in DATA.items() if key != "ptxas"})
    assert "  registers and spills: not known before ptxas" in report.splitlines()
    assert "registers a thread" not in report


@pytest.mark.parametrize("lists", [[], [{}]])
def test_report_of_a_compiler_that_says_less(lists):
    assert Report(dict.fromkeys(("loops", "channels", "copies", "matmuls", "roles", "shared_accesses"), lists))


def test_columns_without_content_are_left_out():
    loops = [table for table in tables({"loops": DATA["loops"][:1]}) if table.title == "Loops"]
    assert loops[0].columns[-1] == "shared memory"


class Cells(HTMLParser):
    """The texts of cells by tag; every tag must be closed."""

    def __init__(self, html: str):
        super().__init__()
        self.open, self.found = [], {}
        self.feed(html)
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        self.found.setdefault(tag, []).append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        for tag in self.open:
            self.found[tag][-1] += data


def test_notebook():
    found = Cells(Report(DATA)._repr_html_()).found
    assert len(found["table"]) == 6
    assert "tma: stride & <extent>" in found["td"]
    assert found["td"].count("7") == 1
    # What costs speed is bold, like titles.
    assert {"24", "C.staging", "line 9"} <= set(found["b"])
    assert "168" not in found["b"]


def test_show_without_rich(monkeypatch, capsys):
    real = builtins.__import__

    def without_rich(name, *args, **kwargs):
        if name.split(".")[0] == "rich":
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without_rich)
    Report(DATA).show()
    assert capsys.readouterr().out == str(Report(DATA))


def test_show_with_rich():
    console = pytest.importorskip("rich.console").Console(file=io.StringIO(), width=200)
    Report(DATA).show(console)
    shown = console.file.getvalue()
    for table in tables(DATA):
        assert table.title in shown
        for row in table.rows:
            assert any(all(cell in line for cell in row) for line in shown.splitlines()), row


def test_print_of_rich_draws_it():
    console = pytest.importorskip("rich.console").Console(file=io.StringIO(), width=200)
    console.print(Report(DATA))
    shown = io.StringIO()
    Report(DATA).show(pytest.importorskip("rich.console").Console(file=shown, width=200))
    assert console.file.getvalue() == shown.getvalue()
    assert all(title in shown.getvalue() for title in ("Resources", "Loops"))
    assert shown.getvalue() != str(Report(DATA))


def test_prompt_shows_the_text():
    assert repr(Report(DATA)) == str(Report(DATA)) == "".join(Report(DATA))


def test_report_is_its_text_and_has_the_json():
    report = Report(DATA)
    assert isinstance(report, str)
    assert report.data is DATA


@hr.kernel
def product(A, B, C, BM: hr.constexpr = 128, BN: hr.constexpr = 128):  # noqa: N803
    i, j = hr.grid(hr.cdiv(C.shape[0], BM), hr.cdiv(C.shape[1], BN))
    acc = hr.zeros((BM, BN), hr.f32)
    for k in hr.pipelined(0, A.shape[1], 64):
        acc += A[i * BM : i * BM + BM, k : k + 64] @ B[j * BN : j * BN + BN, k : k + 64].T
    C[i * BM : i * BM + BM, j * BN : j * BN + BN] = acc.to(C.dtype)


_SIGNATURE = dict.fromkeys("ABC", hr.bf16[:, ::1])


@pytest.mark.parametrize("target", ["sm_80", "sm_90a", "sm_100a"])
def test_report_of_a_kernel(monkeypatch, tmp_path, target):
    use_tools(monkeypatch, tmp_path)
    compiled = hr.compile(product, _SIGNATURE, target)
    report = compiled.report("record")
    assert isinstance(report, Report)
    assert report == report_of(compiled, "record")
    assert report.startswith(f"product for {target}\n")
    assert report.data["shared_bytes"] == compiled.record["shared_bytes"]
    (loop,) = rows(report, "Loops")
    assert int(loop[1]) > 1
    assert {row[0] for row in rows(report, "Copies")} == {"A", "B", "C"}
    # The copy of a report in JSON that the compiler writes is all there is: nothing is computed anew.
    assert "ptxas" not in report.data


def test_report_with_registers(monkeypatch, tmp_path):
    use_tools(monkeypatch, tmp_path)
    from headrace.driver.tools import find_nvidia_tool

    if find_nvidia_tool("ptxas") is None:
        pytest.skip("there is no ptxas")
    report = report_of(hr.compile(product, _SIGNATURE, "sm_80"))
    assert report.data["ptxas"]["registers"] > 32
    assert "not known" not in report


def test_refused_kernel(monkeypatch, tmp_path):
    use_tools(monkeypatch, tmp_path)
    from headrace.driver.compiled import Compiled

    program = product.program(product.facts((), {**_SIGNATURE, "BM": 4096, "BN": 4096})[1])
    with pytest.raises(hr.CompileError):
        report_of(Compiled(program, "sm_90a"), "record")


def test_level_that_is_none():
    with pytest.raises(ValueError, match="expected the level 'record', 'ptx' or 'cubin', got 'sass'"):
        report_of(None, "sass")
