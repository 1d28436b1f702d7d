"""Runs the same work on many items at once: each is a process of the compiler that a thread waits for."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import TypeVar

from headrace.tuning.progress import Advance

T = TypeVar("T")
R = TypeVar("R")


def cores() -> int:
    """The processor cores that this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1


def for_each(items: Sequence[T], work: Callable[[T], R], advance: Advance, workers: int | None = None) -> list[R]:
    """``[work(item) for item in items]`` by `workers` threads (default: `cores`). `advance` is called after each.

    What `work` raises ends everything: items that have not begun are dropped, and it is raised here.
    """
    with ThreadPoolExecutor(max_workers=max(1, workers or cores()), thread_name_prefix="headrace") as pool:
        futures = [pool.submit(work, item) for item in items]
        try:
            for future in as_completed(futures):
                future.result()
                advance("")
        except BaseException:
            pool.shutdown(wait=True, cancel_futures=True)
            raise
        return [future.result() for future in futures]
