"""Runs requests in a child process that can be killed, because a GPU kernel that hangs takes its process with it."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

#: Seconds a child may take to import its libraries and create a CUDA context, and to die.
_START_SECONDS = 180
_STOP_SECONDS = 60


@dataclass(frozen=True)
class Answer:
    """`status` is "answered", "hang" (no answer in time) or "crash" (the child died)."""

    status: str
    value: Any = None


class Watchdog:
    """A child that runs `serve(connection, *args)`: it sends one message when ready, then an answer per request."""

    def __init__(self, serve: Callable, *args):
        self._serve, self._args = serve, args
        self._process = None
        self._connection = None

    def ask(self, request, seconds: float) -> Answer:
        """Sends `request`, starting a child if there is none; after a hang or a crash the next request gets a new one.

        Raises RuntimeError if a child does not become ready.
        """
        if self._process is None:
            self._start()
        answer = self._exchange(request, seconds)
        if answer.status != "answered":
            self.stop()
        return answer

    def stop(self) -> None:
        """Kills the child."""
        if self._process is None:
            return
        self._process.kill()
        self._process.join(_STOP_SECONDS)
        self._connection.close()
        self._process = self._connection = None

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._connection, theirs = context.Pipe()
        self._process = context.Process(target=self._serve, args=(theirs, *self._args), daemon=True)
        self._process.start()
        theirs.close()
        answer = self._receive(_START_SECONDS)
        if answer.status != "answered":
            code = self._process.exitcode
            self.stop()
            raise RuntimeError(f"the child process did not start: {answer.status}, exit code {code}")

    def _exchange(self, request, seconds: float) -> Answer:
        try:
            self._connection.send(request)
        except OSError:
            return Answer("crash")
        return self._receive(seconds)

    def _receive(self, seconds: float) -> Answer:
        try:
            if not self._connection.poll(seconds):
                return Answer("hang")
            return Answer("answered", self._connection.recv())
        except (EOFError, OSError):
            return Answer("crash")
