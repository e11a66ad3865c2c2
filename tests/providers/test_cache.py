"""Cache of provider responses: fresh and stale entries, one fetch for parallel callers, and outages of Redis."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Barrier, Event
from typing import Any

import pytest
from flask import Flask
from redis.exceptions import ConnectionError as RedisConnectionError

from app.core.lib import local_time
from app.providers import cache as module
from app.providers.cache import Cache
from app.providers.responses import ProviderError
from dev.stack.waiting import PATIENCE_S, wait_until
from tests.providers.sources import Source, Thing


@pytest.fixture(autouse=True)
def long_flights(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let callers wait longer for another caller's fetch, so that a busy machine causes no timeout."""
    monkeypatch.setattr(module, "FLIGHT_S", PATIENCE_S)


@pytest.fixture
def kept(app: Flask) -> Cache[Thing | None]:
    return new()


def new() -> Cache[Thing | None]:
    return Cache("test", lambda row: row and Thing(**row), fresh_s=900)


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Return a function that moves the cache's clock ahead by seconds."""
    real, moved = local_time.now, [0.0]
    monkeypatch.setattr(module, "now", lambda: real() + timedelta(seconds=moved[0]))

    def move(seconds: float) -> None:
        moved[0] += seconds

    return move


@pytest.fixture
def no_redis(app: Flask, monkeypatch: pytest.MonkeyPatch) -> None:
    def away() -> Any:
        raise RedisConnectionError("away")

    monkeypatch.setattr(module, "connection", away)


def forget_failures(app: Flask) -> None:
    redis = app.extensions["redis"]
    for key in redis.keys("cache:*:failed:*"):
        redis.delete(key)


def test_a_fresh_copy_is_returned_and_a_stale_copy_is_fetched_again(
    kept: Cache[Thing | None], later: Callable[[float], None]
) -> None:
    source = Source()
    assert [kept.get("a", source), kept.get("a", source)] == [Thing("nomor 1")] * 2
    assert kept.get("b", source) == Thing("nomor 2")
    later(899)
    assert kept.get("a", source) == Thing("nomor 1")
    later(2)
    assert kept.get("a", source) == Thing("nomor 3")


def test_a_copy_is_shared_with_other_cache_instances(kept: Cache[Thing | None]) -> None:
    source = Source()
    kept.get("a", source)
    assert new().get("a", source) == Thing("nomor 1")
    assert new().peek("a") == Thing("nomor 1")
    assert new().peek("b") is None


def test_an_empty_result_is_cached_for_a_short_time(kept: Cache[Thing | None], later: Callable[[float], None]) -> None:
    assert kept.get("a", lambda: None) is None
    assert kept.get("a", Source()) is None
    later(61)
    assert kept.get("a", Source()) == Thing("nomor 1")


def test_a_stale_copy_is_returned_while_the_source_fails(
    app: Flask, kept: Cache[Thing | None], later: Callable[[float], None]
) -> None:
    source = Source()
    kept.get("a", source)
    later(3 * 86400)
    source.error = ProviderError("test", "timeout")
    assert kept.get("a", source) == Thing("nomor 1")
    assert kept.get("a", source) == Thing("nomor 1")
    assert source.asked == 2  # no call during the pause after the failure
    source.error = None
    forget_failures(app)
    assert kept.get("a", source) == Thing("nomor 3")


def test_without_a_copy_the_failure_is_raised_and_cached(app: Flask, kept: Cache[Thing | None]) -> None:
    source = Source()
    source.error = ProviderError("test", "timeout")
    for _ in range(3):
        with pytest.raises(ProviderError) as caught:
            kept.get("a", source)
        assert caught.value.timed_out
    assert source.asked == 1
    assert 0 < app.extensions["redis"].ttl("cache:test:failed:a") <= 300


def test_one_caller_retries_a_failed_source_while_others_fail_immediately(
    real_app: Flask, kept: Cache[Thing | None], later: Callable[[float], None]
) -> None:
    source = Source()
    source.error = ProviderError("test", "timeout")
    assert crowd(real_app, kept, source, people=1) == ["timeout"]
    later(11)
    let_go = Event()

    def hang() -> Thing | None:
        let_go.wait(PATIENCE_S)
        return source()

    def visit() -> None:
        with real_app.app_context(), pytest.raises(ProviderError):
            kept.get("a", hang)

    with ThreadPoolExecutor(1) as pool:
        trying = pool.submit(visit)
        wait_until(lambda: "a" in kept._flights)
        for _ in range(7):
            visit()
        assert not trying.done()  # seven callers have got the error, and the first caller still waits
        let_go.set()
        trying.result()
    assert source.asked == 2


