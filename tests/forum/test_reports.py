"""Reports and appeals: when reports hide a post, and when its author may appeal."""

import sqlalchemy as sa

from app.core.database.session import db
from app.forum.service.reads import HIDDEN, REPORTED
from tests.forum.people import aged
from tests.forum.posts import cases, moderate, read_thread, report, write_post, write_reply, write_thread
from tests.helpers.client import assert_error
from tests.helpers.factories import make_user


def is_hidden(reader, thread_id):
    return bool(read_thread(reader, thread_id)["title"] == HIDDEN)


def test_20_reports_a_day_of_threads_and_replies_are_counted_together(client, siti, budi, limited):
    thread_id = write_thread(siti)["id"]
    reply_id = write_reply(siti, thread_id)["id"]
    for _ in range(10):
        report(budi, f"threads/{thread_id}")
        report(budi, f"replies/{reply_id}")
    assert_error(budi.post(f"/forum/replies/{reply_id}/lapor", {"reason": "spam"}), 429, "too_many_requests")
    report(client.as_(make_user()), f"threads/{thread_id}")


def test_three_reports_hide_a_post_until_a_moderator_keeps_the_post(client, siti, admin):
    thread_id = write_thread(siti)["id"]
    reply_id = write_reply(siti, thread_id)["id"]
    people = [aged(client, days=8) for _ in range(3)]
    for number, who in enumerate(people, 1):
        report(who, f"threads/{thread_id}", "hate")
        report(who, f"replies/{reply_id}")
        assert is_hidden(client, thread_id) is (number == 3)
    assert read_thread(client, thread_id)["replies"][0]["content"] == HIDDEN
    assert read_thread(siti, thread_id)["hidden_reason"] == REPORTED
    assert {case["state"] for case in cases(admin)} == {"open"}
    moderate(admin, "keep", thread_id=thread_id)
    assert not is_hidden(client, thread_id)


def test_reports_do_not_hide_a_post_kept_by_a_moderator_until_an_edit(client, siti, admin):
    thread_id = write_thread(siti)["id"]
    moderate(admin, "keep", thread_id=thread_id)
    db.session.execute(sa.text("UPDATE posts SET updated_at = now() - interval '2 hours'"))
    db.session.execute(sa.text("UPDATE cases SET decided_at = now() - interval '1 hour'"))
    for _ in range(4):
        report(aged(client, days=8), f"threads/{thread_id}")
    assert not is_hidden(client, thread_id)
    (case,) = cases(admin)
    assert (case["state"], len(case["reports"])) == ("kept", 5)  # the reports are stored and open nothing
    db.session.execute(sa.text("UPDATE reports SET created_at = now() - interval '2 hours'"))
    siti.put(f"/forum/threads/{thread_id}", {"content": "Beli di sini."})
    for number in range(1, 4):
        report(aged(client, days=8), f"threads/{thread_id}")
        assert cases(admin)[0]["state"] == "open"
        assert is_hidden(client, thread_id) is (number == 3)


def test_reports_of_accounts_younger_than_seven_days_do_not_hide_a_post(client, siti):
    thread_id = write_thread(siti)["id"]
    for days in (0, 1, 6, 8, 8):
        report(aged(client, days=days), f"threads/{thread_id}")
    assert not is_hidden(client, thread_id)
    report(aged(client, days=8), f"threads/{thread_id}")
    assert is_hidden(client, thread_id)


def test_self_harm_reports_do_not_hide_a_post_and_make_its_case_urgent(client, siti, admin):
    thread_id = write_thread(siti)["id"]
    for _ in range(4):
        report(aged(client, days=8), f"threads/{thread_id}", "self_harm")
    report(aged(client, days=8), f"threads/{thread_id}", "other")
    report(aged(client, days=8), f"threads/{thread_id}", "other")
    assert not is_hidden(client, thread_id)
    assert cases(admin)[0]["urgent"] is True


def test_an_author_appeals_against_a_hidden_post(siti, admin, noun):
    _, post_id = write_post(noun, siti)
    post = {"thread_id" if noun == "threads" else "reply_id": post_id}
    path = f"/forum/{noun}/{post_id}/banding"
    assert_error(siti.post(path, {"note": "Mengapa?"}), 409, "not_hidden")
    moderate(admin, "hide", **post)
    first = siti.post(path, {"note": "Ini bukan iklan."})
    assert (first.status_code, first.json) == (201, {"appeal": "Ini bukan iklan."})
    assert siti.post(path, {"note": "Sungguh."}).status_code == 200
    (case,) = cases(admin, "?banding=true")
    assert (case["appeal"], case["state"], case["hidden_by"]) == ("Sungguh.", "open", "moderator")
    assert cases(admin, "?banding=false") == []
    moderate(admin, "hide", **post)
    assert cases(admin, "?banding=true") == []
    assert siti.post(path, {"note": "Sekali lagi."}).status_code == 201
    moderate(admin, "keep", **post)
    assert_error(siti.post(path, {"note": "Lagi?"}), 409, "not_hidden")
