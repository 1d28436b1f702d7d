"""A kernel's PTX as lines, with what mutations ask of it: barriers by name, places in words, control flow, definitions.

Not a parser: it knows the shape in which LLVM prints PTX, one instruction a line, inline assembly between comments.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

_BEGIN, _END = "// begin inline asm", "// end inline asm"
_LABEL = re.compile(r"^(\$L__BB\w+):")
_BRANCH = re.compile(r"^\s*(@!?%p\d+\s+)?bra(?:\.uni)?\s+(\$L__BB\w+);")
_BARRIER = re.compile(r"^(full|empty) of '(.+)', slot (\d+)$")
_SYNC = re.compile(
    r"\b(mbarrier\.|bar\.|barrier\.|fence\.|cp\.async|wgmma\.|tcgen05\.|ldmatrix|stmatrix|(?:ld|st)\.shared|mma\.sync)"
)
_DETAILS = re.compile(r"\.(aligned|sync|shared::cta|shared::cluster|b64|cta_group::1|x\d+|b16|b32|v4|m8n8)\b")
_FAMILY = re.compile(r"(wgmma\.mma_async|tcgen05\.(?:mma|ld|commit)|mma|mbarrier\.try_wait|cp\.async\.c[ag])\..*")
_ADDRESS = re.compile(r"\[(%r\d+)((?:\+-?\d+)*)\]")


@dataclass(frozen=True)
class Barrier:
    """A ring of mbarriers: `side` is full or empty, `offset` that of slot 0, `slots` how many there are."""

    side: str
    channel: str
    offset: int = 0
    slots: int = 0

    def __str__(self) -> str:
        return f"{self.side} of '{self.channel}'"


@dataclass
class Block:
    """Lines first..last without a branch in between, and the blocks it may go to."""

    first: int
    last: int
    successors: list[int]


class Ptx:
    """The text of one kernel and the shared memory of its launch record."""

    def __init__(self, text: str, record: dict):
        self.lines = text.split("\n")
        self._names: dict[int, Barrier] = {}
        rings: dict[tuple[str, str], list[int]] = {}
        for place in record["memory"]:
            if match := _BARRIER.match(place["name"]):
                rings.setdefault((match[1], match[2]), []).append(place["offset"])
        for ring, offsets in rings.items():
            self._names |= dict.fromkeys(offsets, Barrier(*ring, min(offsets), len(offsets)))

    # Text.

    def find(self, pattern: str) -> list[int]:
        """Indices of the lines that match."""
        regex = re.compile(pattern)
        return [index for index, line in enumerate(self.lines) if regex.search(line)]

    def edited(self, changes: dict[int, str], behind: dict[int, list[str]] | None = None) -> str:
        """The text with lines replaced (an empty text keeps the line numbers) and lines put behind others."""
        lines: list[str] = []
        for index, line in enumerate(self.lines):
            lines.append(changes.get(index, line))
            lines += (behind or {}).get(index, [])
        return "\n".join(lines)

    def unit(self, index: int) -> tuple[int, int]:
        """First and last line of the inline assembly around a line, or the line itself."""
        first = last = index
        while first > 0 and self.lines[first].strip() not in (_BEGIN, _END) and not _LABEL.match(self.lines[first]):
            first -= 1
        if self.lines[first].strip() != _BEGIN:
            return index, index
        while self.lines[last].strip() != _END:
            last += 1
        return first, last

    # Barriers.

    @property
    def has_barriers(self) -> bool:
        """Whether there are mbarriers."""
        return bool(self._names)

    @cached_property
    def definitions(self) -> dict[str, int]:
        """The line that writes a register: the last one where there are several."""
        result = {}
        for index, line in enumerate(self.lines):
            if match := re.match(r"^\s*[a-z][\w.]*\s+(%r\d+),", line):
                result[match[1]] = index
        return result

    def barrier(self, index: int) -> Barrier | None:
        """The ring that the line's last address lies in, or None where it is not one of mbarriers."""
        found = list(_ADDRESS.finditer(self.lines[index]))
        if not found:
            return None
        register = found[-1][1]
        offset = sum(int(part) for part in found[-1][2].split("+") if part)
        for _ in range(4):
            if offset in self._names:
                return self._names[offset]
            line = self.lines[self.definitions.get(register, 0)]
            match = re.match(r"^\s*add\.s32\s+%r\d+, (%r\d+), (\d+);", line)
            if not match:
                return None
            register, offset = match[1], offset + int(match[2])
        return self._names.get(offset)

    def other(self, barrier: Barrier) -> Barrier | None:
        """The opposite side of its channel."""
        for candidate in self._names.values():
            if candidate.channel == barrier.channel and candidate.side != barrier.side:
                return candidate
        return None

    def moved_address(self, index: int, distance: int) -> str:
        """The line with its last address moved."""
        found = list(_ADDRESS.finditer(self.lines[index]))[-1]
        line = self.lines[index]
        return f"{line[: found.end() - 1]}+{distance}{line[found.end() - 1 :]}"

    def next_slot(self, index: int, barrier: Barrier) -> str:
        """The line, and what makes its last address that of the ring's next slot."""
        found = list(_ADDRESS.finditer(self.lines[index]))[-1]
        line = self.lines[index]
        offset = "".join(f"add.s32 next, next, {part};\n" for part in found[2].split("+") if part)
        end = barrier.offset + 8 * barrier.slots
        prologue = (
            ".reg .b64 ring; .reg .b32 ringend, next; .reg .pred last;\n"
            f"mov.b64 ring, headrace_shared; cvt.u32.u64 ringend, ring; add.s32 ringend, ringend, {end};\n"
            f"add.s32 next, {found[1]}, 8;\n{offset}setp.ge.u32 last, next, ringend;\n"
            f"@last sub.s32 next, next, {8 * barrier.slots};\n"
        )
        moved = f"{line[: found.start()]}[next]{line[found.end() :]}"
        # A loop's label stays on its instruction, and inside inline assembly with braces these are enough.
        first, last = self.unit(index)
        inside = any(text.strip() == "{" for text in self.lines[first : last + 1])
        return prologue + moved if inside else f"{{\n{prologue}{moved}\n}}"

    # Places in words: what a list of equivalents is keyed by, so that it survives other registers and other lines.

    def name(self, index: int) -> str:
        """The instruction of a line without its registers."""
        line = re.sub(r"^(W: |@!?%?p?\d* ?)+", "", self.lines[index].strip()).rstrip(";")
        opcode, _, operands = line.partition(" ")
        opcode = _DETAILS.sub("", opcode)
        opcode = _FAMILY.sub(r"\1", opcode)
        opcode = re.sub(r"cp\.async\.bulk\.tensor\.\w+\.(\w+)\..*", r"bulk copy to \1", opcode)
        if barrier := self.barrier(index):
            return f"{opcode} {barrier}"
        constants = [part for part in re.split(r"[,\s]+", operands) if re.fullmatch(r"-?\d+", part)]
        return " ".join([opcode, *constants])

    def place(self, index: int) -> str:
        """A line in words: its instruction and the two kinds of synchronization or access on either side."""

        def around(step: int) -> list[str]:
            names: list[str] = []
            at = index + step
            while 0 <= at < len(self.lines) and len(names) < 2:
                if _SYNC.search(self.lines[at]) and not self.lines[at].startswith("//"):
                    name = self.name(at)
                    if not names or names[-1] != name:
                        names.append(name)
                at += step
            return names

        return f"{'; '.join(reversed(around(-1)))} > {self.name(index)} < {'; '.join(around(1))}"

    # Control flow.

    @cached_property
    def blocks(self) -> list[Block]:
        """Basic blocks; inline assembly counts as straight."""
        start = next(i for i, line in enumerate(self.lines) if line.startswith("{"))
        cuts, targets = [start], {}
        for index in range(start, len(self.lines)):
            if match := _LABEL.match(self.lines[index]):
                targets[match[1]] = index
                cuts.append(index)
            elif _BRANCH.match(self.lines[index]) or self.lines[index].strip() == "ret;":
                cuts.append(index + 1)
        firsts = sorted(set(cuts))
        number = {first: n for n, first in enumerate(firsts)}
        result = []
        for n, first in enumerate(firsts):
            last = (firsts[n + 1] if n + 1 < len(firsts) else len(self.lines)) - 1
            branch, successors = _BRANCH.match(self.lines[last]), []
            if branch:
                successors.append(number[targets[branch[2]]])
            if n + 1 < len(firsts) and not (branch and not branch[1]) and self.lines[last].strip() != "ret;":
                successors.append(n + 1)
            result.append(Block(first, last, successors))
        return result

    def block(self, index: int) -> int:
        """The number of a line's block."""
        return next(n for n, block in enumerate(self.blocks) if block.first <= index <= block.last)

    @cached_property
    def dominators(self) -> list[set[int]]:
        """For each block, those that every way to it passes."""
        count = len(self.blocks)
        before: list[list[int]] = [[] for _ in range(count)]
        for n, block in enumerate(self.blocks):
            for successor in block.successors:
                before[successor].append(n)
        result = [{0}] + [set(range(count)) for _ in range(count - 1)]
        changed = True
        while changed:
            changed = False
            for n in range(1, count):
                new = set.intersection(*(result[p] for p in before[n])) | {n} if before[n] else {n}
                changed |= new != result[n]
                result[n] = new
        return result

    def dominates(self, first: int, second: int) -> bool:
        """Whether every way to line `second` passes line `first`."""
        a, b = self.block(first), self.block(second)
        return first < second if a == b else a in self.dominators[b]
