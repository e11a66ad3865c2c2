"""How the service is, for operators; what they may stop and start; and why a message did not arrive."""

from __future__ import annotations

import dataclasses
from datetime import timedelta

import pytest
import sqlalchemy as sa
from flask import Flask
from redis.exceptions import ConnectionError as RedisAway

from app.console import service
from app.core.database.session import db, unit_of_work
from app.core.jobs.queue import QUEUES
from app.identity.access_log import AccessLogEntry, Action
from app.identity.models import AuditEntry, User
from app.notifications import messages
from app.notifications.broadcasts import service as broadcasts
from app.notifications.delivery import metrics
from app.notifications.models import Broadcast, Delivery, State
from app.notifications.senders import health
from app.notifications.senders.models import Sender
from tests.forum.posts import moderate, write_reply, write_thread
from tests.helpers.client import Client, assert_error
from tests.helpers.factories import make_user


@pytest.fixture
def siti() -> User:
    return make_user(username="siti", nomor_hp="081234567890")


def send(user: User, text: str = "Rahasia") -> None:
    user_id = user.id
    db.session.commit()
    with unit_of_work():
        messages.message_user(user_id, text, kind="reminder", dedupe_key=text, expires_in=timedelta(hours=1))


def test_problems_are_those_of_the_workers(admin: Client) -> None:
    condition = admin.get("/admins/operasi").json
    assert condition["problems"] == metrics.worker_problems() != []
    assert [queue["queue"] for queue in condition["queues"]] == list(QUEUES)
    assert condition["outcomes"].keys() == set(metrics.OUTCOMES)
    assert condition["sender"] is None
    assert condition["broadcasts"] == {"paused": False, "reason": None, "open": 0}


def test_what_is_due_is_counted_by_queue(admin: Client, siti: User) -> None:
    send(siti)
    send(siti, "Lagi")
    db.session.execute(sa.update(Delivery).values(next_try_at=sa.func.now() - timedelta(minutes=2)))
    due = {
        queue["queue"]: (queue["due"], queue["oldest_due_s"]) for queue in admin.get("/admins/operasi").json["queues"]
    }
    assert due["urgent"][0] == 2
    assert due["urgent"][1] >= 120
    assert due["bulk"] == (0, 0.0)


def test_outcomes_are_counted_over_all_channels(admin: Client) -> None:
    before = admin.get("/admins/operasi").json["outcomes"]["sent"]
    metrics.count({("sent", "messaging"): 2, ("sent", "push"): 1, ("lag", "push", "1"): 1})  # type: ignore[dict-item]
    assert admin.get("/admins/operasi").json["outcomes"]["sent"] == before + 3


