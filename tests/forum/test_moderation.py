"""Moderators: cases, what is decided about them, and appeals."""

from __future__ import annotations

from typing import Any

import pytest
import sqlalchemy as sa

from app.core.database.session import db
from app.forum.jobs import forget_deleted
from app.forum.models import ForumCase
from app.forum.service.reads.posts import HIDDEN
from app.identity.models import AuditEntry
from app.notifications.models import Delivery
from tests.forum.posts import cases, moderate, read_thread, write_reply, write_thread
from tests.helpers.client import Client, assert_error
from tests.helpers.factories import make_admin, make_user
from tests.helpers.statements import Statements

#: Whatever a case says, and nothing else.
CASE = {
    "id", "thread_id", "reply_id", "title", "content", "has_image", "author_name", "state", "urgent", "reports",
    "appeal", "reason", "created_at",
}  # fmt: skip


def report(reporter: Client, path: str, reason: str = "spam", **data: Any) -> Any:
    response = reporter.post(f"/forum/{path}/lapor", {"reason": reason, **data})
    assert response.status_code in (200, 201), response.json
    return response.json


def test_a_moderator_sees_the_post_its_reports_and_not_who_reported(
    client: Client, siti: Client, budi: Client, admin: Client
) -> None:
    thread_id = write_thread(siti, use_pseudonym=True)["id"]
    report(budi, f"threads/{thread_id}", note="Iklan.")
    (case,) = cases(admin)
    assert set(case) == CASE
    assert case == {
        **case, "thread_id": thread_id, "reply_id": None, "title": "Menu harian", "author_name": "Melati",
        "content": "Apa yang boleh dimakan?", "state": "open", "urgent": False, "appeal": None, "reason": None,
    }  # fmt: skip
    (shown,) = case["reports"]
    assert (set(shown), shown["reason"], shown["note"]) == ({"reason", "note", "at"}, "spam", "Iklan.")
    text = admin.get("/admins/moderasi").text
    assert "Siti" not in text
    assert "Budi" not in text


def test_a_case_of_a_reply_names_both(siti: Client, budi: Client, admin: Client) -> None:
    thread_id = write_thread(siti)["id"]
    reply_id = write_reply(budi, thread_id)["id"]
    report(siti, f"replies/{reply_id}")
    (case,) = cases(admin)
    assert (case["thread_id"], case["reply_id"]) == (thread_id, reply_id)
    assert (case["title"], case["content"], case["author_name"]) == ("Menu harian", "Kurangi gula.", "Budi Hartono")


def test_urgent_cases_come_first_and_the_list_is_narrowed_and_paged(
    siti: Client, budi: Client, admin: Client, statements: Statements
) -> None:
    ids = [write_thread(siti, title=f"Judul {number}")["id"] for number in range(4)]
    for thread_id, reason in zip(ids, ("spam", "self_harm", "hate", "other"), strict=True):
        report(budi, f"threads/{thread_id}", reason)
    moderate(admin, "hide", thread_id=ids[3])
    assert [case["thread_id"] for case in cases(admin)] == [ids[1], ids[3], ids[2], ids[0]]
    assert [case["thread_id"] for case in cases(admin, "?state=open")] == [ids[1], ids[2], ids[0]]
    assert [case["thread_id"] for case in cases(admin, "?state=hidden")] == [ids[3]]
    assert [case["thread_id"] for case in cases(admin, "?q=judul 2")] == [ids[2]]
    paged = admin.get("/admins/moderasi?page=2&per_page=3")
    assert ([case["thread_id"] for case in paged.json], paged.headers["X-Total-Count"]) == ([ids[0]], "4")
    assert_error(admin.get("/admins/moderasi?state=lama"), 400, "validation_error", "state")
    with statements.at_most(4):  # the session, cases, reports
        cases(admin)


