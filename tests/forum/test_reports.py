"""Reports: who may report which posts, and when reports hide a post."""

import sqlalchemy as sa

from app.core.database.session import db
from app.forum.service.reads import HIDDEN, REPORTED
from app.identity.models import User
from tests.forum.posts import cases, moderate, read_thread, write_reply, write_thread
from tests.helpers.client import assert_error
from tests.helpers.factories import make_user


def reporter(client, *, days=8):
    """Return a client that is logged in as a new person, with an account of this age in days."""
    user = make_user()
    changed = (
        sa.update(User)
        .where(User.id == user.id)
        .values(created_at=sa.func.now() - sa.func.make_interval(0, 0, 0, days))
    )
    db.session.execute(changed)
    return client.as_(user)


def report(who, thread_id, reason="spam", **data):
    response = who.post(f"/forum/threads/{thread_id}/lapor", {"reason": reason, **data})
    return response.status_code


def is_hidden(reader, thread_id):
    return bool(read_thread(reader, thread_id)["title"] == HIDDEN)


def test_the_rate_limit_of_reports_is_20_for_each_person(client, siti, budi, limited):
    thread_id = write_thread(siti)["id"]
    replies = [write_reply(siti, thread_id)["id"] for _ in range(3)]
    assert [report(budi, thread_id) for _ in range(18)] == [201] + [200] * 17
    for reply_id in replies[:2]:
        assert budi.post(f"/forum/replies/{reply_id}/lapor", {"reason": "spam"}).status_code == 201
    assert_error(budi.post(f"/forum/replies/{replies[2]}/lapor", {"reason": "spam"}), 429, "too_many_requests")
    assert report(client.as_(make_user()), thread_id) == 201


def test_three_reports_hide_a_post_until_a_moderator_keeps_the_post(client, siti, admin):
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


def test_reports_do_not_hide_a_post_kept_by_a_moderator_until_an_edit(client, siti, admin):
    thread_id = write_thread(siti)["id"]
    moderate(admin, "keep", thread_id=thread_id)
    for _ in range(4):
        report(reporter(client), thread_id)
    assert not is_hidden(client, thread_id)
    (case,) = cases(admin)
    assert (case["state"], len(case["reports"])) == ("kept", 5)  # the reports are stored and open nothing
    db.session.execute(sa.text("UPDATE cases SET decided_at = now() - interval '1 hour'"))
    db.session.execute(sa.text("UPDATE reports SET created_at = now() - interval '2 hours'"))
    siti.put(f"/forum/threads/{thread_id}", {"content": "Beli di sini."})
    for number in range(1, 4):
        report(reporter(client), thread_id)
        assert cases(admin)[0]["state"] == "open"
        assert is_hidden(client, thread_id) is (number == 3)


def test_reports_of_accounts_younger_than_seven_days_do_not_hide_a_post(client, siti):
    thread_id = write_thread(siti)["id"]
    for days in (0, 1, 6, 8, 8):
        report(reporter(client, days=days), thread_id)
    assert not is_hidden(client, thread_id)
    report(reporter(client), thread_id)
    assert is_hidden(client, thread_id)


def test_self_harm_reports_do_not_hide_a_post_and_make_its_case_urgent(client, siti, admin):
    thread_id = write_thread(siti)["id"]
    for _ in range(4):
        report(reporter(client), thread_id, "self_harm")
    report(reporter(client), thread_id, "other")
    report(reporter(client), thread_id, "other")
    assert not is_hidden(client, thread_id)
    assert cases(admin)[0]["urgent"] is True
