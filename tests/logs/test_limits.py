"""Limits of activity logs, so that nobody can fill the disk."""

from app.logs import stream
from app.logs.stream import waiting
from tests.helpers.client import assert_error
from tests.helpers.factories import make_user
from tests.logs.records import RECORD


def send(client, count, *, address="10.0.0.1", route="/log/user-log"):
    """Send `count` records and return the set of status codes."""
    environment = {"REMOTE_ADDR": address}
    return {client.post(route, RECORD, environ_base=environment).status_code for _ in range(count)}


def test_a_record_above_120_per_minute_is_429(client, limited):
    assert send(client, 120) == {202}
    for route in ("/log/user-log", "/log/admin-log"):
        refused = client.post(route, RECORD, environ_base={"REMOTE_ADDR": "10.0.0.1"})
        assert_error(refused, 429, "too_many_requests")
        assert 0 < int(refused.headers["Retry-After"]) <= 61
    assert send(client, 1, address="10.0.0.2") == {202}
    assert waiting() == 121


def test_the_record_limit_of_a_person_covers_all_ip_addresses(client, limited):
    person, other = client.as_(make_user()), client.as_(make_user())
    assert [send(person, 1, address=f"10.0.1.{n}") for n in range(122)] == [{202}] * 120 + [{429}] * 2
    assert send(other, 3) == send(client, 3) == {202}
    assert waiting() == 126


def test_a_record_above_5000_per_day_is_429(client, limited, monkeypatch):
    monkeypatch.setattr(stream, "MAX_PER_DAY", 3)
    assert send(client, 3) == {202}
    refused = client.post("/log/user-log", RECORD, environ_base={"REMOTE_ADDR": "10.0.0.1"})
    assert_error(refused, 429, "too_many_requests")
    assert int(refused.headers["Retry-After"]) > 80_000
    assert waiting() == 3


def test_without_rate_limits_no_record_is_refused_as_one_too_many(client):
    answers = [send(client, 1) for _ in range(130)]
    assert answers.count({202}) > 120  # a busy machine's Redis may not answer in time, which is 503
    assert {429} not in answers
    assert waiting() >= answers.count({202})
