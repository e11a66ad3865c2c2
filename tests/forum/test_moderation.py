"""Notices of moderation: pushes to administrators about cases, and the author's message about the state of a post."""

import pytest
import sqlalchemy as sa

from app.core.database.session import db
from app.forum.service.reads import HIDDEN
from app.notifications.models import Delivery
from tests.forum.people import report_by_three
from tests.forum.posts import cases, moderate, read_thread, report, write_reply, write_thread
from tests.helpers.factories import make_admin, make_user
from tests.helpers.language import assert_readable
from tests.notifications.deliveries import words_of

# --- pushes to administrators ---------------------------------------------------------------------------------------


def pushes():
    """Return the recipients and the titles of the pushes. A title is None if the push would not be sent any more."""
    kept = sa.select(Delivery).where(Delivery.kind == "moderation").order_by(Delivery.id)
    return [(row.user_id, words_of(row).get("title")) for row in db.session.scalars(kept)]


@pytest.mark.parametrize("preferences", [{"moderation": True}, '{"moderation": true}', {"moderation": True, "x": []}])
def test_a_new_case_notifies_only_administrators_who_opted_in(client, siti, budi, preferences):
    wants = make_admin(preferences=preferences)
    make_admin()
    make_admin(preferences={"moderation": False})
    make_user(preferences={"moderation": True})
    thread_id = write_thread(siti)["id"]
    report(budi, f"threads/{thread_id}")
    report(client.as_(make_user()), f"threads/{thread_id}")
    assert pushes() == [(wants.id, "Kasus moderasi baru")]
    moderate(client.as_(wants), "keep", thread_id=thread_id)
    assert pushes() == [(wants.id, None)]


def test_a_case_that_becomes_urgent_is_notified_once_more(client, siti, budi):
    wants = make_admin(preferences={"moderation": True})
    thread_id = write_thread(siti)["id"]
    for reason in ("spam", "self_harm", "self_harm"):
        report(budi, f"threads/{thread_id}", reason)
    report(client.as_(make_user()), f"threads/{thread_id}", "self_harm")
    assert [title for _, title in pushes()] == ["Kasus mendesak"] * 2  # both say the state of the case now
    moderate(client.as_(wants), "hide", thread_id=thread_id)
    siti.put(f"/forum/threads/{thread_id}", {"content": "Aku ingin mati."})
    assert len(pushes()) == 3
    (case,) = cases(client.as_(wants), "?state=open")
    assert (case["urgent"], read_thread(client, thread_id)["title"]) == (True, HIDDEN)


# --- notices to authors ---------------------------------------------------------------------------------------------

APPEAL = "Kalau menurut Anda ini keliru, buka {} itu di aplikasi, lalu ajukan banding."
HIDE = "Kami menyembunyikan {} Anda di forum. Alasannya: {} " + APPEAL
SHOW = "Moderator sudah memeriksa {} Anda di forum. Sekarang semua orang dapat membacanya lagi. Alasannya: {}"
BY_REPORTS = HIDE.format("tulisan", "Beberapa orang melaporkan tulisan ini.", "tulisan")


def told():
    """Return the texts of unsent messages, and mark them as sent. Assert that the pushes have the same texts."""
    db.session.expire_all()
    waiting = sa.select(Delivery).filter_by(kind="post_moderated", state="pending").order_by(Delivery.id)
    said = [(row.channel, words_of(row)) for row in db.session.scalars(waiting).all()]
    texts = [words["text"] for channel, words in said if channel == "messaging" and words]
    assert [words["body"] for channel, words in said if channel == "push_fan_out" and words] == texts
    for text in texts:
        assert_readable(text)
    db.session.execute(sa.update(Delivery).where(Delivery.state == "pending").values(state="sent"))
    db.session.commit()
    return texts


@pytest.mark.parametrize("noun", ["tulisan", "balasan"])
def test_the_author_is_told_when_a_moderator_hides_and_shows_a_post(siti, admin, noun):
    post_id = write_thread(siti)["id"]
    post = {"thread_id": post_id} if noun == "tulisan" else {"reply_id": write_reply(siti, post_id)["id"]}
    moderate(admin, "hide", "Iklan judi.com", **post)
    assert told() == [HIDE.format(noun, "Iklan judi. com.", noun)]
    moderate(admin, "hide", "Iklan judi.com", **post)  # the same decision again
    assert told() == []
    moderate(admin, "keep", "Maaf!", **post)
    assert told() == [SHOW.format(noun, "Maaf!")]
    moderate(admin, "keep", "Sungguh.", **post)  # the post was not hidden
    assert told() == []


def test_the_author_is_told_of_reports_and_of_the_decision_about_them(client, siti, admin):
    thread_id = write_thread(siti)["id"]
    report_by_three(client, f"threads/{thread_id}")
    assert told() == [BY_REPORTS]
    report(client.as_(make_user()), f"threads/{thread_id}")
    assert siti.post(f"/forum/threads/{thread_id}/banding", {"note": "Saya hanya bertanya."}).status_code == 201
    assert told() == []
    moderate(admin, "hide", "Iklan.", thread_id=thread_id)
    assert told() == [HIDE.format("tulisan", "Iklan.", "tulisan")]
    assert siti.post(f"/forum/threads/{thread_id}/banding", {"note": "Bukan iklan."}).status_code == 201
    moderate(admin, "hide", "Iklan.", thread_id=thread_id)  # the same decision, but about an appeal
    assert told() == [HIDE.format("tulisan", "Iklan.", "tulisan")]


def test_a_notice_tells_the_state_at_the_time_when_it_leaves(siti, budi, admin):
    thread_id = write_thread(siti)["id"]
    for decision in ("hide", "keep", "hide", "keep"):
        moderate(admin, decision, "Diperiksa.", thread_id=thread_id)
    assert told() == [SHOW.format("tulisan", "Diperiksa.")]
    moderate(admin, "hide", thread_id=thread_id)
    siti.delete(f"/forum/threads/{thread_id}")
    assert told() == []


def test_keeping_a_visible_post_and_a_deleted_author_cause_no_notice(siti, budi, admin):
    kept, orphan = write_thread(siti)["id"], write_thread(siti)["id"]
    report(budi, f"threads/{kept}")
    moderate(admin, "keep", thread_id=kept)
    assert told() == []
    db.session.execute(sa.text("DELETE FROM users WHERE id = :id"), {"id": siti.id})
    db.session.commit()
    moderate(admin, "hide", thread_id=orphan)
    assert told() == []
