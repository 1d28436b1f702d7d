"""What the compiler says of each configuration at the pipe level, before there is any code."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from headrace.language.errors import CompileError, InternalError
from headrace.language.program import Program
from headrace.report.fetch import fetch
from headrace.runtime import record as reader
from headrace.runtime.schema import Record
from headrace.tuning.parallel import for_each
from headrace.tuning.progress import Advance
from headrace.tuning.results import Result
from headrace.tuning.space import Config


@dataclass(frozen=True)
class Emitted:
    """A configuration with its program in the tile dialect, or with the reason why it has none."""

    config: Config
    program: Program | None
    refused: str = ""

    @property
    def identity(self) -> str:
        """What the compiler sees of it, without places in the source file."""
        return self.program.plain if self.program is not None else f"refused: {self.refused}"


@dataclass(frozen=True)
class Candidate:
    """A configuration that the compiler takes: its program, launch record and report (the resource table)."""

    config: Config
    program: Program
    record: Record
    report: dict


def emit_all(configs: Sequence[Config], emit: Callable[[Config], Program]) -> list[Emitted]:
    """The programs of `configs`; `emit` raises CompileError for those that the language refuses."""
    emitted = []
    for config in configs:
        try:
            emitted.append(Emitted(config, emit(config)))
        except CompileError as error:
            emitted.append(Emitted(config, None, reason_of(error)))
    return emitted


def examine(
    emitted: Sequence[Emitted], target: str, advance: Advance, workers: int | None = None
) -> tuple[list[Candidate], list[Result]]:
    """Compiles all programs to the pipe level for `target`, on all cores. Those that fit, and the others' results.

    A configuration that the compiler has a fault with counts as failed: others may be fine. Raises ToolError.
    """

    def look(item: Emitted) -> Candidate | Result:
        if item.program is None:
            return Result(item.config, "refused", item.refused)
        try:
            reported = fetch(item.program.text, target, "record", item.program.name)
        except CompileError as error:
            return Result(item.config, "refused", reason_of(error))
        except InternalError as error:
            return Result(item.config, "failed", str(error))
        return Candidate(item.config, item.program, reader.parse(reported.record), reported.report)

    looked = for_each(emitted, look, advance, workers)
    return [c for c in looked if isinstance(c, Candidate)], [r for r in looked if isinstance(r, Result)]


def reason_of(error: CompileError) -> str:
    """The message with its notes, in one line."""
    return "; ".join((error.message, *(note.message for note in error.notes)))
