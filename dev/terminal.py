"""Terminal input and output of `make run`: progress, warnings from the log files, and Ctrl-C."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

#: Log levels that are printed on the terminal. The log files contain all levels.
LOUD = ("WARNING", "ERROR", "CRITICAL")


class Stopped(Exception):
    """The user pressed Ctrl-C, closed the terminal or sent SIGTERM."""


def say(text: str, end: str = "\n") -> None:
    # If the terminal is closed, `make run` must still end its processes.
    with contextlib.suppress(OSError):
        print(text, end=end, flush=True)


@contextlib.contextmanager
def step(what: str) -> Iterator[None]:
    """Print the name of a step, and at its end the seconds that the step took."""
    say(f"  {what} ... ", end="")
    started = time.monotonic()
    try:
        yield
    except BaseException:
        say("")
        raise
    say(f"{time.monotonic() - started:.1f} s")


def waiting(what: str) -> None:
    """Print on a new line what the current step waits for."""
    say(f"\n    {what} ... ", end="")


@contextlib.contextmanager
def stop_signals() -> Iterator[Callable[[float], None]]:
    """Yield a function `pause(seconds)`, which sleeps and raises `Stopped` as soon as a signal to stop has arrived.

    The signal handlers only set a flag, so that a second Ctrl-C cannot interrupt the cleanup.
    """
    wake, waker = os.pipe()
    os.set_blocking(waker, False)
    asked = False

    def ask(*_: object) -> None:
        nonlocal asked
        asked = True
        with contextlib.suppress(BlockingIOError):
            os.write(waker, b"!")

    def pause(seconds: float) -> None:
        if not asked:
            select.select([wake], [], [], seconds)
        if asked:
            raise Stopped

    before = {number: signal.signal(number, ask) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    try:
        yield pause
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        os.close(wake)
        os.close(waker)


class Warnings:
    """Reader of JSON log files that prints new warnings and errors on the terminal."""

    def __init__(self, logs: dict[str, Path]) -> None:
        self._logs = logs
        self._read = dict.fromkeys(logs, 0)

    def show(self) -> None:
        for name, log in self._logs.items():
            if log.stat().st_size == self._read[name]:
                continue
            with log.open("rb") as file:
                file.seek(self._read[name])
                for line in file:
                    if not line.endswith(b"\n"):
                        break  # a process is still writing this line
                    self._read[name] += len(line)
                    self._repeat(name, line)

    @staticmethod
    def _repeat(name: str, line: bytes) -> None:
        try:
            record = json.loads(line)
        except ValueError:
            return
        if isinstance(record, dict) and record.get("level") in LOUD:
            reason = str(record.get("exc_info") or "").strip().rpartition("\n")[2]
            said = f"{name}: {record['level'].lower()}: {record.get('message', '')}"
            say(f"{said} ({reason})" if reason else said)
