"""Mutators of PTX texts and of launch records: most of their products still parse, so that they get to run."""

from __future__ import annotations

import copy
import random
import re
from collections.abc import Callable

_TOKEN = re.compile(r"%?[A-Za-z_$][\w$]*|\.[\w:]+|0[xX][0-9a-fA-F]+|0[fdFD][0-9a-fA-F]+|\d+|\s+|.", re.DOTALL)
_REGISTER = re.compile(r"%(?:rs|rd|p|r|f|fd|h)\d+\b")
_NUMBER = re.compile(r"(?<![\w%.$])-?\d+(?![\w.])")
_SUFFIX = re.compile(r"\.[a-z_][\w:]*")
_LABEL = re.compile(r"\$\w+")

_NUMBERS = [
    "0", "1", "-1", "2", "3", "7", "31", "32", "33", "64", "127", "128", "255", "256", "1023", "1024", "65535", "65536",
    "232448", "1048575", "1048576", "16777216", "2147483647", "-2147483648", "4294967295", "4294967296",
    "9223372036854775807", "-9223372036854775808", "18446744073709551615", "99999999999999999999",
]  # fmt: skip

_SPECIAL = ["%tid.x", "%ctaid.x", "%laneid", "%cluster_ctarank", "%clock64", "%nctaid.x", "%warpid"]

#: Instructions that are put between others.
_LINES = [
    "bar.sync 0;", "bar.sync 1, 64;", "barrier.cluster.arrive.aligned;", "barrier.cluster.wait.aligned;", "exit;",
    "ret;", "trap;", "wgmma.fence.sync.aligned;", "wgmma.commit_group.sync.aligned;", "fence.proxy.async;",
    "wgmma.wait_group.sync.aligned 0;", "cp.async.wait_all;", "cp.async.commit_group;", "membar.gl;",
    "cp.async.bulk.wait_group 0;", "tcgen05.wait::ld.sync.aligned;", "setmaxnreg.dec.sync.aligned.u32 24;",
    "nanosleep.u32 1000000;", ".reg .b32 %r<1000000>;", ".shared .align 16 .b8 more[100000000];", "{", "}",
    ".local .align 16 .b8 stack[1000000];",
]  # fmt: skip

#: Loops that never end, in ways that a scheduler must notice: alone, in one lane, changing memory, waiting, in a ring.
_LOOPS = [
    "LOOP_{n}:\n\tbra LOOP_{n};",
    "{{\n\t.reg .pred %q;\n\tsetp.eq.u32 %q, %tid_{n}, 3;\nLOOP_{n}:\n\t@%q bra LOOP_{n};\n\t}}",
    "LOOP_{n}:\n\tst.shared.b32 [%loop_{n}], %tid_{n};\n\tbra LOOP_{n};",
    "LOOP_{n}:\n\tatom.shared.add.u32 %tid_{n}, [%loop_{n}], 1;\n\tbra LOOP_{n};",
    "LOOP_{n}:\n\tbar.sync 0;\n\tbra LOOP_{n};",
    "LOOP_{n}:\n\tld.volatile.shared.b32 %tid_{n}, [%loop_{n}];\n\tbra LOOP_{n};",
    "LOOP_{n}:\n\tcp.async.commit_group;\n\tbra LOOP_{n};",
    "LOOP_{n}:\n\tcp.async.bulk.commit_group;\n\tbra LOOP_{n};",
    "LOOP_{n}:\n\tfence.proxy.async;\n\tbra LOOP_{n};",
    "LOOP_{n}:\n\tmbarrier.init.shared.b64 [%loop_{n}], 1;\n\tmbarrier.arrive.shared.b64 _, [%loop_{n}];\n"
    "\tbra LOOP_{n};",
    "LOOP_{n}:\n\tadd.u32 %loop_{n}, %loop_{n}, 16;\n\tst.shared.b32 [%loop_{n}], %tid_{n};\n\tbra LOOP_{n};",
    "LOOP_{n}:\n\tnanosleep.u32 1000000000;\n\tbra LOOP_{n};",
    "LOOP_{n}:\n\tshfl.sync.idx.b32 %loop_{n}, %tid_{n}, 0, 31, -1;\n\tbra LOOP_{n};",
]


