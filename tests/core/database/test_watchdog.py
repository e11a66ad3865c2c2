"""The watch over a database that hangs, against servers that let in, refuse, or only take connections."""

from __future__ import annotations

import itertools
import socket
from collections.abc import Iterator
from unittest.mock import Mock

import psycopg2
import pytest
import sqlalchemy as sa

from app.core.database.watchdog import LOGIN_S, Watchdog
from dev.stack.waiting import PATIENCE_S


@pytest.fixture
def silent() -> Iterator[int]:
    """The port of a server that takes connections and says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


@pytest.fixture
def unwatched(monkeypatch: pytest.MonkeyPatch) -> None:
    """Looks happen when the test says so, and make every connection suspect."""
    monkeypatch.setattr("app.core.database.watchdog.PATIENCE_S", 0.0)
    monkeypatch.setattr(Watchdog, "_keep_looking", lambda _: None)


def watch(url: str) -> Watchdog:
    engine = sa.create_engine(url.replace("postgresql:", "postgresql+psycopg2:"))
    return Watchdog(engine.url, [engine])


def nobody() -> int:
    """A port that nobody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as gone:
        port: int = gone.getsockname()[1]
    return port


def test_a_server_that_says_nothing_hangs(silent: int) -> None:
    assert not watch(f"postgresql://u@127.0.0.1:{silent}/x")._answers()


def test_a_server_that_lets_in_or_refuses_does_not_hang(
    variables: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.core.database.watchdog.LOGIN_S", round(PATIENCE_S))  # however busy the machine is
    assert watch(variables["DATABASE_URL"])._answers()
    assert watch(f"postgresql://u@127.0.0.1:{nobody()}/x")._answers()


@pytest.mark.parametrize("is_alive", [True, False])
def test_a_process_that_stood_still_itself_asks_again(monkeypatch: pytest.MonkeyPatch, is_alive: bool) -> None:
    moments = iter([0.0, 25.0, 26.0, 28.0])
    asked: list[object] = []

    def connect(**_: object) -> Mock:
        asked.append(_)
        if is_alive and len(asked) == 2:
            return Mock()
        raise psycopg2.OperationalError("timeout expired")

    monkeypatch.setattr("app.core.database.watchdog.monotonic", lambda: next(moments))
    monkeypatch.setattr("app.core.database.watchdog.psycopg2.connect", connect)
    assert watch("postgresql://u@a/x")._answers() is is_alive
    assert len(asked) == 2


def test_a_login_that_always_takes_too_long_is_asked_for_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    """As of a name with several addresses that are all silent."""
    moments = itertools.count(step=10.0)
    asked: list[object] = []

    def connect(**_: object) -> Mock:
        asked.append(_)
        assert len(asked) <= 2
        raise psycopg2.OperationalError("timeout expired")

    monkeypatch.setattr("app.core.database.watchdog.monotonic", lambda: next(moments))
    monkeypatch.setattr("app.core.database.watchdog.psycopg2.connect", connect)
    assert not watch("postgresql://u@a/x")._answers()
    assert len(asked) == 2


def test_of_several_hosts_each_has_its_time() -> None:
    for url, hosts in (
        ("postgresql://u@/x?host=a:5432&host=b:5433&target_session_attrs=read-write", 2),
        ("postgresql://u@/x?host=a,b,c", 3),
        ("postgresql://u@a/x", 1),
    ):
        assert watch(url)._answer_within_s == pytest.approx(LOGIN_S * hosts - 0.1)


class Wire:
    """Stands in for a connection of psycopg2."""

    closed = 0

    def __init__(self) -> None:
        self.here, self.there = socket.socketpair()
        self.there.settimeout(2)

    def fileno(self) -> int:
        return self.here.fileno()


@pytest.mark.usefixtures("unwatched")
def test_connections_that_are_out_are_cut_and_new_ones_refused_until_it_answers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    watched = watch("postgresql://u@127.0.0.1/x")
    out, back = Wire(), Wire()
    for wire in (out, back):
        watched._goes_out(wire, wire, None)
    watched._is_back(back, back)
    monkeypatch.setattr(Watchdog, "_answers", lambda _: False)
    watched._look()
    assert out.there.recv(1) == b""
    back.there.settimeout(0.05)
    with pytest.raises(TimeoutError):
        back.there.recv(1)
    for refused in (lambda: watched._goes_out(out, out, None), lambda: watched._refuse_while_it_hangs()):
        with pytest.raises(sa.exc.TimeoutError):
            refused()
    monkeypatch.setattr(Watchdog, "_answers", lambda _: True)
    watched._look()
    watched._goes_out(back, back, None)
    monkeypatch.setattr(Watchdog, "_answers", lambda _: pytest.fail("it was asked a moment ago"))
    watched._look()
    for wire in (out, back):
        wire.here.close()
        wire.there.close()
