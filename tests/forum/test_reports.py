"""Reports: who may report which posts, and when reports hide a post."""

from __future__ import annotations

from typing import Any

import pytest
import sqlalchemy as sa

from app.core.database.session import db
from app.forum.models import ForumReport
from app.forum.service.hiding import REPORTED
from app.forum.service.reads.posts import HIDDEN
from app.identity.models import User
from tests.forum.posts import cases, moderate, read_thread, write_reply, write_thread
from tests.helpers.client import Client, assert_error
from tests.helpers.factories import make_user


def reporter(client: Client, *, days: int = 8) -> Client:
    """Return a client that is logged in as a new person, with an account of this age in days."""
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


def test_the_rate_limit_of_reports_is_20_for_each_person(
    client: Client, siti: Client, budi: Client, limited: None
) -> None:
    thread_id = write_thread(siti)["id"]
    replies = [write_reply(siti, thread_id)["id"] for _ in range(3)]
    assert [report(budi, thread_id) for _ in range(18)] == [201] + [200] * 17
    for reply_id in replies[:2]:
        assert budi.post(f"/forum/replies/{reply_id}/lapor", {"reason": "spam"}).status_code == 201
    assert_error(budi.post(f"/forum/replies/{replies[2]}/lapor", {"reason": "spam"}), 429, "too_many_requests")
    assert report(client.as_(make_user()), thread_id) == 201


def test_three_reports_hide_a_post_until_a_moderator_keeps_the_post(
    client: Client, siti: Client, admin: Client
) -> None:
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


def test_reports_do_not_hide_a_post_kept_by_a_moderator_until_an_edit(
    client: Client, siti: Client, admin: Client
) -> None:
    thread_id = write_thread(siti)["id"]
    moderate(admin, "keep", thread_id=thread_id)
    for _ in range(4):
        report(reporter(client), thread_id)
    assert not is_hidden(client, thread_id)
    (case,) = cases(admin)
    assert (case["state"], len(case["reports"])) == ("kept", 4)  # the reports are stored and open nothing
    db.session.execute(sa.text("UPDATE forum_cases SET decided_at = now() - interval '1 hour'"))
    db.session.execute(sa.text("UPDATE forum_reports SET created_at = now() - interval '2 hours'"))
    siti.put(f"/forum/threads/{thread_id}", {"content": "Beli di sini."})
    for number in range(1, 4):
        report(reporter(client), thread_id)
        assert cases(admin)[0]["state"] == "open"
        assert is_hidden(client, thread_id) is (number == 3)


def test_reports_of_accounts_younger_than_seven_days_do_not_hide_a_post(client: Client, siti: Client) -> None:
    thread_id = write_thread(siti)["id"]
    for days in (0, 1, 6, 8, 8):
        report(reporter(client, days=days), thread_id)
    assert not is_hidden(client, thread_id)
    report(reporter(client), thread_id)
    assert is_hidden(client, thread_id)


def test_self_harm_reports_do_not_hide_a_post_and_make_its_case_urgent(
    client: Client, siti: Client, admin: Client
) -> None:
    thread_id = write_thread(siti)["id"]
    for _ in range(4):
        report(reporter(client), thread_id, "self_harm")
    report(reporter(client), thread_id, "other")
    report(reporter(client), thread_id, "other")
    assert not is_hidden(client, thread_id)
    assert cases(admin)[0]["urgent"] is True


def days_ago(days: float) -> Any:
    return sa.func.now() - sa.func.make_interval(0, 0, 0, 0, 0, 0, days * 86400)


def counts(who: Client, client: Client, siti: Client) -> bool:
    """Return whether a report of this person and two other reports hide a post."""
    thread_id = write_thread(siti)["id"]
    for each in (who, reporter(client), reporter(client)):
        assert report(each, thread_id) == 201
    return is_hidden(client, thread_id)


def report_falsely(who: Client, siti: Client, admin: Client, days: float) -> None:
    """Report a post. A moderator then decides to keep the post. Set the time of the decision to `days` ago."""
    thread_id = write_thread(siti)["id"]
    report(who, thread_id)
    moderate(admin, "keep", thread_id=thread_id)
    newest = sa.select(sa.func.max(ForumReport.id)).scalar_subquery()
    db.session.execute(sa.update(ForumReport).where(ForumReport.id == newest).values(kept_at=days_ago(days)))
    db.session.commit()


@pytest.mark.parametrize(
    ("kept", "still"),
    [
        ((0, 0), True),
        ((0, 0, 0), False),
        ((29, 15, 1), False),
        ((32, 15, 1), True),
        ((58, 45, 31), True),
        ((58, 45, 29.5), False),
        ((59, 31, 29), False),
        ((61, 45, 29), True),
    ],
)
def test_three_false_reports_in_30_days_exclude_a_reporter_for_30_days(
    client: Client, siti: Client, admin: Client, kept: tuple[float, ...], still: bool
) -> None:
    who = reporter(client)
    for days in kept:
        report_falsely(who, siti, admin, days)
    assert counts(who, client, siti) is still
    assert counts(reporter(client), client, siti)


def test_a_changed_decision_cancels_the_false_report(client: Client, siti: Client, admin: Client) -> None:
    who = reporter(client)
    for days in (0, 0, 0):
        report_falsely(who, siti, admin, days)
    assert not counts(who, client, siti)
    case = cases(admin, "?state=kept")[0]
    admin.put(f"/admins/moderasi/{case['id']}", {"decision": "hide", "reason": "Ternyata iklan."})
    assert counts(who, client, siti)


def test_a_report_that_does_not_count_gets_the_normal_response(client: Client, siti: Client, admin: Client) -> None:
    who, other = reporter(client), reporter(client)
    for _ in range(3):
        report_falsely(who, siti, admin, 0)
    thread_id = write_thread(siti)["id"]
    answers = [each.post(f"/forum/threads/{thread_id}/lapor", {"reason": "spam"}) for each in (who, other)]
    assert {(answer.status_code, tuple(answer.json)) for answer in answers} == {
        (201, ("id", "reason", "note", "created_at"))
    }
    assert len(next(case for case in cases(admin) if case["thread_id"] == thread_id)["reports"]) == 2


def test_a_self_harm_report_of_a_kept_post_is_not_a_false_report(client: Client, siti: Client, admin: Client) -> None:
    who = reporter(client)
    for _ in range(6):
        thread_id = write_thread(siti)["id"]
        report(who, thread_id, "self_harm")
        moderate(admin, "keep", thread_id=thread_id)
    other = write_thread(siti)["id"]
    for each in (who, reporter(client), reporter(client)):
        report(each, other)
    assert is_hidden(client, other)