def test_a_case_is_decided_and_decided_otherwise(client: Client, siti: Client, budi: Client, admin: Client) -> None:
    thread_id = write_thread(siti)["id"]
    report(budi, f"threads/{thread_id}")
    path = f"/admins/moderasi/{cases(admin)[0]['id']}"
    for decision, state, title in (("hide", "hidden", HIDDEN), ("keep", "kept", "Menu harian")) * 2:
        case = admin.put(path, {"decision": decision, "reason": f"Karena {decision}."}).json
        assert (case["state"], case["reason"]) == (state, f"Karena {decision}.")
        assert read_thread(client, thread_id)["title"] == title
    case = admin.put(path, {"decision": "delete", "reason": "Iklan."}).json
    assert (case["state"], case["title"], case["content"]) == ("deleted", "Menu harian", "Apa yang boleh dimakan?")
    assert case["author_name"] == "Siti Aminah"
    assert_error(client.get(f"/forum/threads/{thread_id}"), 404, "not_found")
    assert_error(admin.put(path, {"decision": "keep", "reason": "Maaf."}), 409, "post_deleted")
    assert [case["state"] for case in cases(admin)] == ["deleted"]


def test_what_was_deleted_is_not_kept_for_ever(siti: Client, admin: Client) -> None:
    case = moderate(admin, "delete", thread_id=write_thread(siti)["id"])
    hidden = moderate(admin, "hide", thread_id=write_thread(siti)["id"])
    for days, content in ((179, "Apa yang boleh dimakan?"), (181, None)):
        moment = sa.func.now() - sa.func.make_interval(0, 0, 0, days)
        db.session.execute(sa.update(ForumCase).values(decided_at=moment))
        db.session.commit()
        forget_deleted()
        kept = {each["id"]: each for each in cases(admin)}
        assert (kept[case["id"]]["content"], kept[case["id"]]["reason"]) == (content, "Mengiklankan obat.")
        assert kept[hidden["id"]]["content"] == "Apa yang boleh dimakan?"


def test_a_reply_is_deleted_by_decision(client: Client, siti: Client, budi: Client, admin: Client) -> None:
    thread_id = write_thread(siti)["id"]
    reply_id = write_reply(budi, thread_id)["id"]
    below = write_reply(siti, thread_id, parent_id=reply_id)["id"]
    case = moderate(admin, "delete", reply_id=reply_id)
    assert (case["state"], case["content"]) == ("deleted", "Kurangi gula.")
    thread = read_thread(client, thread_id)
    (stub,) = thread["replies"]
    assert (stub["is_deleted"], stub["content"], thread["replies_count"]) == (True, None, 1)
    assert [node["id"] for node in stub["replies"]] == [below]


def test_a_moderator_decides_without_a_report(siti: Client, budi: Client, admin: Client) -> None:
    thread_id = write_thread(siti)["id"]
    body = {"thread_id": thread_id, "decision": "hide", "reason": "Iklan."}
    created = admin.post("/admins/moderasi", body)
    assert (created.status_code, created.json["state"], created.json["reports"]) == (201, "hidden", [])
    again = admin.post("/admins/moderasi", {**body, "decision": "keep"})
    assert (again.status_code, again.json["id"], again.json["state"]) == (200, created.json["id"], "kept")


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"decision": "hide", "reason": "x"}, "thread_id"),
        ({"decision": "hide", "reason": "x", "thread_id": 1, "reply_id": 1}, "thread_id"),
        ({"decision": "ban", "reason": "x", "thread_id": 1}, "decision"),
        ({"decision": "hide", "reason": "", "thread_id": 1}, "reason"),
        ({"decision": "hide", "reason": "x" * 501, "thread_id": 1}, "reason"),
        ({"reason": "x", "thread_id": 1}, "decision"),
    ],
)
def test_a_bad_decision_is_400(admin: Client, body: dict[str, Any], field: str) -> None:
    assert_error(admin.post("/admins/moderasi", body), 400, "validation_error", field)
    if field != "thread_id":
        assert_error(admin.put("/admins/moderasi/1", body), 400, "validation_error", field)


def test_there_is_nothing_to_decide_about_what_is_not_there(admin: Client) -> None:
    decision = {"decision": "hide", "reason": "x"}
    for path in ("/admins/moderasi/999999",):
        assert_error(admin.put(path, decision), 404, "not_found")
    for post in ("thread_id", "reply_id"):
        assert_error(admin.post("/admins/moderasi", {**decision, post: 999999}), 404, "not_found")
    assert_error(admin.post("/admins/moderasi/999999/identitas", {"reason": "x"}), 404, "not_found")


def test_a_case_outlives_a_post_that_its_author_deletes(siti: Client, budi: Client, admin: Client) -> None:
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


