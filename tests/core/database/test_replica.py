"""How near a replica is, told by what the primary had written and what the replica has replayed."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import sqlalchemy as sa

from app.core.database import replica
from app.core.database.replica import LOOK_EVERY_S, MOST_LAG_S, TRUST_S, Replica


class Pair:
    """A primary and its replica, by the bytes that they have, and the time; None is one that is away."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.written: int | None = 1000
        self.replayed: int | None = 1000
        self.now = 100.0
        engine = sa.create_engine("postgresql+psycopg2://u@127.0.0.1/x")
        self.replica = Replica(engine.url, engine, engine)
        monkeypatch.setattr(Replica, "_start", lambda _: None)  # looks happen when the test says so
        monkeypatch.setattr(replica, "monotonic", lambda: self.now)
        monkeypatch.setattr(self.replica._primary, "ask", lambda _: self.written)
        monkeypatch.setattr(self.replica._server, "ask", lambda _: self.replayed)

    def look(self, *, after_s: float = LOOK_EVERY_S) -> bool:
        self.now += after_s
        self.replica.look()
        return self.replica.is_near


@pytest.fixture
def pair(monkeypatch: pytest.MonkeyPatch) -> Iterator[Pair]:
    pair = Pair(monkeypatch)
    yield pair
    pair.replica.engine.dispose()


def test_it_is_not_read_from_before_the_first_look(pair: Pair) -> None:
    assert not pair.replica.is_near
    assert pair.look()


def test_it_is_near_while_it_has_what_was_written_some_seconds_ago(pair: Pair) -> None:
    assert pair.look()
    pair.written = 5000
    for _ in range(int((MOST_LAG_S - 1) / LOOK_EVERY_S)):
        assert pair.look()
    for _ in range(5):
        is_near = pair.look()
    assert not is_near
    pair.replayed = 5000
    assert pair.look()


def test_one_that_does_not_answer_is_left_out_within_a_second(pair: Pair) -> None:
    assert pair.look()
    pair.now += TRUST_S + 0.01  # a look that hangs: none comes after it
    assert not pair.replica.is_near
    pair.replayed = None
    assert not pair.look()
    pair.replayed = 1000
    assert pair.look()


def test_it_stands_in_while_the_primary_is_away(pair: Pair) -> None:
    pair.written = 2000
    pair.look()
    pair.written = None
    assert not pair.look(after_s=2 * MOST_LAG_S)  # it has not all that was written
    pair.replayed = 2000
    for _ in range(50):
        assert pair.look()


def test_without_a_word_of_the_primary_nothing_is_known(pair: Pair) -> None:
    pair.written = None
    assert not pair.look()


def test_a_read_that_failed_waits_for_the_next_good_look(pair: Pair) -> None:
    pair.look()
    pair.replica.leave_out()
    assert not pair.replica.is_near
    assert pair.look()


def test_nobody_there_is_no_answer() -> None:
    nowhere = sa.create_engine("postgresql+psycopg2://u@127.0.0.1:1/x")
    other = Replica(nowhere.url, nowhere, nowhere)
    other.look()
    assert other._good_until == 0.0
