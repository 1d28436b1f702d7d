"""Mutations of PTX: each function breaks one rule at every place of a kernel where it applies.

A mutation takes a Ptx and yields a Mutant for each place. The kinds of finding that count as the right message stand
with the mutation: a wait that is missing is a race, a release that is missing is a deadlock, and so on.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from ptx import Ptx

RACES = frozenset(
    {"read-before-landed", "overwrite", "unordered-writes", "missing-proxy-fence", "missing-tensor-fence"}
)
REGISTERS = frozenset({"register-in-flight"})
STUCK = frozenset({"deadlock"})
BARRIER = frozenset({"barrier"})
FREED = frozenset({"tensor-memory"})

WAIT = r"mbarrier\.try_wait"
RELEASE = r"mbarrier\.arrive\.shared|tcgen05\.commit"
GROUP_WAIT = r"cp\.async\.wait_group|cp\.async\.bulk\.wait_group|wgmma\.wait_group|tcgen05\.wait"
COMMIT = r"cp\.async\.commit_group|cp\.async\.bulk\.commit_group|wgmma\.commit_group"
FENCE = r"fence\.proxy\.async|fence\.mbarrier_init|tcgen05\.fence|wgmma\.fence"
_BULK_LOAD = r"cp\.async\.bulk\.tensor.*mbarrier::complete_tx"


@dataclass(frozen=True)
class Mutant:
    """A broken kernel: the line that was broken (from 1), the place in words, and what was done to it."""

    mutation: str
    line: int
    place: str
    what: str
    text: str
    kinds: frozenset[str]


Breaker = Callable[[Ptx], Iterator[tuple[int, str, str]]]
MUTATIONS: dict[str, Callable[[Ptx], Iterator[Mutant]]] = {}


def mutation(name: str, kinds: frozenset[str]) -> Callable[[Breaker], Breaker]:
    """Registers a function that yields (line index, what was done, text) under a name."""

    def register(breaker: Breaker) -> Breaker:
        def mutants(ptx: Ptx) -> Iterator[Mutant]:
            seen: dict[tuple[str, str], int] = {}
            for index, what, text in breaker(ptx):
                place = ptx.place(index)
                seen[place, what] = seen.get((place, what), 0) + 1
                ordinal = f" #{seen[place, what]}" if seen[place, what] > 1 else ""
                yield Mutant(name, index + 1, place + ordinal, what, text, kinds)

        MUTATIONS[name] = mutants
        return breaker

    return register


def _drop(ptx: Ptx, pattern: str) -> Iterator[tuple[int, str, str]]:
    for index in ptx.find(pattern):
        yield index, "drop", ptx.edited({index: ""})


@mutation("drop an mbarrier wait", RACES | BARRIER | REGISTERS)
def drop_wait(ptx: Ptx):
    """The wait's predicate is true at once."""
    for index in ptx.find(WAIT):
        line = re.sub(r"mbarrier\.try_wait\S*\s+(\w+),.*", r"setp.eq.u32 \1, 0, 0;", ptx.lines[index])
        yield index, "drop", ptx.edited({index: line})


@mutation("drop a thread barrier", RACES | BARRIER | FREED)
def drop_thread_barrier(ptx: Ptx):
    """bar.sync, and the bar.warp.sync that gathers a warp's reads before its elected lane releases the slot."""
    yield from _drop(ptx, r"^\s*bar\.(warp\.)?sync")


@mutation("drop a group wait", RACES | REGISTERS)
def drop_group_wait(ptx: Ptx):
    """wait_group of cp.async, bulk copies and wgmma; tcgen05.wait."""
    yield from _drop(ptx, GROUP_WAIT)


@mutation("wait for one group less", RACES | REGISTERS)
def loosen_group_wait(ptx: Ptx):
    """wait_group N + 1."""
    for index in ptx.find(r"wait_group"):
        line = re.sub(r"(\d+);$", lambda match: f"{int(match[1]) + 1};", ptx.lines[index])
        yield index, "N + 1", ptx.edited({index: line})


