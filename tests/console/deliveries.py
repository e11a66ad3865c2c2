"""Helpers that create deliveries."""

from __future__ import annotations

from datetime import timedelta

from app.core.database.session import db, unit_of_work
from app.notifications import messages
from tests.helpers.client import Client


def send(person: Client, text: str = "Rahasia") -> None:
    db.session.commit()
    with unit_of_work():
        messages.message_user(person.id, text, kind="reminder", dedupe_key=text, expires_in=timedelta(hours=1))
