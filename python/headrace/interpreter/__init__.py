"""Reference evaluator of the tile dialect: runs a kernel on numpy arrays, program by program, on the CPU.

It says what a kernel means, in the plainest way: no layouts, no pipelining, no threads. Every arithmetic operation
rounds to its element type; tile.dot, tile.reduce and tile.scan sum in float64 and round once. It needs numpy,
ml_dtypes and headrace-opt.

    import headrace.interpreter
    headrace.interpreter.run(text, {"A": a, "B": b, "C": c})

Arrays are changed in place and may be views with strides. bf16 and 8-bit floats are ml_dtypes arrays, or their bits as
unsigned integers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from headrace.interpreter.errors import InterpreterError
from headrace.interpreter.parameters import substitute
from headrace.interpreter.program import Program
from headrace.interpreter.source import to_generic, to_generic_each

__all__ = ["InterpreterError", "Program", "load", "load_all", "run"]


def load(
    text: str,
    kernel: str | None = None,
    *,
    target: str = "",
    settings: Mapping[str, str] | None = None,
    opt: str | None = None,
) -> Program:
    """The kernel named `kernel`, or the only one, of a source. `opt` is the path of headrace-opt.

    `target` and `settings` choose the values of the source's parameters, as headrace-compile's --target and --set do.
    """
    text = substitute(text, target, settings)
    return Program(to_generic(text, opt), kernel, text)


def load_all(texts: Sequence[str], *, opt: str | None = None) -> list[Program]:
    """The only kernel of each source, without parameters. One run of headrace-opt reads them all.

    Raises InterpreterError if any source is refused. Later messages name no lines.
    """
    return [Program(generic) for generic in to_generic_each(texts, opt)]


def run(text: str, arguments: Mapping[str, object], kernel: str | None = None, **options) -> None:
    """Runs a kernel of `text` on `arguments` by name: numpy arrays, changed in place, and numbers.

    `options` are those of `Program.run`. Raises InterpreterError, which names the operation and the line.
    """
    load(text, kernel).run(arguments, **options)