class PtxMutator:
    """Changes a text in one to four places."""

    def __init__(self, rng: random.Random, vocabulary: list[str]):
        self.rng = rng
        self.vocabulary = vocabulary
        self.loops = 0
        moves: list[tuple[Callable[[str], str], int]] = [
            (self.change_number, 6),
            (self.exchange_registers, 5),
            (self.special_register, 1),
            (self.edit_lines, 8),
            (self.insert_line, 3),
            (self.endless_loop, 1),
            (self.change_suffix, 5),
            (self.change_label, 2),
            (self.edit_tokens, 3),
            (self.change_guard, 2),
            (self.edit_bytes, 1),
            (self.deep_nesting, 0.2),
        ]
        self.moves, self.weights = zip(*moves, strict=True)

    def mutate(self, text: str) -> str:
        for move in self.rng.choices(self.moves, self.weights, k=self.rng.choice((1, 1, 1, 2, 2, 3, 4))):
            text = move(text)
        return text

    def _replace(self, pattern: re.Pattern, text: str, replacement: Callable[[str], str]) -> str:
        """One match, in the body more often than in the header."""
        matches = list(pattern.finditer(text))
        if not matches:
            return text
        match = self.rng.choice(matches)
        return text[: match.start()] + replacement(match[0]) + text[match.end() :]

    def change_number(self, text: str) -> str:
        def other(number: str) -> str:
            near = str(int(number) + self.rng.choice((-16, -1, 1, 16)))
            return self.rng.choice((near, str(int(number) * 2), self.rng.choice(_NUMBERS)))

        return self._replace(_NUMBER, text, other)

    def exchange_registers(self, text: str) -> str:
        registers = list({match[0] for match in _REGISTER.finditer(text)})
        kind = lambda name: re.sub(r"\d+", "", name)  # noqa: E731

        def other(name: str) -> str:
            same = [r for r in registers if kind(r) == kind(name)]
            return self.rng.choice(sorted(same) if self.rng.random() < 0.9 else sorted(registers))

        return self._replace(_REGISTER, text, other)

    def special_register(self, text: str) -> str:
        return self._replace(_REGISTER, text, lambda _: self.rng.choice(_SPECIAL))

    def edit_lines(self, text: str) -> str:
        lines = text.split("\n")
        length = min(self.rng.choice((1, 1, 1, 2, 4, 12)), len(lines))
        first = self.rng.randrange(len(lines) - length + 1)
        chunk = lines[first : first + length]
        action = self.rng.randrange(4)
        if action == 0:  # removed
            lines[first : first + length] = []
        elif action == 1:  # twice
            lines[first:first] = chunk
        else:  # moved, or also elsewhere
            if action == 2:
                lines[first : first + length] = []
            to = self.rng.randrange(len(lines) + 1) if self.rng.random() < 0.4 else first + self.rng.randint(-8, 8)
            to = max(0, min(to, len(lines)))
            lines[to:to] = chunk
        return "\n".join(lines)

    def insert_line(self, text: str) -> str:
        lines = text.split("\n")
        lines.insert(self.rng.randrange(len(lines) + 1), "\t" + self.rng.choice(_LINES))
        return "\n".join(lines)

    def endless_loop(self, text: str) -> str:
        """Between two instructions of the body."""
        places = [match.end() for match in re.finditer(r";\n", text)]
        if not places:
            return text
        self.loops += 1
        n = self.loops
        at = self.rng.choice(places)
        prologue = f"\t.reg .b32 %tid_{n}, %loop_{n};\n\tmov.u32 %tid_{n}, %tid.x;\n\tmov.u32 %loop_{n}, 1024;\n"
        return text[:at] + prologue + self.rng.choice(_LOOPS).format(n=n) + "\n" + text[at:]

    def change_suffix(self, text: str) -> str:
        suffixes = [t for t in self.vocabulary if t.startswith(".")]
        return self._replace(_SUFFIX, text, lambda old: "" if self.rng.random() < 0.2 else self.rng.choice(suffixes))

    def change_label(self, text: str) -> str:
        labels = sorted(set(_LABEL.findall(text)))
        return self._replace(_LABEL, text, lambda _: self.rng.choice(labels))

    def edit_tokens(self, text: str) -> str:
        tokens = _TOKEN.findall(text)
        solid = [i for i, token in enumerate(tokens) if not token.isspace()]
        if len(solid) < 2:
            return text
        i, j = self.rng.sample(solid, 2)
        action = self.rng.randrange(4)
        if action == 0:
            tokens[i] = ""
        elif action == 1:
            tokens[i] += " " + tokens[i]
        elif action == 2:
            tokens[i], tokens[j] = tokens[j], tokens[i]
        else:
            tokens[i] = self.rng.choice(self.vocabulary)
        return "".join(tokens)

    def change_guard(self, text: str) -> str:
        """Gives an instruction a guard, takes one away or turns one around."""
        lines = text.split("\n")
        candidates = [
            i for i, line in enumerate(lines) if line.strip().endswith(";") and not line.strip().startswith(".")
        ]
        if not candidates:
            return text
        i = self.rng.choice(candidates)
        line = lines[i].strip()
        if line.startswith("@") and self.rng.random() < 0.7:
            flipped = line.replace("@!", "@", 1) if line.startswith("@!") else line.replace("@", "@!", 1)
            lines[i] = "\t" + self.rng.choice((flipped, line.split(None, 1)[-1]))
        else:
            predicates = sorted({match[0] for match in _REGISTER.finditer(text) if match[0].startswith("%p")})
            lines[i] = f"\t@{self.rng.choice(('', '!'))}{self.rng.choice(predicates or ['%p0'])} {line}"
        return "\n".join(lines)

    def edit_bytes(self, text: str) -> str:
        data = list(text)
        for _ in range(self.rng.randint(1, 8)):
            at = self.rng.randrange(len(data))
            data[at] = self.rng.choice((chr(self.rng.randrange(256)), "", data[at] * 2))
        if self.rng.random() < 0.1:
            data = data[: self.rng.randrange(len(data))]
        return "".join(data)

    def deep_nesting(self, text: str) -> str:
        at = text.rfind("ret;")
        depth = self.rng.choice((10, 100, 10000))
        return text[: max(at, 0)] + "{" * depth + "}" * (depth if self.rng.random() < 0.7 else 0) + text[max(at, 0) :]


