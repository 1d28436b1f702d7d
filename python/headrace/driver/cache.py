"""Compiled kernels on disk, safe with many processes: an entry appears whole or not at all, and goes whole."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from headrace.driver import eviction


@dataclass(frozen=True)
class Entry:
    """A compiled kernel: its code (PTX or cubin), its launch record as JSON, and what the compiler remarked."""

    code: bytes
    record: dict


def folder() -> Path | None:
    """$HEADRACE_CACHE, else ``headrace`` in $XDG_CACHE_HOME or ~/.cache; None if $HEADRACE_CACHE is empty: no cache."""
    given = os.environ.get("HEADRACE_CACHE")
    if given is not None:
        return Path(given) if given else None
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "headrace"


def key_of(*parts: str) -> str:
    """The name of an entry that depends on `parts`."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode()
        digest.update(len(data).to_bytes(8, "little") + data)
    return digest.hexdigest()


def get(key: str, make: Callable[[], Entry]) -> Entry:
    """The entry called `key`; if there is none, `make` makes it, and it is kept. A broken entry is made again.

    Entries together take $HEADRACE_CACHE_LIMIT bytes (see `eviction.limit`); those that nobody got for the longest time
    go first. What `make` raises is not kept. A folder that cannot be written is no error: then nothing is kept.
    """
    root = folder()
    if root is None:
        return make()
    limit = eviction.limit()
    path = root / key[:2] / key
    entry = _read(path)
    if entry is not None:
        eviction.mark_used(path)
        return entry
    entry = make()
    with contextlib.suppress(OSError):
        _write(path, entry)
        eviction.keep_below(root, limit, len(entry.code))
    return entry


def _read(path: Path) -> Entry | None:
    try:
        code = (path / "code").read_bytes()
        stored = json.loads((path / "record.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    # A truncated disk, or a copy gone wrong.
    if not isinstance(stored, dict) or stored.get("sha256") != hashlib.sha256(code).hexdigest():
        return None
    return Entry(code, stored["record"])


def _write(path: Path, entry: Entry) -> None:
    """Writes to a folder of its own and renames it: whoever comes second throws his away."""
    path.parent.mkdir(parents=True, exist_ok=True)
    made = Path(tempfile.mkdtemp(prefix=eviction.UNFINISHED, dir=path.parent))
    try:
        (made / "code").write_bytes(entry.code)
        stored = {"sha256": hashlib.sha256(entry.code).hexdigest(), "record": entry.record}
        (made / "record.json").write_text(json.dumps(stored), encoding="utf-8")
        if path.exists() and _read(path) is None:
            shutil.rmtree(path, ignore_errors=True)
        made.rename(path)
    finally:
        shutil.rmtree(made, ignore_errors=True)
