"""Cache of provider responses. `test_statuses.py` tests the stale value during a failure."""

from dataclasses import dataclass
from datetime import timedelta
from itertools import count
from unittest.mock import Mock

import pytest
from redis.exceptions import ConnectionError as RedisConnectionError

from app.core.lib import local_time
from app.providers import cache as module
from app.providers.cache import Cache


@dataclass(frozen=True)
class Thing:
    name: str


def source():
    """Return a provider whose responses have numbers."""
    numbers = count(1)
    return lambda: Thing(f"nomor {next(numbers)}")


@pytest.fixture
def kept(app):
    return Cache("test", lambda row: row and Thing(**row), fresh_s=900)


@pytest.fixture
def later(monkeypatch):
    """Return a function that moves the cache's clock ahead by seconds."""
    real, moved = local_time.now, [0.0]
    monkeypatch.setattr(module, "now", lambda: real() + timedelta(seconds=moved[0]))

    def move(seconds):
        moved[0] += seconds

    return move


def test_a_fresh_copy_is_returned_and_a_stale_copy_is_fetched_again(kept, later):
    load = source()
    assert [kept.get("a", load), kept.get("a", load)] == [Thing("nomor 1")] * 2
    assert kept.get("b", load) == Thing("nomor 2")
    later(899)
    assert kept.get("a", load) == Thing("nomor 1")
    later(2)
    assert kept.get("a", load) == Thing("nomor 3")


def test_copies_expire_after_two_days_and_empty_results_after_a_minute(app, kept):
    kept.get("a", source())
    assert kept.get("b", lambda: None) is None
    assert kept.get("b", source()) is None
    redis = app.extensions["redis"]
    assert 2 * 86_400 - 400 < redis.ttl("cache:test:a") <= 2 * 86_400
    assert 0 < redis.ttl("cache:test:b") <= 60


def test_without_redis_each_call_goes_to_the_source(kept, monkeypatch):
    monkeypatch.setattr(module, "connection", Mock(side_effect=RedisConnectionError))
    load = source()
    assert [kept.get("a", load), kept.get("a", load)] == [Thing("nomor 1"), Thing("nomor 2")]