_WRONG = [
    None, True, False, "", "x", [], {}, 0, -1, 1.5, 2**31, 2**32, 2**63, -(2**63), 1e300, [0], [1, 2, 3], [[[[1]]]],
]  # fmt: skip
_LARGE = [
    0, 1, 2, 3, 5, 16, 31, 33, 1023, 1024, 1025, 65535, 65536, 1 << 20, (1 << 20) + 1, 2**31 - 1, 2**31, 2**32, 2**62,
]  # fmt: skip


def _places(value, found: list) -> list:
    """Every (container, key) in a JSON value."""
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, child in children:
        found.append((value, key))
        _places(child, found)
    return found


def mutate_record(record: dict, rng: random.Random) -> dict:
    """A copy of a launch record with wrong types, huge numbers, missing and repeated parts."""
    record = copy.deepcopy(record)
    for _ in range(rng.choice((1, 1, 2, 3))):
        places = _places(record, [])
        container, key = rng.choice(places)
        # The fields that decide how much is simulated.
        if rng.random() < 0.4:
            container = record
            key = rng.choice(("threads", "shared_bytes", "cluster", "grid", "min_ctas_per_sm"))
        action = rng.randrange(6)
        if key not in container and isinstance(container, dict):
            continue
        if action == 0:
            del container[key]
        elif action == 1:
            container[key] = rng.choice(_WRONG)
        elif action == 2 and isinstance(container, list):
            container.insert(rng.randrange(len(container) + 1), copy.deepcopy(container[key]))
        else:
            _resize(container, key, rng)
    return record


def _resize(container, key, rng: random.Random) -> None:
    if key == "cluster":
        container[key] = [rng.choice(_LARGE) if rng.random() < 0.5 else 1 for _ in range(3)]
    elif key == "grid":
        container[key] = {"persistent": rng.random() < 0.3, **{axis: _extent(rng) for axis in "xyz"}}
    elif isinstance(container[key], int):
        container[key] = rng.choice(_LARGE)
    elif isinstance(container[key], str):
        container[key] = rng.choice(("", "f64", "i1", "e4m3", "scalar", "pointer", "gemm", "x" * 5000))
    else:
        container[key] = rng.choice(_WRONG)


def _extent(rng: random.Random, depth: int = 0):
    if depth > 3 or rng.random() < 0.5:
        return rng.choice(_LARGE)
    if rng.random() < 0.4:
        return ["dim", rng.randrange(3), rng.randrange(2)]
    return [
        rng.choice(("add", "sub", "mul", "ceildiv", "floordiv", "mod", "min", "max")),
        _extent(rng, depth + 1),
        _extent(rng, depth + 1),
    ]
