"""Rate-limit headers. A client can read them, and slow down before the service refuses requests."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.forum.posts import category_id
from tests.helpers.client import Client, assert_error
from tests.helpers.factories import make_user

ORIGIN = {"Origin": "http://localhost:5173"}
REFRESH = {"refresh_token": "x"}


def items(header: str) -> dict[str, dict[str, int]]:
    """Return the parameters of each policy in the header. The key is the name of the policy."""
    return {
        match[1]: {name: int(value) for name, value in re.findall(r";(\w)=(\d+)", match[2])}
        for match in re.finditer(r'"([^"]+)"((?:;\w=\d+)+)', header)
    }


@pytest.mark.usefixtures("limited")
def test_a_limited_route_returns_its_limit_and_the_remaining_requests(client: Client) -> None:
    for left in (119, 118):
        response = client.post("/refresh", REFRESH)
        assert items(response.headers["RateLimit-Policy"]) == {"120 per 1 minute": {"q": 120, "w": 60}}
        ((name, standing),) = items(response.headers["RateLimit"]).items()
        assert (name, standing["r"]) == ("120 per 1 minute", left)
        assert 0 < standing["t"] <= 61


@pytest.mark.usefixtures("limited")
def test_several_limits_share_one_header_line(client: Client) -> None:
    siti = client.as_(make_user())
    response = siti.post("/forum/threads", {"category_id": category_id(), "title": "t", "content": "c"})
    assert response.status_code == 201
    assert len(response.headers.getlist("RateLimit")) == len(response.headers.getlist("RateLimit-Policy")) == 1
    assert {name: item["q"] for name, item in items(response.headers["RateLimit-Policy"]).items()} == {
        "10 per 1 minute": 10,
        "60 per 1 day": 60,
    }
    assert {item["r"] for item in items(response.headers["RateLimit"]).values()} == {9, 59}


@pytest.mark.usefixtures("limited")
def test_a_successful_login_does_not_reduce_a_limit_of_failures(client: Client) -> None:
    make_user(username="siti")
    body = {"username": "siti", "password": "rahasia123"}
    for password, left in (("salah", 9), ("rahasia123", 9), ("salah", 8)):
        response = client.post("/login", {**body, "password": password})
        assert items(response.headers["RateLimit"])["10 per 5 minute"]["r"] == left


@pytest.mark.usefixtures("limited")
def test_a_429_response_has_zero_remaining_and_a_matching_retry_after(client: Client) -> None:
    for _ in range(10):
        client.get("/send-verification-code?phone=081234567890")
    response = client.get("/send-verification-code?phone=081234567890")
    assert_error(response, 429)
    standing = items(response.headers["RateLimit"])
    full: list[Any] = [item for item in standing.values() if item["r"] == 0]
    assert full
    assert abs(full[0]["t"] - int(response.headers["Retry-After"])) <= 1


@pytest.mark.usefixtures("limited")
def test_cors_exposes_the_rate_limit_headers(client: Client) -> None:
    exposed = client.post("/refresh", REFRESH, headers=ORIGIN).headers["Access-Control-Expose-Headers"]
    assert {"RateLimit", "RateLimit-Policy", "Retry-After"} <= set(exposed.split(", "))


def test_without_rate_limits_responses_have_no_rate_limit_headers(client: Client) -> None:
    for response in (client.get("/kategori"), client.post("/refresh", REFRESH)):
        assert not {"RateLimit", "RateLimit-Policy"} & set(response.headers.keys())
