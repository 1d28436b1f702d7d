"""The report of a compiled kernel, which a terminal, a notebook and a program read each in their way."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headrace.driver.tools import find_nvidia_tool
from headrace.report import notebook, plain
from headrace.report.fetch import fetch

if TYPE_CHECKING:
    from headrace.driver.compiled import Compiled


class Report(str):
    """What the compiler chose and why. It is the plain text of its tables; `data` has the compiler's JSON, parsed.

    ``print(report)`` prints text, `show` draws tables where rich is installed (``pip install 'headrace[report]'``), and
    a notebook shows them as HTML; rich's own `print` draws it too. Tables:
    resources against their limits with registers and spills, channels, roles, loops with what bounds them, copies with
    why they are not faster, bank conflicts.

    ```python
    report = report_of(compiled)
    report.show()
    report.data["shared_bytes"]            # an int, in bytes
    report.data["ptxas"]["registers"]      # of a thread; only if the report was made from a cubin
    ```
    """

    data: dict

    def __new__(cls, data: dict) -> Report:
        report = super().__new__(cls, plain.render(data))
        report.data = data
        return report

    def show(self, console: Any = None) -> None:
        """Prints the tables to `console`, a rich Console (default: one for standard output); plain without rich."""
        try:
            from rich.console import Console
        except ImportError:
            print(self, end="")
            return
        (console or Console()).print(self)

    def __repr__(self) -> str:
        """The text, not its quotation: what a Python prompt shows."""
        return str(self)

    def __rich__(self) -> Any:
        from rich.console import Group

        from headrace.report.terminal import renderables

        return Group(*renderables(self.data))

    def _repr_html_(self) -> str:
        return notebook.render(self.data)


def report_of(compiled: Compiled, level: str | None = None) -> Report:
    """The report of a kernel from `headrace.compile`.

    `level` is "record" (quick; before registers are allotted), "ptx" or "cubin" (with registers and spills); by default
    "cubin" where there is a ptxas, else "record". Raises CompileError if the kernel is refused at that level,
    ValueError for another level, ToolError without a compiler.

    ```python
    matrix = hr.bf16[:, ::1]
    print(report_of(hr.compile(gemm, {"A": matrix, "B": matrix, "C": matrix}, "sm_90a")))
    ```
    """
    if level is None:
        level = "record" if find_nvidia_tool("ptxas") is None else "cubin"
    if level not in ("record", "ptx", "cubin"):
        raise ValueError(f"expected the level 'record', 'ptx' or 'cubin', got {level!r}")
    return Report(fetch(compiled.program.text, compiled.target, level, compiled.name).report)