@mutation("drop a release", STUCK)
def drop_release(ptx: Ptx):
    """mbarrier.arrive, tcgen05.commit, and the arrival that announces bytes."""
    yield from _drop(ptx, RELEASE + r"|mbarrier\.arrive\.expect_tx")


@mutation("flip a parity", STUCK | RACES | BARRIER)
def flip_parity(ptx: Ptx):
    """A wait for the other phase."""
    for index in ptx.find(WAIT):
        label, wait = re.match(r"^(\s*(?:W:\s*)?)(.*)$", ptx.lines[index]).groups()
        parity = re.search(r", (%r\d+|\d+);$", wait)[1]
        flipped = wait.replace(f", {parity};", ", flipped;")
        inner = [".reg .b32 flipped;", f"xor.b32 flipped, {parity}, 1;", f"{label}{flipped}"]
        yield index, "parity ^ 1", ptx.edited({index: "\n".join(inner)})


@mutation("change an arrive count", STUCK | RACES | BARRIER | {"operand"})
def change_count(ptx: Ptx):
    """mbarrier.init with one arrival more or fewer."""
    for index in ptx.find(r"mbarrier\.init\."):
        for change in (1, -1):
            line = re.sub(r"(\d+);$", lambda match, c=change: f"{int(match[1]) + c};", ptx.lines[index])
            yield index, f"count {change:+}", ptx.edited({index: line})


