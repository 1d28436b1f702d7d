"""Runs a kernel on arrays from files, with the options of headrace-sim.

python -m headrace.interpreter KERNEL.mlir --arg NAME=FILE.npy|scalar ... --out NAME=FILE.npy ...
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np

from headrace.errors import HeadraceError
from headrace.interpreter import InterpreterError, load
from headrace.interpreter.program import PERSISTENT_PROGRAMS, Argument
from headrace.interpreter.types import RAW, Array, dtype_of, is_float

_ARG_HELP = """NAME=FILE.npy, NAME=FILE.npy[2:9,:5] (a part of it), NAME=new:128x64 (bytes 0xff) or NAME=3;
bf16 and 8-bit floats travel as uint16 and uint8"""
_OUT_HELP = "writes the array as the kernel left it; whole:FILE.npy the whole array of a part"


def main(arguments: list[str] | None = None) -> int:
    options = _parse(arguments)
    try:
        _run(options)
    except (HeadraceError, OSError) as error:
        print(f"{options.source}: error: {error}", file=sys.stderr)
        return 1
    return 0


def _parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="headrace.interpreter", description=__doc__.split("\n")[0])
    parser.add_argument("source", type=Path, metavar="KERNEL.mlir")
    parser.add_argument("--arg", action="append", default=[], type=_named, metavar="NAME=VALUE", help=_ARG_HELP)
    parser.add_argument("--out", action="append", default=[], type=_named, metavar="NAME=FILE.npy", help=_OUT_HELP)
    parser.add_argument("--kernel", help="which kernel, if the module has several")
    parser.add_argument("--grid", type=_grid, metavar="X,Y,Z", help="programs, instead of what tile.grid says")
    parser.add_argument("--processors", type=int, default=PERSISTENT_PROGRAMS, metavar="N",
                        help="programs of a persistent kernel, at most (default %(default)s)")  # fmt: skip
    parser.add_argument("--target", default="", help="whose values of the source's parameters are taken")
    parser.add_argument("--set", default="", metavar="NAME=VALUE,...", help="values of the source's parameters")
    parser.add_argument("--opt", help="path of headrace-opt")
    return parser.parse_args(arguments)


def _named(text: str) -> tuple[str, str]:
    name, _, value = text.partition("=")
    if not name or not value:
        raise argparse.ArgumentTypeError(f"expected NAME=VALUE, got '{text}'")
    return name, value


def _grid(text: str) -> tuple[int, ...]:
    try:
        sizes = tuple(int(part) for part in text.split(","))
    except ValueError:
        sizes = ()
    if not 1 <= len(sizes) <= 3:
        raise argparse.ArgumentTypeError(f"expected 1 to 3 numbers, got '{text}'")
    return sizes


def _run(options: argparse.Namespace) -> None:
    settings = dict(_named(part) for part in options.set.split(",") if part)
    text = options.source.read_text(encoding="utf-8")
    program = load(text, options.kernel, target=options.target, settings=settings, opt=options.opt)
    known = {name: a for a in program.arguments for name in (a.source_name, a.name) if name is not None}
    storage: dict[str, np.ndarray] = {}
    values: dict[str, object] = {}
    for name, value in options.arg:
        if name not in known:
            raise InterpreterError(f"'{name}' is not an argument of kernel '{program.name}'")
        if isinstance(known[name].type, Array):
            storage[name], values[name] = _read_array(known[name], value)
        else:
            values[name] = _read_number(name, value, is_float(dtype_of(known[name].type)))
    if missing := [name for name, _ in options.out if name not in storage]:
        raise InterpreterError(f"'{missing[0]}' is not an array that --arg gives")
    program.run(values, grid=options.grid, persistent_programs=options.processors)
    for name, path in options.out:
        whole = path.removeprefix("whole:")
        np.save(whole, storage[name] if whole != path else np.ascontiguousarray(values[name]))


def _read_array(argument: Argument, text: str) -> tuple[np.ndarray, np.ndarray]:
    """The whole array, and the part of it that is passed."""
    type_ = argument.type
    if text.startswith("new:"):
        shape = [_read_number(argument.name, extent, False) for extent in text[4:].split("x")]
        dtype = RAW.get(type_.element, dtype_of(type_))
        whole = np.full(np.prod(shape) * dtype.itemsize, 0xFF, np.uint8).view(dtype).reshape(shape)
        return whole, whole
    path, bracket, slices = text.partition("[")
    whole = np.load(path)
    if not bracket:
        return whole, whole
    try:
        parts = [slice(*(int(n) if n else None for n in part.split(":"))) for part in slices.rstrip("]").split(",")]
    except (ValueError, TypeError):
        raise InterpreterError(f"'{argument.name}': expected slices like [2:9,:5], got '[{slices}'") from None
    return whole, whole[tuple(parts)]


def _read_number(name: str, text: str, as_float: bool) -> int | float:
    try:
        return float(text) if as_float else int(text, 0)
    except ValueError:
        raise InterpreterError(f"'{name}': expected a number, got '{text}'") from None


if __name__ == "__main__":
    sys.exit(main())
