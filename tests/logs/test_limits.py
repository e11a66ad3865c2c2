"""Limits of activity logs: records above the limits are only counted, so that nobody can fill the disk."""

from __future__ import annotations

import pytest
from flask import Flask
from prometheus_client import REGISTRY

from app.core.jobs import queue
from app.core.jobs.redis import WEB, connect
from app.logs import buffer
from tests.helpers.client import Client
from tests.helpers.factories import make_user
from tests.logs.records import RECORD, rows, waiting


def dropped() -> float:
    return REGISTRY.get_sample_value("activity_logs_dropped_total") or 0


def send(client: Client, count: int, *, address: str = "10.0.0.1", route: str = "/log/user-log") -> set[int]:
    """Send `count` records and return the set of status codes."""
    environment = {"REMOTE_ADDR": address}
    return {client.post(route, RECORD, environ_base=environment).status_code for _ in range(count)}


def test_records_above_120_per_minute_are_only_counted(client: Client, limited: None) -> None:
    before = dropped()
    assert send(client, 125) == {202}
    assert (waiting(), dropped() - before) == (120, 5)
    assert send(client, 1, route="/log/admin-log") == {202}
    assert (waiting(), dropped() - before) == (120, 6)
    send(client, 1, address="10.0.0.2")
    assert waiting() == 121


def test_the_record_limit_of_a_person_covers_all_ip_addresses(client: Client, limited: None) -> None:
    person, other = client.as_(make_user()), client.as_(make_user())
    for n in range(125):
        send(person, 1, address=f"10.0.1.{n}")
    assert waiting() == 120
    send(other, 3)
    send(client, 3)
    assert waiting() == 126


def test_records_above_5000_per_day_are_dropped(app: Flask, client: Client, limited: None) -> None:
    send(client, 1)
    redis = queue.connection()
    for key, count in (("minute", 1), ("day", 4999)):
        redis.set(f"{buffer.COUNTS}:{key}:address:10.0.0.1", count, keepttl=True)
    send(client, 5)
    assert waiting() == 2
    assert 0 < redis.ttl(f"{buffer.COUNTS}:minute:address:10.0.0.1") <= 60
    assert 0 < redis.ttl(f"{buffer.COUNTS}:day:address:10.0.0.1") <= 86400


def test_without_redis_the_process_enforces_the_record_limit(
    app: Flask, client: Client, limited: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    away = connect("redis://127.0.0.1:1/0", **WEB)
    monkeypatch.setattr(queue, "connection", lambda: away)
    before = dropped()
    assert send(client, 122) == {202}
    assert (len(rows()), dropped() - before) == (120, 2)


def test_without_rate_limits_all_records_are_kept(client: Client) -> None:
    assert send(client, 130) == {202}
    assert waiting() == 130
    assert not queue.connection().keys(f"{buffer.COUNTS}:*")