@mutation("change expected bytes", STUCK | RACES | BARRIER)
def change_bytes(ptx: Ptx):
    """expect_tx of 16 bytes more, 16 fewer, half."""
    for index in ptx.find(r"expect_tx\S* .*, \d+;"):
        for what, change in (("+ 16", lambda n: n + 16), ("- 16", lambda n: n - 16), ("half", lambda n: n // 2)):
            line = re.sub(r"(\d+);$", lambda match, c=change: f"{c(int(match[1]))};", ptx.lines[index])
            yield index, what, ptx.edited({index: line})


@mutation("drop a fence", RACES | REGISTERS | BARRIER)
def drop_fence(ptx: Ptx):
    """fence.proxy.async, fence.mbarrier_init, tcgen05.fence, wgmma.fence."""
    yield from _drop(ptx, FENCE)


def _wraps(ptx: Ptx) -> Iterator[tuple[int, str]]:
    """Lines that compare a cursor with the number of slots, and the line with one slot fewer."""
    for index in ptx.find(r"setp\.eq\.b32\s+%p\d+, %r\d+, \d+;"):
        predicate, size = re.search(r"(%p\d+), %r\d+, (\d+);", ptx.lines[index]).groups()
        if 2 <= int(size) <= 16 and ptx.find(rf"selp\.b32\s+%r\d+, 0, %r\d+, {predicate};"):
            yield index, re.sub(r"\d+;$", f"{int(size) - 1};", ptx.lines[index])


@mutation("one slot too few", STUCK | RACES | BARRIER)
def wrap_early(ptx: Ptx):
    """A ring that wraps one slot early: in one role where mbarriers guard it, else everywhere.

    Everywhere would be a right program with mbarriers, a ring of one slot fewer.
    """
    wraps = list(_wraps(ptx))
    if ptx.has_barriers:
        for index, line in wraps:
            yield index, "here only", ptx.edited({index: line})
    elif wraps:
        yield wraps[0][0], "everywhere", ptx.edited(dict(wraps))


def _pitches(ptx: Ptx) -> Iterator[tuple[int, str]]:
    """Lines that multiply a cursor by a slot's bytes, and the line with half of them."""
    for index in ptx.find(r"mad\.lo\.s32\s+%r\d+, %r\d+, \d{4,}, %r\d+;"):
        pitch = int(re.search(r", (\d{4,}),", ptx.lines[index])[1])
        slot = -(-pitch // 1024) * 1024
        yield index, ptx.lines[index].replace(f", {pitch},", f", {slot // 2 - (slot - pitch)},")
    for index in ptx.find(r"shl\.b32\s+%r\d+, %r\d+, 1\d;"):
        register, shift = re.search(r"(%r\d+), %r\d+, (1\d);", ptx.lines[index]).groups()
        adds = ptx.find(rf"add\.s32\s+%r\d+, %r\d+, {register};")
        cursor = re.search(r", (%r\d+),", ptx.lines[index])[1]
        if adds and ptx.find(rf"selp\.b32\s+{cursor}, "):
            yield index, ptx.lines[index].replace(f", {shift};", f", {int(shift) - 1};")


@mutation("slots overlap", STUCK | RACES | BARRIER)
def halve_pitch(ptx: Ptx):
    """Half the distance between slots."""
    pitches = list(_pitches(ptx))
    if pitches:
        yield pitches[0][0], "everywhere", ptx.edited(dict(pitches))


@mutation("one cursor disagrees", STUCK | RACES | BARRIER | {"uninitialised", "out-of-bounds", "wrong-output"})
def disagree(ptx: Ptx):
    """Half the pitch, or without mbarriers one slot too few, in one place: it fills or reads the wrong slot.

    Thread barriers may order such accesses all the same; then there is no race, and only the values tell.
    """
    pitches, wraps = list(_pitches(ptx)), list(_wraps(ptx))
    if len(pitches) > 1:
        for index, line in pitches:
            yield index, "half the pitch", ptx.edited({index: line})
    if not ptx.has_barriers and len(wraps) > 1:
        for index, line in wraps:
            yield index, "one slot too few", ptx.edited({index: line})


@mutation("skip a commit", RACES | REGISTERS)
def skip_commit(ptx: Ptx):
    """commit_group of cp.async, bulk stores and wgmma."""
    yield from _drop(ptx, COMMIT)


@mutation("swap two barriers", STUCK | RACES | BARRIER)
def swap_barriers(ptx: Ptx):
    """One operation takes its channel's other side, or the next slot's barrier; or both sides' counts are swapped."""
    for index in ptx.find(rf"{WAIT}|mbarrier\.arrive|tcgen05\.commit|{_BULK_LOAD}"):
        barrier = ptx.barrier(index)
        other = ptx.other(barrier) if barrier else None
        if other:
            yield index, f"takes {other}", ptx.edited({index: ptx.moved_address(index, other.offset - barrier.offset)})
        if barrier and barrier.slots > 1:
            yield index, "takes the next slot's", ptx.edited({index: ptx.next_slot(index, barrier)})
    yield from _swap_counts(ptx)


def _swap_counts(ptx: Ptx) -> Iterator[tuple[int, str, str]]:
    inits: dict[str, dict[str, list[int]]] = {}
    for index in ptx.find(r"mbarrier\.init\."):
        if barrier := ptx.barrier(index):
            inits.setdefault(barrier.channel, {}).setdefault(barrier.side, []).append(index)
    for sides in inits.values():
        if len(sides) != 2:
            continue
        counts = {side: re.search(r"(\d+);$", ptx.lines[lines[0]])[1] for side, lines in sides.items()}
        if counts["full"] == counts["empty"]:
            continue
        changes = {}
        for side, lines in sides.items():
            swapped = counts["empty" if side == "full" else "full"]
            changes |= {index: re.sub(r"\d+;$", f"{swapped};", ptx.lines[index]) for index in lines}
        yield sides["full"][0], "swap the counts of both sides", ptx.edited(changes)


@mutation("forget a dealloc", FREED)
def forget_dealloc(ptx: Ptx):
    """tcgen05.dealloc."""
    yield from _drop(ptx, r"tcgen05\.dealloc")
