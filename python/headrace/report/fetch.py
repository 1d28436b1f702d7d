"""Compiles a kernel to a level and brings back what the compiler reports of it as parsed JSON."""

from __future__ import annotations

from dataclasses import dataclass

from headrace.driver import compiler
from headrace.driver.diagnostics import check


@dataclass(frozen=True)
class Reported:
    """A compilation that went well: the launch record and the report, parsed JSON both."""

    record: dict
    report: dict


def fetch(source: str, target: str, level: str, kernel: str) -> Reported:
    """Compiles `source`, a module of the tile dialect, for `target` (such as "sm_90a") and returns what it needs.

    `level` is "record" (the pipe level, before any code), "ptx" or "cubin" (with what ptxas says: registers, spills).
    `kernel` names it in messages. Raises CompileError if the kernel is refused, InternalError for a fault of the
    compiler, ToolError without one.
    """
    output = compiler.run(source, target, level, report=True)
    check(output, kernel)
    assert output.record is not None
    assert output.report is not None
    return Reported(output.record, output.report)
