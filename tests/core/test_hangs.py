"""The watch over a database that hangs, against servers that answer, refuse, or only take connections."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator

import pytest
import sqlalchemy as sa

from app.core import hangs
from app.core.hangs import Watch


@pytest.fixture
def silent() -> Iterator[int]:
    """The port of a server that takes connections and says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


@pytest.mark.parametrize(
    ("address", "server"),
    [
        ("postgresql://u:p@db.example:6000/x", ("db.example", 6000)),
        ("postgresql+psycopg2://u@/x?host=/run/postgresql", ("/run/postgresql", 5432)),
        ("postgresql://u@/x?host=a,b&port=1,2", ("a", 1)),
        ("postgresql://u@/x?host=a:5433&host=b:5434", ("a", 5433)),
        ("postgresql:///x", ("localhost", 5432)),
    ],
)
def test_a_server_is_where_libpq_looks_for_it(address: str, server: tuple[str, int]) -> None:
    assert hangs._server(address) == server


def test_a_server_that_says_nothing_hangs_and_one_that_is_not_there_does_not(
    silent: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hangs, "ANSWER_WITHIN_S", 0.2)
    assert not hangs._answers(("127.0.0.1", silent))
    with socket.create_server(("127.0.0.1", 0)) as gone:
        port = gone.getsockname()[1]
    assert hangs._answers(("127.0.0.1", port))


def test_a_server_that_answers_is_alive() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer() -> None:
            wire, _ = server.accept()
            with wire:
                assert wire.recv(8) == hangs.SSL_REQUEST
                wire.sendall(b"N")

        threading.Thread(target=answer, daemon=True).start()
        assert hangs._answers(("127.0.0.1", server.getsockname()[1]))


def test_a_pooler_that_answers_hangs_with_the_server_behind_it_but_not_for_want_of_a_way_there(
    silent: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hangs, "ANSWER_WITHIN_S", 0.2)
    monkeypatch.setattr(hangs, "PATIENCE_S", 0.0)
    monkeypatch.setattr(Watch, "_keep_looking", lambda _: None)

    poolers: list[socket.socket] = []

    def connected(host: str, port: int) -> socket.socket:
        if host == "nowhere":
            raise TimeoutError
        if host == "silent":
            return socket.create_connection(("127.0.0.1", silent), 0.2)
        ours, theirs = socket.socketpair()
        theirs.sendall(b"N")
        poolers.append(theirs)
        return ours

    monkeypatch.setattr(hangs, "_connected", connected)
    for behind, hanging in (("silent", True), ("nowhere", False)):
        watch = Watch("postgresql://u@pooler/x", f"postgresql://u@{behind}/x", [])
        wire = Wire()
        watch._goes_out(wire, wire, None)
        watch._look()
        assert watch._hangs is hanging
        if hanging:
            watch._behind = ("nowhere", 5432)  # its queue is full by now
            watch._look()
            assert watch._hangs
        for each in (wire.here, wire.there, *poolers):
            each.close()


class Wire:
    """Stands in for a connection of psycopg2."""

    closed = 0

    def __init__(self) -> None:
        self.here, self.there = socket.socketpair()
        self.there.settimeout(2)

    def fileno(self) -> int:
        return self.here.fileno()


def test_connections_that_are_out_are_cut_and_new_ones_refused_until_it_answers(
    silent: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hangs, "ANSWER_WITHIN_S", 0.2)
    monkeypatch.setattr(hangs, "PATIENCE_S", 0.0)
    monkeypatch.setattr(Watch, "_keep_looking", lambda _: None)
    address = f"postgresql://u@127.0.0.1:{silent}/x"
    watch = Watch(address, address, [])
    out, back = Wire(), Wire()
    for wire in (out, back):
        watch._goes_out(wire, wire, None)
    watch._is_back(back, back)
    watch._look()
    assert out.there.recv(1) == b""
    back.there.settimeout(0.05)
    with pytest.raises(TimeoutError):
        back.there.recv(1)
    for refused in (lambda: watch._goes_out(out, out, None), lambda: watch._refuse_while_it_hangs()):
        with pytest.raises(sa.exc.TimeoutError):
            refused()
    monkeypatch.setattr(hangs, "_answers", lambda _: True)
    watch._look()
    watch._goes_out(back, back, None)
    for wire in (out, back):
        wire.here.close()
        wire.there.close()
