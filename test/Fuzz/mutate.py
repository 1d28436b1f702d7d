"""Mutator of .mlir texts. As a program: prints one mutated file.

python mutate.py --seed 7
"""

from __future__ import annotations

import argparse
import random
import re

from seeds import TARGETS, all_seeds, random_gemm
from tile_ops import TileOps
from vocabulary import (
    ATTRIBUTES,
    ELEMENTS,
    ENCODINGS,
    FLOAT_OPS,
    INTEGER_OPS,
    KNOBS,
    NUMBERS,
    PIPELINE_VALUES,
    PIPELINES,
    SHAPES,
    SMALL,
    STRIDES,
    SWAPS,
)

_TOKEN = re.compile(r"[%@#!^]?[A-Za-z_][\w.$]*|-?\d+(?:\.\d+)?|\s+|.", re.DOTALL)
_NUMBER = re.compile(r"(?<![\w.%@#])-?\d+(?![\w.])|(?<=x)\d+(?=x)|(?<=<)\d+(?=x)")
_SHAPED = re.compile(r"(?:tensor|memref|vector)<[^<>]*(?:<[^<>]*>[^<>]*)*>")
_ELEMENT = re.compile(
    r"(?<![\w.])(?:f16|bf16|f32|f64|i1|i8|i16|i32|i64|index|f8E4M3FN|f8E5M2)(?![\w.])|"
    r"(?<=x)(?:f16|bf16|f32|f64|i1|i8|i16|i32|i64|index|f8E4M3FN|f8E5M2)(?=[>,\s])"
)
_VALUE = re.compile(r"%[A-Za-z_]\w*")


