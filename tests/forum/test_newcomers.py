"""Threads of an account younger than 24 hours. The broadcast about such a thread waits for a moderator."""

from __future__ import annotations

from datetime import timedelta

import pytest
import sqlalchemy as sa
from flask import Flask

from app.core.database.session import db
from app.forum.service import threads
from app.notifications.models import Broadcast, Delivery
from tests.forum.people import aged
from tests.forum.posts import cases, moderate, read_thread, write_thread
from tests.helpers.client import Client
from tests.helpers.factories import make_admin


@pytest.fixture(autouse=True)
def a_day(app: Flask, monkeypatch: pytest.MonkeyPatch) -> None:
    """Treat accounts younger than 24 hours as new, as in production. In other tests, no account is new."""
    monkeypatch.setattr(threads, "NEWCOMER", timedelta(hours=24))


def states() -> list[str]:
    db.session.expire_all()
    return list(db.session.scalars(sa.select(Broadcast.state).order_by(Broadcast.id)))


@pytest.mark.parametrize(("hours", "state"), [(0, "held"), (23.9, "held"), (24.1, "open")])
def test_the_broadcast_of_an_account_younger_than_24_hours_is_held(
    client: Client, admin: Client, hours: float, state: str
) -> None:
    writer = aged(client, hours=hours)
    thread_id = write_thread(writer)["id"]
    assert states() == [state]
    assert [case["thread_id"] for case in cases(admin, "?state=open")] == ([thread_id] if state == "held" else [])
    assert read_thread(client, thread_id)["content"] == "Apa yang boleh dimakan?"


def test_a_held_broadcast_is_opened_by_a_keep_and_not_by_a_hide(client: Client, admin: Client) -> None:
    writer = aged(client, hours=1)
    kept, hidden = (write_thread(writer)["id"] for _ in range(2))
    moderate(admin, "keep", thread_id=kept)
    moderate(admin, "hide", thread_id=hidden)
    assert states() == ["open", "held"]


def test_an_edit_does_not_open_a_held_broadcast(client: Client) -> None:
    writer = aged(client, hours=1)
    path = f"/forum/threads/{write_thread(writer)['id']}"
    assert writer.put(path, {"title": "Lain", "category_id": 1}).status_code == 200
    assert states() == ["held"]


def test_an_admin_who_opted_in_is_notified_of_a_thread_by_a_new_account(client: Client) -> None:
    wants = make_admin(preferences={"moderation": True})
    write_thread(aged(client, hours=1))
    assert db.session.scalars(sa.select(Delivery.user_id)).all() == [wants.id]
