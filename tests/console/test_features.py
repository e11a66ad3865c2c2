"""What a client asks before it begins, so that it need not guess."""

from __future__ import annotations

import dataclasses

import pytest
from flask import Flask

from tests.helpers.client import Client


def settings(app: Flask, monkeypatch: pytest.MonkeyPatch, **changes: object) -> None:
    monkeypatch.setitem(app.extensions, "config", dataclasses.replace(app.extensions["config"], **changes))


def test_an_operator_who_set_nothing_offers_nothing_new(
    app: Flask, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings(app, monkeypatch, vapid_public_key=None)
    assert client.get("/features").json == {
        "captcha_site_key": None,
        "vapid_public_key": None,
        "messaging": {"two_way": False, "number": None},
        "phone_verification": "off",
        "grouping": False,
        "console": False,
    }


def test_what_is_switched_on_is_told(app: Flask, client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    settings(
        app,
        monkeypatch,
        captcha_secret="s",
        captcha_site_key="6Lc",
        vapid_public_key="BKey",
        messaging_number="+6281100000000",
        whatsapp_app_secret="secret",
        phone_verification="soft",
        reminder_grouping=True,
        console=True,
    )
    assert client.get("/features").json == {
        "captcha_site_key": "6Lc",
        "vapid_public_key": "BKey",
        "messaging": {"two_way": True, "number": "+6281100000000"},
        "phone_verification": "soft",
        "grouping": True,
        "console": True,
    }


def test_a_site_key_without_a_secret_is_not_told(app: Flask, client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    settings(app, monkeypatch, captcha_secret=None, captcha_site_key="6Lc")
    assert client.get("/features").json["captcha_site_key"] is None


@pytest.mark.parametrize(
    ("environment", "set_to", "has_console"),
    [
        ("development", None, True),
        ("production", None, False),
        ("production", True, True),
        ("development", False, False),
    ],
)
def test_the_console_is_on_in_development_and_where_it_is_switched_on(
    app: Flask,
    client: Client,
    monkeypatch: pytest.MonkeyPatch,
    environment: str,
    set_to: bool | None,
    has_console: bool,
) -> None:
    settings(app, monkeypatch, environment=environment, console=set_to)
    assert client.get("/features").json["console"] is has_console
    page = client.get("/console")
    assert page.status_code == (200 if has_console else 404)
    if has_console:
        policy = page.headers["Content-Security-Policy"]
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy
        assert "img-src 'self' blob:;" in policy, "a picture that the script has fetched"
        assert policy.count("blob:") == 1
        assert page.headers["X-Frame-Options"] == "DENY"
        assert page.headers["Cache-Control"] == "no-store"
