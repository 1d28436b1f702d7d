"""Mutations that move an operation: a release before the reads of its slot, a wait behind what it guards."""

from __future__ import annotations

import re
from collections.abc import Iterator

from mutations import BARRIER, FREED, GROUP_WAIT, RACES, REGISTERS, RELEASE, STUCK, WAIT, mutation

from ptx import Ptx

_ACCESS = (
    r"ldmatrix|stmatrix|ld\.shared|st\.shared|cp\.async\.c[ag]\.|cp\.async\.bulk\.tensor|wgmma\.mma|"
    r"tcgen05\.(mma|ld|st|cp)\b"
)


def _slice(ptx: Ptx, index: int, behind: int) -> list[int]:
    """The lines that compute a line's registers and are not yet done at line `behind`, in order."""
    wanted, result = re.findall(r"%(?:r|rd|p)\d+", ptx.lines[index]), []
    while wanted:
        line = ptx.definitions.get(wanted.pop())
        if line is None or line in result or ptx.dominates(line, behind):
            continue
        result.append(line)
        wanted += re.findall(r"%(?:r|rd|p)\d+", ptx.lines[line].split(",", 1)[1])
    return sorted(result)


@mutation("release a slot before its reads", RACES | STUCK | BARRIER)
def early_release(ptx: Ptx):
    """The release directly behind the wait for the slot: whoever fills it need not wait for the reads."""
    for index in ptx.find(RELEASE):
        waits = [wait for wait in ptx.find(WAIT) if ptx.dominates(wait, index)]
        if not waits:
            continue
        nearest = max(waits, key=lambda wait: sum(ptx.dominates(other, wait) for other in waits))
        behind = ptx.unit(nearest)[1]
        lines = [ptx.lines[line] for line in [*_slice(ptx, index, behind), index]]
        yield index, "move behind the wait", ptx.edited({index: ""}, {behind: lines})


def _first_use(ptx: Ptx, index: int, uses: str) -> int | None:
    """The first line behind a unit that matches, on the straight way."""
    for line in range(ptx.unit(index)[1] + 1, len(ptx.lines)):
        if re.search(uses, ptx.lines[line]):
            return line
        if re.match(r"^\s*(bra(\.uni)?\s|ret;)", ptx.lines[line]):
            return None
    return None


def _late(ptx: Ptx, index: int, uses: str) -> Iterator[tuple[int, str, str]]:
    use = _first_use(ptx, index, uses)
    if use is None:
        return
    first, last = ptx.unit(index)
    moved = {ptx.unit(use)[1]: ptx.lines[first : last + 1]}
    yield index, f"move behind {ptx.name(use)}", ptx.edited(dict.fromkeys(range(first, last + 1), ""), moved)


@mutation("reuse or read a slot early", RACES | BARRIER | STUCK | REGISTERS | FREED)
def late_wait(ptx: Ptx):
    """The wait for a slot, or the thread barrier before it, behind the first access that it guards."""
    for index in ptx.find(rf"{WAIT}|^\s*bar\.sync"):
        barrier = ptx.barrier(index)
        guarded = barrier and barrier.channel == "accumulator"
        uses = r"tcgen05\.(mma|ld)\b" if guarded else _ACCESS + r"|mbarrier\.arrive\.shared|mbarrier\.init"
        yield from _late(ptx, index, uses)


@mutation("use results before their wait", RACES | REGISTERS)
def late_group_wait(ptx: Ptx):
    """A group's wait behind the first use of its results: the barrier or release that hands them on, or a register.

    Not that of bulk stores before the kernel's end, behind which there is no use.
    """
    for index in ptx.find(GROUP_WAIT):
        if "cp.async.bulk.wait_group 0" in ptx.lines[index]:
            continue
        uses = r"mbarrier\.arrive|^\s*bar\.(warp\.)?sync|ldmatrix"
        if "tcgen05.wait" in ptx.lines[index]:
            before = "\n".join(ptx.lines[:index]).rsplit("// begin inline asm", 2)[1]
            loaded = re.search(r"tcgen05\.ld.*\{(%r\d+)", before)
            uses = rf"selp\S*\s+%r\d+, {loaded[1]}\b|cvt\S*\s.*{loaded[1]}\b" if loaded else uses
        elif "wgmma" in ptx.lines[index]:
            uses = r"mbarrier\.arrive|^\s*bar\.sync|mov\.b32\s+%r\d+, %r\d+|cvt\.rn"
        yield from _late(ptx, index, uses)
