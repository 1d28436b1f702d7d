"""Results of tunings on disk, safe with many processes: a file appears whole, and one process tunes at a time."""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from headrace.driver import cache
from headrace.tuning.results import Results

_VERSION = "1"


def key_of(
    programs: Sequence[str], configs: Sequence[dict], values: tuple, target: str, device: str, tools: str
) -> str:
    """The name of a tuning: everything that its result depends on.

    `programs` are the kernel's in the tile dialect, one for each of `configs`: they have the source, the types and the
    constants from outside in them. `values` are the key's, `tools` the versions of the compiler and of ptxas.
    """
    parts = (repr(sorted(config.items())) for config in configs)
    return cache.key_of("tuning", _VERSION, target, device, tools, repr(values), *parts, *programs)


def load(key: str) -> Results | None:
    """The results called `key`; None if there are none, or the file is broken."""
    path = _path(key)
    if path is None:
        return None
    try:
        stored = json.loads(path.read_text(encoding="utf-8"))
        return Results.from_json(stored["results"]) if stored["version"] == _VERSION else None
    except (OSError, ValueError, TypeError, KeyError):
        return None


def save(key: str, results: Results, about: dict) -> None:
    """Keeps `results`, which must be JSON, with what they are `about`, for people who look. No error if it cannot."""
    path = _path(key)
    if path is None:
        return
    text = json.dumps({"version": _VERSION, **about, "results": results.to_json()}, indent=1)
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor, name = tempfile.mkstemp(prefix=".new-", dir=path.parent)
        try:
            with open(descriptor, "w", encoding="utf-8") as file:
                file.write(text)
            os.replace(name, path)
        finally:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(name)


@contextlib.contextmanager
def lock(key: str) -> Iterator[None]:
    """Held by one process at a time, so that the others read what the first has measured.

    Where the file system has no locks, nobody waits, and whoever saves last is kept.
    """
    path = _path(key)
    with contextlib.ExitStack() as stack:
        if path is not None:
            with contextlib.suppress(OSError, ImportError):
                import fcntl

                path.parent.mkdir(parents=True, exist_ok=True)
                file = stack.enter_context(open(path.with_suffix(".lock"), "w", encoding="utf-8"))
                fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _path(key: str) -> Path | None:
    root = cache.folder()
    return None if root is None else root / "tuning" / key[:2] / f"{key}.json"
