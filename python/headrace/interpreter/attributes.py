"""Types and attributes of the generic form, as far as tile programs have them."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from headrace.interpreter.scanner import Scanner
from headrace.interpreter.types import ELEMENTS, Array, Function, Scalar, Tile, Type, dtype_of, is_float

_NAME = re.compile(r"[A-Za-z_][\w$.]*")
_EXTENT = re.compile(r"(\d+|\?)x")
_ELEMENT = re.compile(r"[A-Za-z]\w*")
_NUMBER = re.compile(r"0x[0-9A-Fa-f]+|[-+]?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?")
_STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')
_DIALECT = re.compile(r"#([A-Za-z_][\w$.]*)")
_SIZE = re.compile(r"-?\d+|\?")


@dataclass(frozen=True)
class Number:
    """A number and its type: an element type, or a tile of which every element is that number."""

    value: np.ndarray
    type: Type


@dataclass(frozen=True)
class Opaque:
    """An attribute of a dialect: what stands between its angle brackets."""

    name: str
    text: str


def parse_type(scan: Scanner) -> Type:
    if scan.accept("tensor<"):
        shape, element = _shaped(scan)
        if None in shape:
            raise scan.error("expected static extents of a tile")
        scan.expect(">")
        return Tile(shape, element)
    if scan.accept("memref<"):
        return _memref(scan)
    if scan.looking_at("("):
        return parse_function_type(scan)
    return Scalar(_element(scan))


def parse_function_type(scan: Scanner) -> Function:
    scan.expect("(")
    inputs = scan.separated(lambda: parse_type(scan), ")")
    scan.expect("->")
    if scan.accept("("):
        return Function(tuple(inputs), tuple(scan.separated(lambda: parse_type(scan), ")")))
    return Function(tuple(inputs), (parse_type(scan),))


def _element(scan: Scanner) -> str:
    name = scan.require(_ELEMENT, "a type")[0]
    if name not in ELEMENTS:
        raise scan.error(f"expected a number's type, '{name}' is none")
    return name


def _shaped(scan: Scanner) -> tuple[tuple[int | None, ...], str]:
    shape = []
    while found := scan.match(_EXTENT):
        shape.append(None if found[1] == "?" else int(found[1]))
    return tuple(shape), _element(scan)


def _memref(scan: Scanner) -> Array:
    shape, element = _shaped(scan)
    strides: list[int | None] | None = None
    if scan.accept(","):
        scan.expect("strided<")
        scan.expect("[")
        strides = scan.separated(lambda: _size(scan), "]")
        if scan.accept(","):
            raise scan.error("expected an array without offset")
        scan.expect(">")
    scan.expect(">")
    if strides is None:  # rows lie densely
        strides, step = [], 1
        for extent in reversed(shape):
            strides.insert(0, step)
            step = None if extent is None or step is None else step * extent
    return Array(shape, element, tuple(strides))


def _size(scan: Scanner) -> int | None:
    text = scan.require(_SIZE, "a stride")[0]
    return None if text == "?" else int(text)


def parse_dictionary(scan: Scanner, end: str) -> dict[str, object]:
    """Named attributes up to `end`. A name alone is a unit attribute: True."""

    def entry():
        string = scan.match(_STRING)
        name = string[1] if string else scan.require(_NAME, "an attribute's name")[0]
        return name, parse_attribute(scan) if scan.accept("=") else True

    return dict(scan.separated(entry, end))


def _unescaped(text: str) -> str:
    """What a string of MLIR stands for: a backslash comes before a quote, another one, or two digits of a byte."""

    def plain(found: re.Match[bytes]) -> bytes:
        return found[1] if len(found[1]) == 1 else bytes.fromhex(found[1].decode())

    raw = re.sub(rb'\\(["\\]|[0-9A-Fa-f]{2})', plain, text.encode())
    return raw.decode(errors="replace")


def parse_attribute(scan: Scanner) -> object:
    """bool, str, list, dict, Number, Opaque or a type."""
    for word, value in (("true", True), ("false", False)):
        if scan.accept(word):
            return value
    if string := scan.match(_STRING):
        return _unescaped(string[1])
    if scan.accept("@"):
        return scan.require(_NAME, "a symbol")[0]
    if scan.accept("["):
        return scan.separated(lambda: parse_attribute(scan), "]")
    if scan.accept("{"):
        return parse_dictionary(scan, "}")
    if scan.accept("dense<"):
        return _dense(scan)
    if scan.accept("array<"):
        _element(scan)
        scan.accept(":")
        return scan.separated(lambda: int(scan.require(_NUMBER, "a number")[0]), ">")
    if dialect := scan.match(_DIALECT):
        return Opaque(dialect[1], scan.balanced("<", ">") if scan.looking_at("<") else "")
    if number := scan.match(_NUMBER):
        type_ = parse_type(scan) if scan.accept(":") else Scalar("i64")
        return Number(_number(number[0], type_), type_)
    return parse_type(scan)


def _dense(scan: Scanner) -> Number:
    for word, value in (("true", "1"), ("false", "0")):
        if scan.accept(word):
            text = value
            break
    else:
        text = scan.require(_NUMBER, "one value for all elements")[0]
    scan.expect(">")
    scan.expect(":")
    type_ = parse_type(scan)
    return Number(_number(text, type_), type_)


def _number(text: str, type_: Type) -> np.ndarray:
    """A number without dimensions; hexadecimal digits of a float are its bits."""
    dtype = dtype_of(type_)
    if not is_float(dtype):
        value = int(text, 0)
        if dtype == np.bool_:
            return np.array(value != 0)
        bits = 8 * dtype.itemsize
        return np.array((value + (1 << (bits - 1))) % (1 << bits) - (1 << (bits - 1)), dtype)
    if text.startswith("0x"):
        return np.array(int(text, 16), f"u{dtype.itemsize}").view(dtype)
    return np.array(float(text)).astype(dtype)
