"""Cache of provider responses: a fresh value, else a new one, else the stale value, also during outages of Redis."""

from datetime import timedelta

import pytest
from redis.exceptions import ConnectionError as RedisConnectionError

from app.core.lib import local_time
from app.providers import cache as module
from app.providers.cache import Cache
from app.providers.responses import ProviderError
from tests.providers.sources import Source, Thing


@pytest.fixture
def kept(app):
    return new()


def new():
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
    source = Source()
    assert [kept.get("a", source), kept.get("a", source)] == [Thing("nomor 1")] * 2
    assert kept.get("b", source) == Thing("nomor 2")
    later(899)
    assert kept.get("a", source) == Thing("nomor 1")
    later(2)
    assert kept.get("a", source) == Thing("nomor 3")


def test_a_copy_is_shared_with_other_cache_instances(kept):
    source = Source()
    kept.get("a", source)
    assert new().get("a", source) == Thing("nomor 1")


def test_a_stale_copy_is_returned_while_the_source_fails(kept, later):
    source = Source()
    kept.get("a", source)
    later(3 * 86400)
    source.error = ProviderError("test", "timeout")
    assert kept.get("a", source) == Thing("nomor 1")
    source.error = None
    assert kept.get("a", source) == Thing("nomor 3")


def test_without_a_copy_the_failure_is_raised_and_not_cached(kept):
    source = Source()
    source.error = ProviderError("test", "timeout")
    with pytest.raises(ProviderError) as caught:
        kept.get("a", source)
    assert caught.value.timed_out
    source.error = None
    assert kept.get("a", source) == Thing("nomor 2")


def test_copies_expire_after_two_days_and_empty_results_after_a_minute(app, kept):
    kept.get("a", Source())
    assert kept.get("b", lambda: None) is None
    assert kept.get("b", Source()) is None
    redis = app.extensions["redis"]
    assert 2 * 86_400 - 400 < redis.ttl("cache:test:a") <= 2 * 86_400
    assert 0 < redis.ttl("cache:test:b") <= 60


def test_without_redis_each_call_goes_to_the_source(kept, monkeypatch):
    def away():
        raise RedisConnectionError("away")

    monkeypatch.setattr(module, "connection", away)
    source = Source()
    assert [kept.get("a", source), kept.get("a", source)] == [Thing("nomor 1"), Thing("nomor 2")]


def test_an_exception_of_the_fetch_is_raised_and_not_cached(kept):
    def crash():
        raise RuntimeError("a bug")

    with pytest.raises(RuntimeError):
        kept.get("a", crash)
    assert kept.get("a", Source()) == Thing("nomor 1")
