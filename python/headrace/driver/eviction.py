"""Keeps a folder of entries below a size: those unused for the longest time go, safe with many processes.

An entry is a folder, of which the time of change is the time of its last use. Whoever removes one renames it first, so
that nobody finds half of it; a process that is reading it finds it broken or gone, and makes it anew.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from headrace.errors import HeadraceError

DEFAULT_LIMIT = 1 << 30
#: How the names of folders start that are no entries yet, or no longer.
UNFINISHED, _REMOVED = ".new-", ".old-"
#: Seconds after which such a folder is left over from a process that died.
_ABANDONED = 3600.0
#: What is left after a sweep, as a share of the limit, so that not every write needs another one.
_LEFT = 0.9
#: Bytes written by this process, as a share of the limit, after which it looks again at what all have written.
_UNSEEN = 1 / 32
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}

#: By folder, the bytes that this process may write before it looks again.
_unseen: dict[Path, float] = {}


@dataclass(frozen=True)
class _Used:
    path: Path
    size: int
    last: float


def limit() -> int | None:
    """The bytes of $HEADRACE_CACHE_LIMIT, such as ``500M`` or ``2G``; 1 GiB if it is unset, None (no limit) if "none".

    Raises HeadraceError for what is no size.
    """
    given = os.environ.get("HEADRACE_CACHE_LIMIT", "")
    if given in ("", "none"):
        return None if given else DEFAULT_LIMIT
    match = re.fullmatch(r"(\d+)([KMGT]?)(?:i?B)?", given.strip(), re.IGNORECASE)
    if match is None:
        raise HeadraceError(f"expected $HEADRACE_CACHE_LIMIT as bytes, such as 500M or 2G, or none, got '{given}'")
    return int(match[1]) * _UNITS[match[2].upper()]


def mark_used(entry: Path) -> None:
    """Notes that `entry` was used now. A folder that cannot be written is no error."""
    with contextlib.suppress(OSError):
        os.utime(entry)


def keep_below(root: Path, most: int | None, written: int) -> None:
    """Removes entries of `root` (folders in folders), the least recently used first, if they are over `most` bytes.

    Called after `written` bytes were: it looks only now and then, so that all processes together may be over the limit
    by a thirty-second of it each.
    """
    if most is None:
        return
    left = _unseen.get(root, 0.0) - written
    if left < 0:
        sweep(root, most)
        left = most * _UNSEEN
    _unseen[root] = left


def sweep(root: Path, most: int) -> None:
    """Looks at all entries of `root`, and removes the least recently used ones until `most` bytes are enough."""
    found = sorted(_entries(root), key=lambda used: used.last)
    total = sum(used.size for used in found)
    if total <= most:
        return
    for used in found:
        if total <= most * _LEFT:
            break
        _remove(used.path)
        total -= used.size


def _entries(root: Path) -> Iterator[_Used]:
    """The entries with their sizes. Removes what processes that died have left."""
    for group in root.glob("[0-9a-f][0-9a-f]"):
        # What others remove meanwhile is not there.
        for path in _listed(group):
            with contextlib.suppress(OSError):
                last = path.stat().st_mtime
                if not path.name.startswith((UNFINISHED, _REMOVED)):
                    yield _Used(path, sum(file.stat().st_size for file in path.iterdir()), last)
                elif time.time() - last > _ABANDONED:
                    shutil.rmtree(path, ignore_errors=True)


def _listed(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir())
    except OSError:
        return []


def _remove(entry: Path) -> None:
    """Renames and then removes it; somebody else may have done so."""
    with contextlib.suppress(OSError):
        aside = Path(tempfile.mkdtemp(prefix=_REMOVED, dir=entry.parent))
        with contextlib.suppress(OSError):
            entry.rename(aside / entry.name)
        shutil.rmtree(aside, ignore_errors=True)