def test_a_busy_error_is_not_cached(kept: Cache[Thing | None]) -> None:
    source = Source()
    source.error = ProviderError("test", "busy")
    with pytest.raises(ProviderError):
        kept.get("a", source)
    source.error = None
    assert kept.get("a", source) == Thing("nomor 2")


def test_copies_expire_after_a_day_and_empty_results_after_a_minute(app: Flask, kept: Cache[Thing | None]) -> None:
    kept.get("a", Source())
    kept.get("b", lambda: None)
    redis = app.extensions["redis"]
    assert 86_000 < redis.ttl("cache:test:copy:a") <= 86_400
    assert 0 < redis.ttl("cache:test:copy:b") <= 60


def test_copies_over_the_hourly_limit_get_a_shorter_lifetime(
    app: Flask, kept: Cache[Thing | None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """This limit is for a caller who requests many different addresses."""
    monkeypatch.setattr(module, "MAX_KEPT_PER_HOUR", 2)
    for key in "abc":
        kept.get(key, Source())
    redis = app.extensions["redis"]
    assert [redis.ttl(f"cache:test:copy:{key}") > 80_000 for key in "abc"] == [True, True, False]


def crowd(app: Flask, kept: Cache[Thing | None], source: Source, people: int = 100) -> list[Any]:
    """Return the results of `people` parallel calls for the same key."""
    gate = Barrier(people)

    def visit(_: int) -> Any:
        with app.app_context():
            gate.wait()
            try:
                return kept.get("a", source)
            except ProviderError as error:
                return error.kind

    with ThreadPoolExecutor(people) as pool:
        return list(pool.map(visit, range(people)))


def test_a_hundred_concurrent_callers_cause_one_fetch(real_app: Flask, kept: Cache[Thing | None]) -> None:
    source = Source(seconds=0.3)
    assert crowd(real_app, kept, source) == [Thing("nomor 1")] * 100
    assert source.asked == 1


def test_a_hundred_concurrent_callers_share_one_failed_fetch(real_app: Flask, kept: Cache[Thing | None]) -> None:
    source = Source(seconds=0.2)
    source.error = ProviderError("test", "timeout")
    assert crowd(real_app, kept, source) == ["timeout"] * 100
    assert source.asked == 1


def test_concurrent_callers_get_the_stale_copy_while_one_caller_fetches(
    real_app: Flask, kept: Cache[Thing | None], later: Callable[[float], None]
) -> None:
    kept.get("a", Source())
    later(1000)
    let_go = Event()
    fetched = 0

    def fetch() -> Thing | None:
        nonlocal fetched
        fetched += 1
        let_go.wait(PATIENCE_S)
        return Thing("nomor 2")

    def visit(_: int) -> Thing | None:
        with real_app.app_context():
            return kept.get("a", fetch)

    with ThreadPoolExecutor(20) as pool:
        visits = [pool.submit(visit, n) for n in range(20)]
        wait_until(lambda: sum(each.done() for each in visits) == 19)
        let_go.set()
        found = [each.result() for each in visits]
    assert fetched == 1
    assert found.count(Thing("nomor 1")) == 19
    assert found.count(Thing("nomor 2")) == 1


@pytest.mark.usefixtures("no_redis")
def test_without_redis_a_process_keeps_its_own_copies(
    kept: Cache[Thing | None], later: Callable[[float], None]
) -> None:
    source = Source()
    assert [kept.get("a", source), kept.get("a", source)] == [Thing("nomor 1")] * 2
    later(1000)
    source.error = ProviderError("test", "unreachable")
    assert kept.get("a", source) == Thing("nomor 1")


@pytest.mark.usefixtures("no_redis")
def test_without_redis_concurrent_callers_of_a_process_cause_one_fetch(
    real_app: Flask, kept: Cache[Thing | None]
) -> None:
    source = Source(seconds=0.3)
    assert crowd(real_app, kept, source) == [Thing("nomor 1")] * 100
    assert source.asked == 1


@pytest.mark.usefixtures("no_redis")
def test_the_number_of_copies_in_process_memory_is_limited(kept: Cache[Thing | None]) -> None:
    for n in range(80):
        kept.get(str(n), Source())
    assert len(kept._own) == module.MAX_OWN_COPIES


def test_an_exception_of_the_fetch_is_raised_and_not_cached(kept: Cache[Thing | None]) -> None:
    def crash() -> Thing:
        raise RuntimeError("a bug")

    with pytest.raises(RuntimeError):
        kept.get("a", crash)
    assert kept.get("a", Source()) == Thing("nomor 1")
