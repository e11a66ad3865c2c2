"""Threads and replies for the tests, written through the routes as people write them."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from app.core.database.session import db
from app.forum.models import ForumCategory
from tests.client import Client


def category_id(name: str = "Medis") -> int:
    return db.session.scalars(sa.select(ForumCategory.id).where(ForumCategory.name == name)).one()


def write_thread(writer: Client, **data: Any) -> dict[str, Any]:
    sent = {"category_id": category_id(), "title": "Menu harian", "content": "Apa yang boleh dimakan?", **data}
    answer = writer.post("/forum/threads", sent)
    assert answer.status_code == 201, answer.json
    found: dict[str, Any] = answer.json
    return found


def write_reply(writer: Client, thread_id: int, **data: Any) -> dict[str, Any]:
    answer = writer.post(f"/forum/threads/{thread_id}/reply", {"content": "Kurangi gula.", **data})
    assert answer.status_code == 201, answer.json
    found: dict[str, Any] = answer.json
    return found


def read_thread(reader: Client, thread_id: int) -> dict[str, Any]:
    answer = reader.get(f"/forum/threads/{thread_id}")
    assert answer.status_code == 200, answer.json
    found: dict[str, Any] = answer.json
    return found
