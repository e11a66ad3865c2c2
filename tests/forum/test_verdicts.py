"""Notices to authors about decisions. A notice is sent once, by message and push, without data of other people."""

from __future__ import annotations

import pytest
import sqlalchemy as sa

from app.core.database.session import db
from app.forum.models import ForumThread
from app.forum.service.verdicts import APPEAL
from app.notifications.delivery import claims, drain, rendering
from app.notifications.delivery.claims import UnwantedError
from app.notifications.models import Delivery
from tests.forum.people import report_by_three
from tests.forum.posts import cases, moderate, report, write_reply, write_thread
from tests.helpers.client import Client
from tests.helpers.factories import make_user
from tests.helpers.language import assert_readable
from tests.notifications.deliveries import words_of

BY_REPORTS = (
    "Kami menyembunyikan tulisan Anda “Menu harian” di forum. "
    f"Alasannya: Beberapa orang melaporkan tulisan ini. {APPEAL}"
)


def told() -> list[str]:
    """Return the texts of unsent messages. Assert that the unsent pushes have the same texts."""
    db.session.expire_all()
    rows = db.session.scalars(
        sa.select(Delivery).filter_by(kind="post_moderated", state="pending").order_by(Delivery.id)
    ).all()
    said = [(row.channel, words_of(row)) for row in rows]
    texts = [words["text"] for channel, words in said if channel == "messaging" and words]
    assert [words["body"] for channel, words in said if channel == "push_fan_out" and words] == texts
    for text in texts:
        assert_readable(text)
    return texts


def send() -> None:
    db.session.execute(sa.update(Delivery).where(Delivery.state == "pending").values(state="sent"))
    db.session.commit()


def test_the_author_is_notified_of_hiding_by_reports_and_of_a_later_keep(
    client: Client, siti: Client, admin: Client
) -> None:
    thread_id = write_thread(siti)["id"]
    report_by_three(client, f"threads/{thread_id}")
    assert told() == [BY_REPORTS]
    report(client.as_(make_user()), f"threads/{thread_id}")
    assert told() == [BY_REPORTS]
    send()
    assert siti.post(f"/forum/threads/{thread_id}/banding", {"note": "Saya hanya bertanya."}).status_code == 201
    assert told() == []
    moderate(admin, "keep", "Ini pertanyaan biasa", thread_id=thread_id)
    assert told() == [
        "Moderator sudah memeriksa tulisan Anda “Menu harian” di forum. Sekarang semua orang dapat membacanya lagi. "
        "Alasannya: Ini pertanyaan biasa."
    ]


def test_the_notice_of_a_hidden_reply_has_the_reason_and_how_to_appeal(
    siti: Client, budi: Client, admin: Client
) -> None:
    thread_id = write_thread(siti)["id"]
    reply_id = write_reply(budi, thread_id)["id"]
    send()
    moderate(admin, "hide", "Iklan, lihat judi.com", reply_id=reply_id)
    assert told() == [
        "Kami menyembunyikan balasan Anda di utas “Menu harian” di forum. Alasannya: Iklan, lihat judi. com. " + APPEAL
    ]
    (row,) = db.session.scalars(sa.select(Delivery).filter_by(state="pending", channel="messaging"))
    assert (row.user_id, "Iklan" in str(row.payload)) == (budi.id, False)


def test_the_author_is_notified_if_a_post_stays_hidden_after_review(
    client: Client, siti: Client, admin: Client
) -> None:
    thread_id = write_thread(siti)["id"]
    report_by_three(client, f"threads/{thread_id}")
    send()
    moderate(admin, "hide", "Iklan.", thread_id=thread_id)
    still = (
        "Moderator sudah memeriksa tulisan Anda “Menu harian” di forum, dan tetap menyembunyikannya. "
        f"Alasannya: Iklan. {APPEAL}"
    )
    assert told() == [still]
    moderate(admin, "hide", "Iklan.", thread_id=thread_id)
    assert told() == [still]
    send()
    siti.post(f"/forum/threads/{thread_id}/banding", {"note": "Bukan."})
    moderate(admin, "hide", "Iklan.", thread_id=thread_id)
    assert told() == [still]


@pytest.mark.parametrize("before", ["hide", None])
def test_the_author_is_notified_of_a_deletion_by_a_moderator(siti: Client, admin: Client, before: str | None) -> None:
    thread_id = write_thread(siti)["id"]
    if before:
        moderate(admin, before, thread_id=thread_id)
    moderate(admin, "delete", "Menipu!", thread_id=thread_id)
    assert told() == ["Moderator menghapus tulisan Anda “Menu harian” di forum. Alasannya: Menipu!"]


def test_keeping_a_visible_post_does_not_notify_the_author(
    client: Client, siti: Client, budi: Client, admin: Client
) -> None:
    thread_id = write_thread(siti)["id"]
    report(budi, f"threads/{thread_id}")
    moderate(admin, "keep", thread_id=thread_id)
    assert told() == []


def test_a_newer_decision_replaces_the_pending_notice(client: Client, siti: Client, admin: Client) -> None:
    thread_id = write_thread(siti)["id"]
    moderate(admin, "hide", thread_id=thread_id)
    moderate(admin, "keep", thread_id=thread_id)
    assert [text.split(" ")[0] for text in told()] == ["Moderator"]
    moderate(admin, "hide", "Lagi.", thread_id=thread_id)
    assert len(told()) == 1
    assert siti.delete(f"/forum/threads/{thread_id}").status_code == 200
    assert told() == []


def test_a_claimed_notice_of_a_post_that_is_no_longer_hidden_is_not_sent(siti: Client, admin: Client) -> None:
    thread_id = write_thread(siti)["id"]
    moderate(admin, "hide", thread_id=thread_id)
    db.session.execute(sa.update(ForumThread).values(hidden_reason=None))
    db.session.commit()
    found = claims.claim("urgent", "messaging")
    assert found is not None
    with pytest.raises(UnwantedError):
        rendering.render(found, drain.routing().render)


def test_the_notice_reveals_no_reporter_and_no_pseudonymous_author(client: Client, siti: Client, admin: Client) -> None:
    thread_id = write_thread(siti, title="Rahasia saya", use_pseudonym=True)["id"]
    report_by_three(client, f"threads/{thread_id}", "hate")
    moderate(admin, "hide", "Kasar.", thread_id=thread_id)
    (text,) = told()
    assert not [word for word in ("Rahasia", "Siti", "Melati", "Orang Nomor", "Samaran") if word in text]
    assert siti.get("/pengiriman").json[0]["title"] == "Kabar tentang tulisan Anda di forum"
    assert admin.get(f"/admins/users/{siti.id}/pengiriman").json == []
    assert "Orang Nomor" not in str(cases(admin))


def test_a_deleted_author_is_not_notified(client: Client, siti: Client, admin: Client) -> None:
    thread_id = write_thread(siti)["id"]
    db.session.execute(sa.text("DELETE FROM users WHERE id = :id"), {"id": siti.id})
    db.session.commit()
    moderate(admin, "hide", thread_id=thread_id)
    assert told() == []
