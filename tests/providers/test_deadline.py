"""The time limit of a call, if it runs out at the moment at which the call ends."""

from __future__ import annotations

import socket
import threading
from typing import Any

import pytest

from app.providers import sockets


def test_a_timer_that_runs_out_as_its_call_ends_leaves_the_next_call_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    is_cutting, cut = threading.Event(), threading.Event()
    shutdown = socket.socket.shutdown

    class SlowEvent(threading.Event):
        def set(self) -> None:
            super().set()
            if threading.current_thread().name == "deadline":
                is_cutting.set()
                threading.Event().wait(0.3)

    def record(*args: Any) -> None:
        shutdown(*args)
        cut.set()

    monkeypatch.setattr(sockets, "Event", SlowEvent)
    ours, theirs = socket.socketpair()
    with ours, theirs:
        monkeypatch.setattr(socket.socket, "shutdown", record)
        with sockets.deadline(0.05):
            assert is_cutting.wait(5)
        with sockets.deadline(60):
            sockets._call.sock = ours
            assert not cut.wait(0.6)
            theirs.sendall(b"ok")
            assert ours.recv(2) == b"ok"
