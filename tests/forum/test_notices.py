"""Notices of the forum: rows in the outbox and in the broadcasts."""

from __future__ import annotations

from datetime import timedelta

import pytest
import sqlalchemy as sa

from app.core.database.session import db
from app.core.lib import local_time
from app.forum.models import ForumCategory
from app.notifications.models import Broadcast, Delivery
from tests.forum.people import aged
from tests.forum.posts import cases, category_id, write_reply, write_thread
from tests.helpers.client import Client
from tests.notifications.deliveries import announced, words_of


def deliveries(**values: object) -> list[Delivery]:
    db.session.expire_all()
    return list(db.session.scalars(sa.select(Delivery).filter_by(**values).order_by(Delivery.id)))


def test_author_of_a_thread_is_notified_of_a_reply(siti: Client, budi: Client) -> None:
    thread = write_thread(siti, title="Menu")
    write_reply(budi, thread["id"], content="rahasia dokter")
    (delivery,) = deliveries()
    text = "Budi Hartono membalas utas Anda “Menu” di forum."
    assert (words_of(delivery), "Budi" in str(delivery.payload)) == ({"text": text}, False)
    assert (delivery.user_id, delivery.kind, delivery.channel, delivery.queue) == (
        siti.id, "forum_reply", "messaging", "urgent",
    )  # fmt: skip


def test_nobody_is_notified_of_their_own_reply(siti: Client, budi: Client) -> None:
    thread = write_thread(siti)
    write_reply(siti, thread["id"])
    assert deliveries() == []
    write_reply(budi, thread["id"])
    write_reply(siti, thread["id"])
    assert [delivery.user_id for delivery in deliveries()] == [siti.id]


def test_message_names_a_pseudonymous_replier_by_the_pseudonym(siti: Client, budi: Client) -> None:
    thread = write_thread(siti, title="x" * 200)
    write_reply(budi, thread["id"], use_pseudonym=True)
    (delivery,) = deliveries()
    assert words_of(delivery)["text"] == f"Elang membalas utas Anda “{'x' * 79}…” di forum."


def test_deletion_of_a_reply_or_a_thread_cancels_its_pending_notice(siti: Client, budi: Client) -> None:
    thread = write_thread(siti)
    first, second = (write_reply(budi, thread["id"]) for _ in range(2))
    assert all(map(words_of, deliveries()))
    budi.delete(f"/forum/replies/{first['id']}")
    assert [bool(words_of(delivery)) for delivery in deliveries()] == [False, True]
    siti.delete(f"/forum/threads/{thread['id']}")
    assert [delivery.state for delivery in deliveries()] == ["cancelled", "cancelled"]
    assert second["id"] > first["id"]


def test_an_edit_of_a_reply_does_not_resend_a_sent_notice(siti: Client, budi: Client) -> None:
    thread = write_thread(siti)
    reply = write_reply(budi, thread["id"])
    db.session.execute(sa.update(Delivery).values(state="sent"))
    db.session.commit()
    budi.put(f"/forum/replies/{reply['id']}", {"use_pseudonym": True})
    assert [delivery.state for delivery in deliveries()] == ["sent"]


def test_a_new_thread_is_broadcast_with_the_preference_tag_of_its_category(siti: Client) -> None:
    before = local_time.now()
    thread = write_thread(siti, title="Menu", use_pseudonym=True)
    (broadcast,) = db.session.scalars(sa.select(Broadcast)).all()
    assert (broadcast.kind, broadcast.about_id) == ("forum_thread", thread["id"])
    assert (broadcast.preference_tag, broadcast.except_user_id) == ("medical", siti.id)
    assert announced(broadcast) == "Utas baru di forum Medis: “Menu”"
    assert timedelta(seconds=29) < broadcast.starts_at - before < timedelta(seconds=302)


def test_the_thread_of_a_new_account_is_broadcast_like_any_other(client: Client, admin: Client) -> None:
    write_thread(aged(client, hours=0))
    assert db.session.scalars(sa.select(Broadcast.state)).all() == ["open"]
    assert cases(admin) == []


def test_a_broadcast_of_the_general_category_has_no_preference_tag(siti: Client) -> None:
    write_thread(siti, category_id=category_id("Umum"))
    assert db.session.scalars(sa.select(Broadcast.preference_tag)).all() == [None]


def test_an_announcement_has_the_current_title_and_category_of_the_thread(siti: Client) -> None:
    path = f"/forum/threads/{write_thread(siti, title='Siti dari Bandung bertanya')['id']}"
    for change in ({"title": "Menu"}, {"category_id": category_id("Islam")}, {"content": "Lain"}):
        assert siti.put(path, change).status_code == 200
    (broadcast,) = db.session.scalars(sa.select(Broadcast)).all()
    assert (announced(broadcast), broadcast.preference_tag) == ("Utas baru di forum Islam: “Menu”", "islam")


@pytest.mark.parametrize(
    ("title", "text"),
    [
        ("Klaim klaim.help", "Utas baru di forum Medis: “Klaim klaim. help”"),
        ("bank.support", "Utas baru di forum Medis: “bank. support”"),
        ("Hubungi 0812-3456-7890 atau +62 812 3456 7890", "Utas baru di forum Medis: “Hubungi atau”"),
        ("Senam 24.11.2026 pukul 07.00-08.00", "Utas baru di forum Medis: “Senam 24.11.2026 pukul 07.00-08.00”"),
        ("Resi 123456789 dan 1000000000", "Utas baru di forum Medis: “Resi 123456789 dan 1000000000”"),
        ("m" * 90, f"Utas baru di forum Medis: “{'m' * 79}…”"),
    ],
)
def test_an_announcement_has_broken_links_and_no_phone_numbers(siti: Client, title: str, text: str) -> None:
    path = f"/forum/threads/{write_thread(siti, title=title)['id']}"
    assert announced(db.session.scalars(sa.select(Broadcast)).one()) == text
    siti.put(path, {"title": "Menu"})
    siti.put(path, {"title": title})
    db.session.expire_all()
    assert announced(db.session.scalars(sa.select(Broadcast)).one()) == text


def test_a_link_in_the_category_name_is_broken_in_an_announcement(siti: Client) -> None:
    category = db.session.get_one(ForumCategory, category_id("Umum"))
    category.name = "Umum klaim.help"
    write_thread(siti, title="Menu", category_id=category.id)
    assert announced(db.session.scalars(sa.select(Broadcast)).one()) == "Utas baru di forum Umum klaim. help: “Menu”"


def test_deletion_of_a_thread_deletes_its_broadcast(siti: Client) -> None:
    thread = write_thread(siti)
    siti.delete(f"/forum/threads/{thread['id']}")
    assert db.session.scalars(sa.select(Broadcast)).all() == []


def test_a_refused_thread_creates_no_broadcast(siti: Client) -> None:
    sent = {"category_id": 999_999, "title": "Menu", "content": "x"}
    assert siti.post("/forum/threads", sent).status_code == 400
    assert db.session.scalars(sa.select(Broadcast)).all() == []
