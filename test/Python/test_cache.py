"""The disk cache's size: least recently used entries go, whole, whoever else is at it."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from language_tools import ROOT

from headrace.driver import cache, eviction
from headrace.errors import HeadraceError

SIZE = 10_000


@pytest.fixture
def root(monkeypatch, tmp_path) -> Path:
    monkeypatch.setenv("HEADRACE_CACHE", str(tmp_path))
    monkeypatch.delenv("HEADRACE_CACHE_LIMIT", raising=False)
    return tmp_path


def put(name: str, used: float | None = None) -> str:
    """An entry of SIZE bytes of code, last used `used` seconds after a time long ago."""
    key = cache.key_of(name)
    cache.get(key, lambda: cache.Entry(name.encode().ljust(SIZE), {}))
    if used is not None:
        os.utime(cache.folder() / key[:2] / key, (1e9 + used, 1e9 + used))
    return key


def kept() -> set[str]:
    return {path.name for path in cache.folder().glob("*/*")}


@pytest.mark.parametrize(
    ("text", "size"),
    [(None, 1 << 30), ("", 1 << 30), ("none", None), ("0", 0), ("12345", 12345), ("2k", 2048), ("500M", 500 << 20),
     ("2G", 2 << 30), ("1TiB", 1 << 40), (" 3 GB", None)],
)  # fmt: skip
def test_limit(monkeypatch, text, size):
    if text is None:
        monkeypatch.delenv("HEADRACE_CACHE_LIMIT", raising=False)
    else:
        monkeypatch.setenv("HEADRACE_CACHE_LIMIT", text)
    if text == " 3 GB":
        with pytest.raises(HeadraceError, match="as bytes, such as 500M or 2G, or none, got ' 3 GB'"):
            eviction.limit()
        return
    assert eviction.limit() == size


def test_least_recently_used_goes_first(root):
    keys = [put(str(index), used) for index, used in enumerate((30, 10, 40, 20))]
    eviction.sweep(root, int(2.9 * SIZE))
    assert kept() == {keys[0], keys[2]}


def test_nothing_goes_below_the_limit(root):
    keys = [put(str(index)) for index in range(4)]
    eviction.sweep(root, 5 * SIZE)
    assert kept() == set(keys)


def test_getting_is_using(root):
    old, new = put("old", 10), put("new", 20)
    assert cache.get(old, lambda: pytest.fail("it is there")).code == b"old".ljust(SIZE)
    eviction.sweep(root, int(1.9 * SIZE))
    assert kept() == {old}
    assert new not in kept()


def test_writing_keeps_the_limit(root, monkeypatch):
    monkeypatch.setenv("HEADRACE_CACHE_LIMIT", str(8 * SIZE))
    for index in range(40):
        put(str(index))
        assert len(kept()) <= 8
    assert len(kept()) >= 6
    assert cache.key_of("39") in kept()


def test_no_limit(root, monkeypatch):
    monkeypatch.setenv("HEADRACE_CACHE_LIMIT", "none")
    monkeypatch.setattr(eviction, "sweep", lambda *_: pytest.fail("nothing is to go"))
    assert len({put(str(index)) for index in range(10)}) == len(kept()) == 10


def test_looks_only_now_and_then(root, monkeypatch):
    sweeps = []
    monkeypatch.setattr(eviction, "sweep", lambda *args: sweeps.append(args))
    monkeypatch.setenv("HEADRACE_CACHE_LIMIT", str(32 * 5 * SIZE))
    for index in range(60):
        put(str(index))
    # At first, and after each five more.
    assert 8 <= len(sweeps) <= 12


def test_tunings_and_strangers_stay(root):
    (root / "tuning" / "ab").mkdir(parents=True)
    (root / "tuning" / "ab" / "x.json").write_bytes(b"x" * 3 * SIZE)
    (root / "notes").write_bytes(b"x" * 3 * SIZE)
    put("a")
    eviction.sweep(root, 0)
    assert kept() == {"ab"}
    assert (root / "tuning" / "ab" / "x.json").exists()
    assert (root / "notes").exists()


@pytest.mark.parametrize("prefix", [".new-", ".old-"])
def test_what_died_processes_left_goes_after_an_hour(root, prefix):
    group = root / "ab"
    for name, age in (("dead", 7200), ("alive", 60)):
        (group / f"{prefix}{name}").mkdir(parents=True)
        (group / f"{prefix}{name}" / "code").write_bytes(b"x")
        os.utime(group / f"{prefix}{name}", (time.time() - age,) * 2)
    eviction.sweep(root, 1 << 30)
    assert kept() == {f"{prefix}alive"}


def test_reader_of_what_goes_makes_it_anew(root, monkeypatch):
    """An entry goes between the reading of its two files."""
    key = put("a")
    real = Path.read_text

    def read_text(path, *args, **kwargs):
        if path.name == "record.json":
            monkeypatch.setattr(Path, "read_text", real)
            eviction.sweep(root, 0)
        return real(path, *args, **kwargs)

    monkeypatch.setattr(Path, "read_text", read_text)
    assert cache.get(key, lambda: cache.Entry(b"made anew", {})).code == b"made anew"


def test_folder_that_is_only_read(root, monkeypatch):
    key = put("a")

    def refuse(*_):
        raise PermissionError

    monkeypatch.setattr(os, "utime", refuse)
    assert cache.get(key, lambda: pytest.fail("it is there")).code == b"a".ljust(SIZE)


WORKER = """
import random, sys
from headrace.driver import cache
rng = random.Random(sys.argv[1])
for _ in range(150):
    name = str(rng.randrange(40))
    entry = cache.get(cache.key_of(name), lambda: cache.Entry(name.encode().ljust(10_000), {"name": name}))
    assert entry == cache.Entry(name.encode().ljust(10_000), {"name": name}), name
"""


def test_many_processes(root):
    """Every process gets what it asked for, while entries come and go; what is left is whole and within the limit."""
    variables = {**os.environ, "HEADRACE_CACHE_LIMIT": str(10 * SIZE), "PYTHONPATH": str(ROOT / "python")}
    processes = [subprocess.Popen([sys.executable, "-c", WORKER, str(n)], env=variables) for n in range(6)]
    assert [process.wait(timeout=120) for process in processes] == [0] * 6
    assert not list(root.glob("*/.*"))
    # The record of an entry takes some bytes, too; one write of each process may be unseen.
    assert 3 <= len(kept()) <= 10 + len(processes)
    for key in kept():
        assert cache.get(key, lambda: pytest.fail("it is there")).record["name"]
