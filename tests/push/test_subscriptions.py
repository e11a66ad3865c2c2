"""Rules of subscriptions: how many a person may have, and which keys and endpoints are accepted."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import sqlalchemy as sa
from flask import Flask

from app.core.database.session import db
from app.providers import webpush
from app.push import service
from app.push.models import PushSubscription
from dev.simulators import Server
from tests.conftest import config_for_tests
from tests.helpers.client import Client, assert_error
from tests.helpers.factories import make_user


def endpoints(user_id: int | None) -> list[str]:
    return list(
        db.session.scalars(
            sa.select(PushSubscription.endpoint).filter_by(user_id=user_id).order_by(PushSubscription.id)
        )
    )


def test_a_person_keeps_the_ten_newest_subscriptions(client: Client, sim: Server, keys: str) -> None:
    user = make_user()
    browsers = [sim.push.subscribe(keys) for _ in range(12)]
    for browser in browsers:
        client.as_(user).post("/push/subscribe", browser)
    assert endpoints(user.id) == [browser["endpoint"] for browser in browsers[2:]]


def test_unverified_subscriptions_do_not_replace_verified_ones(client: Client, sim: Server, keys: str) -> None:
    user = make_user()
    proven = [sim.push.subscribe(keys) for _ in range(3)]
    for browser in proven:
        client.as_(user).post("/push/subscribe", browser)
    for _ in range(15):
        client.post("/push/subscribe", {**sim.push.subscribe(keys), "user_id": user.id})
    left = endpoints(user.id)
    assert len(left) == service.MAX_PER_USER
    assert {browser["endpoint"] for browser in proven} <= set(left)


def test_the_example_keys_of_the_openapi_document_are_accepted(client: Client, browser: dict[str, Any]) -> None:
    document = client.get("/api/openapi.json").json["components"]["schemas"]["PushKeys"]["properties"]
    shown = {name: document[name]["example"] for name in ("p256dh", "auth")}
    assert client.post("/push/subscribe", {**browser, "keys": shown}).status_code == 201


HOSTILE = [
    "",
    "push",
    "ftp://push.example.com/a",
    "javascript:alert(1)",
    "file:///etc/passwd",
    "http://push.example.com/a",
    "https://",
    "https://localhost/a",
    "https://sub.localhost/a",
    "https://printer.local/a",
    "https://metadata.google.internal/a",
    "https://intranet/a",
    "https://127.0.0.1/a",
    "https://127.1/a",
    "https://2130706433/a",
    "https://0x7f.0.0.1/a",
    "https://0177.0.0.1/a",
    "https://10.0.0.1/a",
    "https://172.16.0.1/a",
    "https://192.168.1.1/a",
    "https://169.254.169.254/latest/meta-data/",
    "https://100.64.0.1/a",
    "https://0.0.0.0/a",
    "https://[::1]/a",
    "https://[::ffff:127.0.0.1]/a",
    "https://[fd00::1]/a",
    "https://[fe80::1%25eth0]/a",
    "https://user:secret@push.example.com/a",
    "https://push.example.com:0/a",
    "https://push.example.com:99999/a",
    "https://push.example.com/a b",
    "https://push.example.com/\\evil",
    "https://push.example.com/a#b",
    "https://[/a",
    "https://push.example.com/" + "x" * 2000,
]


def test_an_endpoint_that_is_no_public_push_service_is_refused(
    client: Client, browser: dict[str, Any], app: Flask, monkeypatch: pytest.MonkeyPatch, subtests: pytest.Subtests
) -> None:
    production = replace(app.extensions["config"], environment="production")
    monkeypatch.setitem(app.extensions, "config", production)
    for endpoint in HOSTILE:
        with subtests.test(endpoint):
            assert_error(client.post("/push/subscribe", {**browser, "endpoint": endpoint}), 400, field="endpoint")


@pytest.mark.parametrize(
    "endpoint",
    [
        "https://fcm.googleapis.com/fcm/send/abc:APA91b",
        "https://updates.push.services.mozilla.com/wpush/v2/gAAAA",
        "https://web.push.apple.com/QK-x",
        "https://8.8.8.8/a",
        "https://push.example.com:8443/a?b=c",
    ],
)
def test_endpoints_of_real_push_services_are_accepted(endpoint: str) -> None:
    assert webpush.may_be_endpoint(endpoint, config_for_tests())


def test_tests_accept_a_loopback_endpoint_but_no_private_ip_address() -> None:
    assert webpush.may_be_endpoint("http://127.0.0.1:8080/push/a", config_for_tests())
    assert not webpush.may_be_endpoint("http://10.0.0.1:8080/push/a", config_for_tests())
