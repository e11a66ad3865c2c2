"""Moderation: cases, decisions and appeals."""

from __future__ import annotations

from typing import Any

import pytest
import sqlalchemy as sa

from app.core.database.session import db
from app.forum.jobs import delete_old_case_texts
from app.forum.models import ForumCase
from app.forum.service.reads.posts import HIDDEN
from app.identity.models import AuditEntry
from app.notifications.models import Delivery
from tests.forum.posts import cases, moderate, read_thread, report, write_reply, write_thread
from tests.helpers.client import Client, assert_error
from tests.helpers.factories import make_admin, make_user
from tests.notifications.deliveries import words_of


def test_a_case_of_a_reply_has_the_thread_and_the_reply(siti: Client, budi: Client, admin: Client) -> None:
    thread_id = write_thread(siti)["id"]
    reply_id = write_reply(budi, thread_id)["id"]
    report(siti, f"replies/{reply_id}")
    (case,) = cases(admin)
    assert (case["thread_id"], case["reply_id"]) == (thread_id, reply_id)
    assert (case["title"], case["content"], case["author_name"]) == ("Menu harian", "Kurangi gula.", "Budi Hartono")


def test_the_text_of_a_deleted_post_is_removed_from_its_case_after_180_days(siti: Client, admin: Client) -> None:
    case = moderate(admin, "delete", thread_id=write_thread(siti)["id"])
    hidden = moderate(admin, "hide", thread_id=write_thread(siti)["id"])
    for days, content in ((179, "Apa yang boleh dimakan?"), (181, None)):
        moment = sa.func.now() - sa.func.make_interval(0, 0, 0, days)
        db.session.execute(sa.update(ForumCase).values(decided_at=moment))
        db.session.commit()
        delete_old_case_texts()
        kept = {each["id"]: each for each in cases(admin)}
        assert (kept[case["id"]]["content"], kept[case["id"]]["reason"]) == (content, "Mengiklankan obat.")
        assert kept[hidden["id"]]["content"] == "Apa yang boleh dimakan?"


def test_a_moderator_decision_deletes_a_reply(client: Client, siti: Client, budi: Client, admin: Client) -> None:
    thread_id = write_thread(siti)["id"]
    reply_id = write_reply(budi, thread_id)["id"]
    below = write_reply(siti, thread_id, parent_id=reply_id)["id"]
    case = moderate(admin, "delete", reply_id=reply_id)
    assert (case["state"], case["content"]) == ("deleted", "Kurangi gula.")
    thread = read_thread(client, thread_id)
    (stub,) = thread["replies"]
    assert (stub["is_deleted"], stub["content"], thread["replies_count"]) == (True, None, 1)
    assert [node["id"] for node in stub["replies"]] == [below]


def test_a_case_stays_when_the_author_deletes_the_post(siti: Client, budi: Client, admin: Client) -> None:
    thread_id = write_thread(siti)["id"]
    reply_id = write_reply(budi, thread_id)["id"]
    report(budi, f"threads/{thread_id}")
    report(siti, f"replies/{reply_id}")
    assert budi.delete(f"/forum/replies/{reply_id}").status_code == 200
    assert {case["reply_id"]: case["state"] for case in cases(admin)} == {reply_id: "deleted", None: "open"}
    assert siti.delete(f"/forum/threads/{thread_id}").status_code == 200
    for case in cases(admin):
        assert (case["state"], case["title"], case["content"], case["author_name"]) == ("deleted", None, None, None)
        assert len(case["reports"]) == 1


def test_the_audit_log_records_a_decision_without_the_author(client: Client, siti: Client) -> None:
    moderator = make_admin()
    thread_id = write_thread(siti, use_pseudonym=True)["id"]
    case = moderate(client.as_(moderator), "hide", thread_id=thread_id)
    (entry,) = db.session.scalars(sa.select(AuditEntry))
    assert (entry.actor_id, entry.action, entry.subject) == (moderator.id, "moderated", f"forum_threads:{thread_id}")
    assert entry.details == {"decision": "hide", "case": case["id"]}


# --- notified administrators ----------------------------------------------------------------------------------------


def pushes() -> list[tuple[int | None, str, dict[str, Any]]]:
    kept = sa.select(Delivery).where(Delivery.kind == "moderation").order_by(Delivery.id)
    return [(row.user_id, row.state, words_of(row)) for row in db.session.scalars(kept)]


@pytest.mark.parametrize("preferences", [{"moderation": True}, '{"moderation": true}', {"moderation": True, "x": []}])
def test_a_new_case_notifies_only_administrators_who_opted_in(
    client: Client, siti: Client, budi: Client, preferences: object
) -> None:
    wants = make_admin(preferences=preferences)
    make_admin()
    make_admin(preferences={"moderation": False})
    make_user(preferences={"moderation": True})
    thread_id = write_thread(siti)["id"]
    report(budi, f"threads/{thread_id}")
    report(client.as_(make_user()), f"threads/{thread_id}")
    assert [(user_id, state) for user_id, state, _ in pushes()] == [(wants.id, "pending")]
    assert "Menu harian" not in str(pushes())
    moderate(client.as_(wants), "keep", thread_id=thread_id)
    assert [state for _, state, _ in pushes()] == ["cancelled"]


def test_an_urgent_case_has_an_urgent_title_and_an_own_decision_no_push(
    client: Client, siti: Client, budi: Client
) -> None:
    wants = make_admin(preferences={"moderation": True})
    moderate(client.as_(wants), "hide", thread_id=write_thread(siti)["id"])
    assert pushes() == []
    report(budi, f"threads/{write_thread(siti)['id']}", "self_harm")
    assert [payload["title"] for _, _, payload in pushes()] == ["Kasus mendesak"]


def test_a_case_that_becomes_urgent_is_notified_once_more(client: Client, siti: Client, budi: Client) -> None:
    wants = make_admin(preferences={"moderation": True})
    thread_id = write_thread(siti)["id"]
    for reason in ("spam", "self_harm", "self_harm"):
        report(budi, f"threads/{thread_id}", reason)
    report(client.as_(make_user()), f"threads/{thread_id}", "self_harm")
    assert [payload["title"] for _, _, payload in pushes()] == ["Kasus moderasi baru", "Kasus mendesak"]
    moderate(client.as_(wants), "hide", thread_id=thread_id)
    siti.put(f"/forum/threads/{thread_id}", {"content": "Aku ingin mati."})
    assert [state for _, state, _ in pushes()] == ["cancelled", "cancelled", "pending"]
    (case,) = cases(client.as_(wants), "?state=open")
    assert (case["urgent"], read_thread(client, thread_id)["title"]) == (True, HIDDEN)


# --- appeals --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("gone", ["threads", "replies"])
def test_an_appeal_for_a_deleted_post_is_not_listed(siti: Client, admin: Client, gone: str) -> None:
    thread_id = write_thread(siti)["id"]
    reply_id = write_reply(siti, thread_id)["id"]
    moderate(admin, "hide", reply_id=reply_id)
    assert siti.post(f"/forum/replies/{reply_id}/banding", {"note": "Mengapa?"}).status_code == 201
    assert siti.delete(f"/forum/{gone}/{reply_id if gone == 'replies' else thread_id}").status_code == 200
    assert admin.get("/admins/moderasi?banding=true").json == []


def test_the_username_moderasi_is_refused(client: Client) -> None:
    sent = {"username": "moderasi", "password": "rahasia-yang-panjang", "nama_ktp": "M", "nomor_hp": "081234500000"}
    assert_error(client.post("/register", sent), 400, "validation_error", "username")