def test_decisions_are_written_down_without_the_author(client: Client, siti: Client) -> None:
    moderator = make_admin()
    thread_id = write_thread(siti, use_pseudonym=True)["id"]
    case = moderate(client.as_(moderator), "hide", thread_id=thread_id)
    (entry,) = db.session.scalars(sa.select(AuditEntry))
    assert (entry.actor_id, entry.action, entry.subject) == (moderator.id, "moderated", f"forum_threads:{thread_id}")
    assert entry.details == {"decision": "hide", "case": case["id"]}


# --- who is told ----------------------------------------------------------------------------------------------------


def pushes() -> list[tuple[int | None, str, dict[str, Any]]]:
    kept = sa.select(Delivery).where(Delivery.kind == "moderation").order_by(Delivery.id)
    return [(row.user_id, row.state, dict(row.payload)) for row in db.session.scalars(kept)]


@pytest.mark.parametrize("preferences", [{"moderation": True}, '{"moderation": true}', {"moderation": True, "x": []}])
def test_a_new_case_is_pushed_to_administrators_who_want_it(
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


def test_an_urgent_case_says_so_and_ones_own_decision_is_no_news(client: Client, siti: Client, budi: Client) -> None:
    wants = make_admin(preferences={"moderation": True})
    moderate(client.as_(wants), "hide", thread_id=write_thread(siti)["id"])
    assert pushes() == []
    report(budi, f"threads/{write_thread(siti)['id']}", "self_harm")
    assert [payload["title"] for _, _, payload in pushes()] == ["Kasus mendesak"]


def test_a_case_that_becomes_urgent_is_told_of_once_more(client: Client, siti: Client, budi: Client) -> None:
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


def test_an_author_appeals_against_a_hidden_post(siti: Client, budi: Client, admin: Client) -> None:
    thread_id = write_thread(siti)["id"]
    reply_id = write_reply(siti, thread_id)["id"]
    for path, post in (
        (f"threads/{thread_id}", {"thread_id": thread_id}),
        (f"replies/{reply_id}", {"reply_id": reply_id}),
    ):
        banding = f"/forum/{path}/banding"
        assert_error(siti.post(banding, {"note": "Mengapa?"}), 409, "not_hidden")
        case = moderate(admin, "hide", **post)
        assert_error(budi.post(banding, {"note": "Mengapa?"}), 403, "not_the_owner")
        assert_error(siti.post(banding, {"note": ""}), 400, "validation_error", "note")
        first = siti.post(banding, {"note": "Ini bukan iklan."})
        assert (first.status_code, first.json) == (201, {"appeal": "Ini bukan iklan."})
        assert siti.post(banding, {"note": "Sungguh."}).status_code == 200
        (seen,) = [each for each in cases(admin) if each["id"] == case["id"]]
        assert (seen["appeal"], seen["state"]) == ("Sungguh.", "hidden")
        waiting = "/admins/moderasi?banding=true"
        assert [each["id"] for each in admin.get(waiting).json] == [case["id"]]
        assert case["id"] not in [each["id"] for each in admin.get("/admins/moderasi?banding=false").json]
        moderate(admin, "hide", **post)
        assert admin.get(waiting).json == []
        assert siti.post(banding, {"note": "Sekali lagi."}).status_code == 201
        moderate(admin, "keep", **post)
        assert_error(siti.post(banding, {"note": "Lagi?"}), 409, "not_hidden")
    assert_error(admin.get("/admins/moderasi?banding=mungkin"), 400, "validation_error", "banding")
    assert_error(siti.post("/forum/threads/999999/banding", {"note": "x"}), 404, "not_found")


@pytest.mark.parametrize("gone", ["threads", "replies"])
def test_no_appeal_waits_for_a_post_that_is_gone(siti: Client, admin: Client, gone: str) -> None:
    thread_id = write_thread(siti)["id"]
    reply_id = write_reply(siti, thread_id)["id"]
    moderate(admin, "hide", reply_id=reply_id)
    assert siti.post(f"/forum/replies/{reply_id}/banding", {"note": "Mengapa?"}).status_code == 201
    assert siti.delete(f"/forum/{gone}/{reply_id if gone == 'replies' else thread_id}").status_code == 200
    assert admin.get("/admins/moderasi?banding=true").json == []


def test_nobody_is_called_moderasi(client: Client) -> None:
    sent = {"username": "moderasi", "password": "rahasia-yang-panjang", "nama_ktp": "M", "nomor_hp": "081234500000"}
    assert_error(client.post("/register", sent), 400, "validation_error", "username")