class Mutator:
    """Draws mutated texts; the same seed gives the same sequence."""

    def __init__(self, seed: int):
        self.rng = random.Random(seed)
        self.seeds = list(all_seeds().items())
        # Pipe-level tests outnumber all else, but whole programs reach further: draw them as often.
        self.groups = [
            [s for s in self.seeds if s[0].startswith("test/")],
            [s for s in self.seeds if not s[0].startswith("test/")],
        ]
        self.vocabulary = sorted({t for _, text in self.seeds for t in _TOKEN.findall(text) if not t.isspace()})
        self.moves = [
            (self.edit_bytes, 1),
            (self.edit_tokens, 2),
            (self.edit_lines, 3),
            (self.change_number, 4),
            (self.change_number_everywhere, 5),
            (self.change_element, 4),
            (self.change_shaped, 3),
            (self.add_attribute, 3),
            (self.change_knobs, 2),
            (self.change_pipeline, 3),
            (self.swap_keyword, 4),
            (self.swap_value, 4),
            (self.insert_op, 6),
            (self.insert_tile_op, 6),
            (self.splice, 1),
            (self.toggle_transpose, 1),
            (self.wrap_lines, 2),
        ]

    def draw(self) -> tuple[str, str]:
        """(name of the seed, mutated text)."""
        if self.rng.random() < 0.15:
            name, text = "random-gemm", random_gemm(self.rng)
            if self.rng.random() < 0.5:
                return name, text
        else:
            name, text = self.rng.choice(self.rng.choices(self.groups, [1, 2])[0])
        count = self.rng.choices([1, 2, 3, 5, 9], [50, 25, 12, 8, 5])[0]
        for _ in range(count):
            moves, weights = zip(*self.moves, strict=False)
            text = self.rng.choices(moves, weights)[0](text)
        return name, text

    def _replace(self, text: str, match: re.Match, by: str, everywhere: bool) -> str:
        if everywhere:
            return text.replace(match[0], by)
        return text[: match.start()] + by + text[match.end() :]

    def _pick(self, pattern: re.Pattern, text: str) -> re.Match | None:
        matches = list(pattern.finditer(text))
        return self.rng.choice(matches) if matches else None

    def edit_bytes(self, text: str) -> str:
        place = self.rng.randrange(len(text) + 1)
        kind = self.rng.randrange(4)
        if kind == 0:
            return text[:place] + text[place + self.rng.choice([1, 1, 2, 8, 100]) :]
        if kind == 1:
            return text[:place] + self.rng.choice("{}()[]<>%#@!^:,=-+*/\"'\\0189azAZ_. \n\t\0\x7fé") + text[place:]
        if kind == 2:
            return text[:place] + chr(self.rng.randrange(1, 256)) + text[place + 1 :]
        return text[:place]

    def edit_tokens(self, text: str) -> str:
        tokens = _TOKEN.findall(text)
        if len(tokens) < 2:
            return text
        i, j = self.rng.randrange(len(tokens)), self.rng.randrange(len(tokens))
        kind = self.rng.randrange(4)
        if kind == 0:
            del tokens[i]
        elif kind == 1:
            tokens.insert(i, tokens[j])
        elif kind == 2:
            tokens[i], tokens[j] = tokens[j], tokens[i]
        else:
            tokens[i] = self.rng.choice(self.vocabulary)
        return "".join(tokens)

    def edit_lines(self, text: str) -> str:
        lines = text.splitlines(keepends=True)
        if len(lines) < 2:
            return text
        i, j = self.rng.randrange(len(lines)), self.rng.randrange(len(lines))
        kind = self.rng.randrange(5)
        if kind == 0:
            del lines[i]
        elif kind == 1:
            lines.insert(i, lines[j])
        elif kind == 2:
            lines[i], lines[j] = lines[j], lines[i]
        elif kind == 3:
            lines.insert(j, lines.pop(i))
        else:
            del lines[min(i, j) : min(i, j) + self.rng.randrange(1, 5)]
        return "".join(lines)

    def change_number(self, text: str) -> str:
        match = self._pick(_NUMBER, text)
        return self._replace(text, match, self.rng.choice(NUMBERS), False) if match else text

    def change_number_everywhere(self, text: str) -> str:
        """Another extent in all types that have it: often still a legal program."""
        match = self._pick(_NUMBER, text)
        if not match:
            return text
        by = self.rng.choice(SMALL if self.rng.random() < 0.8 else NUMBERS)
        return re.sub(rf"(?<![A-Za-wyz\d.%@#]){re.escape(match[0])}(?![A-Za-wyz\d.])", by, text)

    def change_element(self, text: str) -> str:
        match = self._pick(_ELEMENT, text)
        if not match:
            return text
        by = self.rng.choice(ELEMENTS[:4] + ELEMENTS)
        if self.rng.random() < 0.6:
            return re.sub(rf"(?<![A-Za-z.]){re.escape(match[0])}(?!\w)", by, text)
        return self._replace(text, match, by, False)

    def change_shaped(self, text: str) -> str:
        match = self._pick(_SHAPED, text)
        if not match:
            return text
        kind = self.rng.choice(["tensor", "tensor", "memref", "vector", "!pipe.buffer"])
        if match[0].startswith("memref") and self.rng.random() < 0.8:
            kind = "memref"
        inner = self.rng.choice(SHAPES) + self.rng.choice(ELEMENTS[:6] + ELEMENTS)
        if kind == "memref":
            inner += self.rng.choice(STRIDES)
        elif self.rng.random() < 0.4:
            inner += ", " + self.rng.choice(ENCODINGS)
        if self.rng.random() < 0.3 and kind == "tensor" and match[0].startswith("tensor"):
            inner = match[0][7:-1] + ", " + self.rng.choice(ENCODINGS)
        return self._replace(text, match, f"{kind}<{inner}>", self.rng.random() < 0.6)

    def add_attribute(self, text: str) -> str:
        """Before the types of an op, or among the attributes that it has."""
        attribute = self.rng.choice(ATTRIBUTES)
        if self.rng.random() < 0.3 and (match := self._pick(re.compile(r"\{(?=[a-z_.]+ =)"), text)):
            return text[: match.end()] + attribute + ", " + text[match.end() :]
        match = self._pick(re.compile(r" : (?=[a-z!(])"), text)
        return text[: match.start()] + f" {{{attribute}}}" + text[match.start() :] if match else text

    def change_knobs(self, text: str) -> str:
        knobs = self.rng.choice(KNOBS)
        if (match := self._pick(re.compile(r"attributes \{"), text)) and self.rng.random() < 0.9:
            return text[: match.end()] + knobs + ", " + text[match.end() :]
        match = self._pick(re.compile(r"\)(?= \{\n)"), text)
        return text[: match.end()] + f" attributes {{{knobs}}}" + text[match.end() :] if match else text

    def change_pipeline(self, text: str) -> str:
        match = self._pick(re.compile(r" ?pipeline\([^)]*\)"), text)
        if match:
            options = ", ".join(
                f"{self.rng.choice(PIPELINES)} = {self.rng.choice(PIPELINE_VALUES)}"
                for _ in range(self.rng.randrange(4))
            )
            return self._replace(
                text, match, self.rng.choice(["", f" pipeline({options})", f" pipeline({options})"]), False
            )
        match = self._pick(re.compile(r"(?<=\))(?= \{\n)"), text)
        return text[: match.end()] + " pipeline(stages = 2)" + text[match.end() :] if match else text

    def swap_keyword(self, text: str) -> str:
        candidates = [(family, word) for family in SWAPS for word in family if word in text]
        if not candidates:
            return text
        family, word = self.rng.choice(candidates)
        places = list(re.finditer(rf"{re.escape(word)}\b", text))
        if not places:
            return text
        return self._replace(text, self.rng.choice(places), self.rng.choice(family), self.rng.random() < 0.3)

    def swap_value(self, text: str) -> str:
        """Another SSA value where one is used."""
        match, other = self._pick(_VALUE, text), self._pick(_VALUE, text)
        return self._replace(text, match, other[0], False) if match else text

    def _pick_result(self, lines: list[str]) -> tuple[int, str, str, str] | None:
        """A line that makes a value: its number, indentation, the value's name and type."""
        found = [
            (i, match)
            for i, line in enumerate(lines)
            if (match := re.match(r"(\s*)(%\w+) = .*?(tensor<[^\n]*>|index|[fi]\d+)\s*$", line))
        ]
        if not found:
            return None
        i, match = self.rng.choice(found)
        return i, match[1], match[2], re.split(r" -> | to | : |, (?=tensor)", match[3])[-1]

    def _replace_uses(self, lines: list[str], value: str, new: str) -> str:
        """The lines with `new` in one use of `value`, or in all of them."""
        rest = "".join(lines)
        uses = list(re.finditer(rf"{re.escape(value)}\b", rest))
        if uses and self.rng.random() < 0.5:
            use = self.rng.choice(uses)
            return rest[: use.start()] + new + rest[use.end() :]
        return re.sub(rf"{re.escape(value)}\b", new, rest)

    def insert_tile_op(self, text: str) -> str:
        """Operations on a whole tile, whose result replaces the tile from there on."""
        lines = text.splitlines(keepends=True)
        picked = self._pick_result(lines)
        if not picked:
            return text
        i, indent, value, kind = picked
        new = f"%new{self.rng.randrange(1000)}"
        ops = TileOps(self.rng, text, value, kind, new).draw()
        if not ops:
            return text
        inserted = "".join(f"{indent}{op}\n" for op in ops)
        return "".join(lines[: i + 1]) + inserted + self._replace_uses(lines[i + 1 :], value, new)

    def insert_op(self, text: str) -> str:
        """An element-wise op on a tile, whose result replaces the tile from there on."""
        lines = text.splitlines(keepends=True)
        picked = self._pick_result(lines)
        if not picked:
            return text
        i, indent, value, kind = picked
        element = re.split(r"x", kind[7:-1].split(",")[0])[-1] if kind.startswith("tensor") else kind
        new = f"%new{self.rng.randrange(1000)}"
        if self.rng.random() < 0.15:
            other = kind.replace(element, self.rng.choice(ELEMENTS[:12])) if kind.startswith("tensor") else "i64"
            cast = self.rng.choice(SWAPS[2])
            back = self.rng.choice(SWAPS[2])
            op = f"{indent}{new}x = {cast} {value} : {kind} to {other}\n"
            op += f"{indent}{new} = {back} {new}x : {other} to {kind}\n"
            op = op.replace(" to ", " -> ") if "tile." in cast + back else op
        elif self.rng.random() < 0.1:
            op = (
                f"{indent}{new}c = arith.{'cmpf ogt' if 'f' in element else 'cmpi slt'}, {value}, {value} : {kind}\n"
                f"{indent}{new} = arith.select {new}c, {value}, {value} : "
                + (f"{kind.replace(element, 'i1')}, {kind}\n" if kind.startswith("tensor") else f"{kind}\n")
            )
        elif self.rng.random() < 0.07 and kind.startswith("tensor"):
            op = f"{indent}{new} = arith.constant dense<{self.rng.choice(['0', '1.0', '0.0', '2', '-1.5'])}> : {kind}\n"
        else:
            template = self.rng.choice(INTEGER_OPS if element[:1] == "i" else FLOAT_OPS)
            op = f"{indent}{new} = {template.format(value)} : {kind}\n"
        return "".join(lines[: i + 1]) + op + self._replace_uses(lines[i + 1 :], value, new)

    def splice(self, text: str) -> str:
        other = self.rng.choice(self.seeds)[1]
        mine, theirs = text.splitlines(keepends=True), other.splitlines(keepends=True)
        i, j = self.rng.randrange(len(mine) + 1), self.rng.randrange(len(theirs) + 1)
        kind = self.rng.randrange(3)
        if kind == 0:
            return "".join(mine[:i] + theirs[j:])
        if kind == 1:
            return text + other
        return "".join(mine[:i] + theirs[j : j + self.rng.randrange(1, 6)] + mine[i:])

    def toggle_transpose(self, text: str) -> str:
        match = self._pick(re.compile(r" transpose_[ab]|(?<=tile\.dot )(%\w+)|persistent"), text)
        if not match:
            return text
        return self._replace(text, match, match[0] + " transpose_a" if match[0].startswith("%") else "", False)

    def wrap_lines(self, text: str) -> str:
        """Some lines inside a loop or a conditional of their own."""
        lines = text.splitlines(keepends=True)
        i = self.rng.randrange(len(lines) + 1)
        j = min(len(lines), i + self.rng.randrange(1, 8))
        opening = self.rng.choice(
            [
                "scf.if %flag {\n",
                "scf.for %w = %c0 to %c4 step %c1 {\n",
                "tile.for %w = %c0 to %K step %c64 pipeline(stages = 2) {\n",
                "scf.execute_region {\n",
            ]
        )
        return "".join([*lines[:i], opening, *lines[i:j], "}\n", *lines[j:]])


def with_target(text: str, target: str) -> str:
    """The text for headrace-opt, which reads the target from the module."""
    if re.search(r"^\s*(builtin\.)?module\b", text, re.MULTILINE):
        return text
    # Aliases stay outside.
    head = re.match(r"(?:[#!][^\n]*\n|\s*\n)*", text)[0]
    return f'{head}module attributes {{tile.target = "{target}"}} {{\n{text[len(head) :]}\n}}\n'


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--target", choices=TARGETS, help="wrap in a module with this target, for headrace-opt")
    arguments = parser.parse_args()
    _, text = Mutator(arguments.seed).draw()
    print(with_target(text, arguments.target) if arguments.target else text, end="")


if __name__ == "__main__":
    main()
