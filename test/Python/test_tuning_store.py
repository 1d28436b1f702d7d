"""Results as lists, as tables and on disk, with many processes at once."""

from __future__ import annotations

import json
import multiprocessing
import os
import time

import pytest

from headrace.tuning import Result, Results, store

RESULTS = Results([
    Result({"BM": 3}, "refused", "pipeline needs 9 bytes, sm_90a has 8; 'A' takes 9 bytes " + "x" * 100),
    Result({"BM": 4}, "fits", bound=2.0),
    Result({"BM": 5}, "fits", bound=1.5),
    Result({"BM": 1}, "measured", "", 2e-6, 0.01, 1.0),
    Result({"BM": 2}, "measured", "1.4 times the fastest at a look", 1e-6, None, 1.1),
    Result({"BM": 6}, "failed", "CUDA_ERROR"),
    Result({"BM": 7}, "pruned", "no"),
])  # fmt: skip


def test_best_first_and_only_full_measurements_win():
    assert [result.config["BM"] for result in RESULTS] == [1, 2, 5, 4, 6, 7, 3]
    assert RESULTS.best.config == {"BM": 1}
    assert Results(list(RESULTS)[2:]).best.config == {"BM": 5}
    assert Results(list(RESULTS)[4:]).best is None
    assert Results().best is None
    assert repr(RESULTS) == "<results of 7 configurations, 2 measured>"


def test_table():
    lines = str(RESULTS).splitlines()
    assert lines[1].split() == ["BM", "status", "us", "spread", "bound", "reason"]
    assert lines[2].split() == ["1", "measured", "2.00", "1.0%", "1.00"]
    assert lines[3].split(maxsplit=5) == ["2", "measured", "1.00", "-", "1.10", "1.4 times the fastest at a look"]
    assert lines[8].endswith("xxx...")
    assert max(map(len, lines)) < 150
    assert "<td" in RESULTS._repr_html_()
    assert str(Results()) == "no configurations\n"


def test_json_round_trip():
    assert list(Results.from_json(json.loads(json.dumps(RESULTS.to_json())))) == list(RESULTS)


@pytest.fixture(autouse=True)
def folder(monkeypatch, tmp_path):
    monkeypatch.setenv("HEADRACE_CACHE", str(tmp_path))
    return tmp_path


KEY = ["p1", "p2"], [{"BM": 1}, {"BM": 2}], (3, (4, 5)), "sm_90a", "GPU", "tools"


def test_key_depends_on_everything():
    changed = [["p1", "p3"], [{"BM": 1}, {"BM": 3}], (3, (4, 6)), "sm_80", "GPU2", "tools2"]
    keys = {store.key_of(*KEY)}
    for index, value in enumerate(changed):
        keys.add(store.key_of(*KEY[:index], value, *KEY[index + 1 :]))
    assert len(keys) == len(changed) + 1
    assert store.key_of(*KEY) in keys


def test_what_is_saved_is_loaded(folder):
    key = store.key_of(*KEY)
    assert store.load(key) is None
    store.save(key, RESULTS, {"kernel": "gemm"})
    assert list(store.load(key)) == list(RESULTS)
    (file,) = folder.rglob("*.json")
    assert json.loads(file.read_text())["kernel"] == "gemm"
    assert not [path for path in folder.rglob("*") if path.name.startswith(".new-")]


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "{}", '{"version": "0", "results": []}', '{"version": "1", "results": [{"x": 1}]}',
             '{"version": "1", "results": [{"config": {}, "status": "unknown"}]}'],
)  # fmt: skip
def test_broken_files_are_no_results(folder, text):
    key = store.key_of(*KEY)
    store.save(key, RESULTS, {})
    next(folder.rglob("*.json")).write_text(text)
    assert store.load(key) is None


def test_without_a_cache_nothing_is_kept(monkeypatch):
    monkeypatch.setenv("HEADRACE_CACHE", "")
    key = store.key_of(*KEY)
    with store.lock(key):
        store.save(key, RESULTS, {})
    assert store.load(key) is None


def test_folder_that_cannot_be_written_is_no_error(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("HEADRACE_CACHE", str(tmp_path / "file"))
    key = store.key_of(*KEY)
    with store.lock(key):
        store.save(key, RESULTS, {})
    assert store.load(key) is None


def _worker(folder: str, index: int, tuned) -> None:
    os.environ["HEADRACE_CACHE"] = folder
    key = store.key_of(*KEY)
    with store.lock(key):
        results = store.load(key)
        if results is None:
            time.sleep(0.2)
            tuned.put(index)
            results = Results([Result({"BM": index}, "measured", "", 1e-6, 0.0)])
            store.save(key, results, {})
    tuned.put(results.best.config["BM"] + 1000)


def test_many_processes_tune_once(folder):
    context = multiprocessing.get_context("spawn")
    queue = context.Queue()
    processes = [context.Process(target=_worker, args=(str(folder), index, queue)) for index in range(4)]
    for process in processes:
        process.start()
    said = [queue.get(timeout=120) for _ in range(5)]
    for process in processes:
        process.join(60)
    tuned = [value for value in said if value < 1000]
    assert len(tuned) == 1
    assert [value for value in said if value >= 1000] == [tuned[0] + 1000] * 4
