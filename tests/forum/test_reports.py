"""Reports: who may report what, and when reports alone hide a post."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from app.core.database.session import db
from app.forum.service.hiding import REPORTED
from app.forum.service.reads.posts import HIDDEN
from app.identity.models import User
from tests.forum.posts import cases, moderate, read_thread, write_reply, write_thread
from tests.helpers.client import Client, assert_error
from tests.helpers.factories import make_user


def reporter(client: Client, *, days: int = 8) -> Client:
    """Somebody whose account is so old."""
    user = make_user()
    changed = (
        sa.update(User)
        .where(User.id == user.id)
        .values(created_at=sa.func.now() - sa.func.make_interval(0, 0, 0, days))
    )
    db.session.execute(changed)
    return client.as_(user)


def report(who: Client, thread_id: int, reason: str = "spam", **data: Any) -> int:
    response = who.post(f"/forum/threads/{thread_id}/lapor", {"reason": reason, **data})
    return response.status_code


def is_hidden(reader: Client, thread_id: int) -> bool:
    return bool(read_thread(reader, thread_id)["title"] == HIDDEN)


def test_nobody_reports_more_than_20_times_a_day(client: Client, siti: Client, budi: Client, limited: None) -> None:
    thread_id = write_thread(siti)["id"]
    replies = [write_reply(siti, thread_id)["id"] for _ in range(3)]
    assert [report(budi, thread_id) for _ in range(18)] == [201] + [200] * 17
    for reply_id in replies[:2]:
        assert budi.post(f"/forum/replies/{reply_id}/lapor", {"reason": "spam"}).status_code == 201
    assert_error(budi.post(f"/forum/replies/{replies[2]}/lapor", {"reason": "spam"}), 429, "too_many_requests")
    assert report(client.as_(make_user()), thread_id) == 201


def test_three_reports_hide_a_post_until_it_is_decided(client: Client, siti: Client, admin: Client) -> None:
    thread_id = write_thread(siti)["id"]
    reply_id = write_reply(siti, thread_id)["id"]
    people = [reporter(client) for _ in range(3)]
    for number, who in enumerate(people, 1):
        assert report(who, thread_id, "hate") == 201
        assert who.post(f"/forum/replies/{reply_id}/lapor", {"reason": "spam"}).status_code == 201
        assert is_hidden(client, thread_id) is (number == 3)
    assert read_thread(client, thread_id)["replies"][0]["content"] == HIDDEN
    assert read_thread(siti, thread_id)["hidden_reason"] == REPORTED
    assert {case["state"] for case in cases(admin)} == {"open"}
    moderate(admin, "keep", thread_id=thread_id)
    assert not is_hidden(client, thread_id)


def test_what_a_moderator_kept_is_hidden_by_no_crowd_unless_it_changes(
    client: Client, siti: Client, admin: Client
) -> None:
    thread_id = write_thread(siti)["id"]
    moderate(admin, "keep", thread_id=thread_id)
    for _ in range(4):
        report(reporter(client), thread_id)
    assert not is_hidden(client, thread_id)
    assert cases(admin)[0]["state"] == "open"  # a moderator looks again all the same
    db.session.execute(sa.text("UPDATE forum_cases SET decided_at = now() - interval '1 hour'"))
    db.session.execute(sa.text("UPDATE forum_reports SET created_at = now() - interval '2 hours'"))
    siti.put(f"/forum/threads/{thread_id}", {"content": "Beli di sini."})
    for number in range(1, 4):
        report(reporter(client), thread_id)
        assert is_hidden(client, thread_id) is (number == 3)


def test_accounts_younger_than_seven_days_hide_nothing(client: Client, siti: Client) -> None:
    thread_id = write_thread(siti)["id"]
    for days in (0, 1, 6, 8, 8):
        report(reporter(client, days=days), thread_id)
    assert not is_hidden(client, thread_id)
    report(reporter(client), thread_id)
    assert is_hidden(client, thread_id)


def test_worry_about_a_life_hides_nothing_and_is_urgent(client: Client, siti: Client, admin: Client) -> None:
    thread_id = write_thread(siti)["id"]
    for _ in range(4):
        report(reporter(client), thread_id, "self_harm")
    report(reporter(client), thread_id, "other")
    report(reporter(client), thread_id, "other")
    assert not is_hidden(client, thread_id)
    assert cases(admin)[0]["urgent"] is True


def test_who_reported_falsely_five_times_of_six_counts_no_more(client: Client, siti: Client, admin: Client) -> None:
    crier = reporter(client)
    for number in range(6):
        thread_id = write_thread(siti)["id"]
        report(crier, thread_id)
        moderate(admin, "hide" if number == 4 else "keep", thread_id=thread_id)
    other = write_thread(siti)["id"]
    for who in (crier, reporter(client), reporter(client)):
        report(who, other)
    assert not is_hidden(client, other)
    report(reporter(client), other)
    assert is_hidden(client, other)


def test_who_reported_falsely_four_times_of_six_still_counts(client: Client, siti: Client, admin: Client) -> None:
    who = reporter(client)
    for number in range(6):
        thread_id = write_thread(siti)["id"]
        report(who, thread_id)
        moderate(admin, "keep" if number < 4 else "delete", thread_id=thread_id)
    other = write_thread(siti)["id"]
    for each in (who, reporter(client), reporter(client)):
        report(each, other)
    assert is_hidden(client, other)


def test_worry_that_turns_out_wrong_is_no_false_report(client: Client, siti: Client, admin: Client) -> None:
    who = reporter(client)
    for _ in range(6):
        thread_id = write_thread(siti)["id"]
        report(who, thread_id, "self_harm")
        moderate(admin, "keep", thread_id=thread_id)
    other = write_thread(siti)["id"]
    for each in (who, reporter(client), reporter(client)):
        report(each, other)
    assert is_hidden(client, other)