def test_without_redis_the_rest_is_told(admin: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def away() -> list[str]:
        raise RedisAway("refused")

    monkeypatch.setattr(service.delivery_metrics, "worker_problems", away)
    condition = admin.get("/admins/operasi").json
    assert condition["problems"] == ["Redis is away (ConnectionError)"]
    assert (condition["queues"], condition["outcomes"]) == ([], None)
    assert condition["broadcasts"]["paused"] is False


def test_broadcasts_are_paused_and_resumed_and_it_is_recorded(admin: Client) -> None:
    broadcasts.announce(kind="article", subject="article:1", text="Baru")
    assert admin.put("/admins/operasi/siaran", {"paused": True}).json == {"paused": True, "reason": None, "open": 1}
    assert admin.get("/admins/operasi").json["broadcasts"]["paused"] is True
    assert admin.put("/admins/operasi/siaran", {"paused": False}).json == {"paused": False, "reason": None, "open": 1}
    actions = db.session.scalars(sa.select(AuditEntry.action).order_by(AuditEntry.id)).all()
    assert actions[-2:] == ["broadcasts_paused", "broadcasts_resumed"]
    assert db.session.scalar(sa.select(sa.func.count()).select_from(Broadcast)) == 1


@pytest.mark.parametrize("body", [{}, {"paused": "mungkin"}, {"paused": None}, []])
def test_a_pause_is_yes_or_no(admin: Client, body: object) -> None:
    assert_error(admin.put("/admins/operasi/siaran", body), 400, "validation_error")


def test_a_sender_that_is_down_is_started_and_it_is_recorded(
    app: Flask, admin: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert_error(admin.post("/admins/operasi/pengirim"), 409, "no_sender")
    config = dataclasses.replace(
        app.extensions["config"], messaging_provider="fonnte", messaging_token="t", messaging_number="+6281100000000"
    )
    monkeypatch.setitem(app.extensions, "config", config)
    health.stop("the token is invalid", is_seen=True)
    sender = admin.get("/admins/operasi").json["sender"]
    assert (sender["state"], sender["reason"]) == ("down", "the token is invalid")
    assert admin.post("/admins/operasi/pengirim").json["state"] == "up"
    assert admin.get("/admins/operasi").json["sender"]["reason"] is None
    assert db.session.scalars(sa.select(AuditEntry.action).order_by(AuditEntry.id)).all()[-1] == "sender_resumed"
    assert db.session.scalar(sa.select(sa.func.count()).select_from(Sender)) == 1


def test_an_administrator_sees_states_and_reasons_and_no_text(admin: Client, siti: User) -> None:
    send(siti)
    db.session.execute(sa.update(Delivery).values(state=State.FAILED, last_error="no number", settled_at=sa.func.now()))
    response = admin.get(f"/admins/users/{siti.id}/pengiriman")
    (row,) = response.json
    assert set(row) == {"id", "kind", "due_at", "channels"}
    (part,) = row["channels"]
    assert (part["channel"], part["status"]) == ("message", "failed")
    assert part["reason"] == "Akun Anda belum punya nomor HP."
    assert "Rahasia" not in response.text


def test_an_administrator_does_not_learn_there_who_writes_under_a_pseudonym(client: Client, admin: Client) -> None:
    """By when somebody was told of a reply, which everybody sees in the forum; or that a pseudonym was lifted."""
    siti = make_user(nama_samaran="Melati")
    mine, others = client.as_(siti), client.as_(make_user())
    own_name, own_alias = (write_thread(mine, use_pseudonym=hidden)["id"] for hidden in (False, True))
    write_reply(others, own_name)
    write_reply(others, own_alias)
    case = moderate(admin, "keep", thread_id=own_alias)
    assert admin.post(f"/admins/moderasi/{case['id']}/identitas", {"reason": "x"}).status_code == 200
    assert sorted(row["title"] for row in mine.get("/pengiriman").json) == [
        "Balasan di forum",
        "Balasan di forum",
        "Pemberitahuan tentang nama samaran",
    ]
    path = f"/admins/users/{siti.id}/pengiriman"
    assert [row["kind"] for row in admin.get(path).json] == ["forum_reply"]
    assert mine.delete(f"/forum/threads/{own_alias}").status_code == 200
    assert mine.put(f"/forum/threads/{own_name}", {"use_pseudonym": True}).status_code == 200
    assert admin.get(path).json == []


def test_an_administrator_does_not_learn_there_whom_a_broadcast_of_a_thread_left_out(admin: Client, siti: User) -> None:
    """Of all whom it concerns that is its author alone, be it under a pseudonym."""
    for subject in ("forum_thread:1", "article:1"):
        db.session.add(
            Delivery(kind="broadcast", channel="messaging", queue="bulk", dedupe_key=subject, payload={"text": "x"},
                     due_at=sa.func.now(), next_try_at=sa.func.now(), expires_at=sa.func.now(), user_id=siti.id,
                     subject=subject)
        )  # fmt: skip
    db.session.commit()
    assert len(admin.get(f"/admins/users/{siti.id}/pengiriman").json) == 1


def test_the_person_reads_of_the_look(admin: Client, siti: User) -> None:
    admin.get(f"/admins/users/{siti.id}/pengiriman")
    looks = db.session.scalars(sa.select(AccessLogEntry.action).where(AccessLogEntry.user_id == siti.id)).all()
    assert Action.DELIVERIES_READ in looks


def test_deliveries_of_nobody_are_not_found(admin: Client) -> None:
    assert_error(admin.get("/admins/users/999999/pengiriman"), 404)


@pytest.mark.parametrize("query", ["page=0", "per_page=101", "page=x"])
def test_a_wrong_page_of_deliveries_is_refused(admin: Client, siti: User, query: str) -> None:
    assert_error(admin.get(f"/admins/users/{siti.id}/pengiriman?{query}"), 400, "validation_error")
