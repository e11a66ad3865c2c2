"""Broadcasts about new threads."""

from datetime import timedelta

import sqlalchemy as sa

from app.core.database.session import db
from app.core.lib import local_time
from app.identity.models import User
from app.notifications.models import Broadcast
from tests.forum.posts import category_id, write_thread
from tests.notifications.deliveries import announced
from tests.routes.requests import undone


def test_a_new_thread_is_broadcast_with_the_preference_tag_of_its_category(siti):
    before = local_time.now()
    db.session.execute(sa.update(User).values(created_at=sa.func.now()))  # the thread of a new account, too
    thread = write_thread(siti, title="Menu", use_pseudonym=True)
    (broadcast,) = db.session.scalars(sa.select(Broadcast)).all()
    assert (broadcast.kind, broadcast.about_id) == ("forum_thread", thread["id"])
    assert (broadcast.preference_tag, broadcast.except_user_id) == ("medical", siti.id)
    assert announced(broadcast) == "Utas baru di forum Medis: “Menu”"
    assert timedelta(seconds=29) < broadcast.starts_at - before < timedelta(seconds=302)


def test_an_announcement_has_the_current_title_and_category_of_the_thread(siti):
    path = f"/forum/threads/{write_thread(siti, title='Siti dari Bandung bertanya')['id']}"
    for change in ({"title": "Menu"}, {"category_id": category_id("Islam")}, {"content": "Lain"}):
        assert siti.put(path, change).status_code == 200
    (broadcast,) = db.session.scalars(sa.select(Broadcast)).all()
    assert (announced(broadcast), broadcast.preference_tag) == ("Utas baru di forum Islam: “Menu”", "islam")


def test_an_announcement_has_broken_links_and_no_phone_numbers(siti, subtests):
    for title, shown in {
        "Klaim klaim.help": "Klaim klaim. help",
        "Hubungi 0812-3456-7890 atau +62 812 3456 7890": "Hubungi atau",
        "Senam 24.11.2026 pukul 07.00-08.00": "Senam 24.11.2026 pukul 07.00-08.00",
        "Resi 123456789 dan 1000000000": "Resi 123456789 dan 1000000000",
        "m" * 90: f"{'m' * 79}…",
    }.items():
        with subtests.test(title), undone():
            path = f"/forum/threads/{write_thread(siti, title=title)['id']}"
            text = f"Utas baru di forum Medis: “{shown}”"
            assert announced(db.session.scalars(sa.select(Broadcast)).one()) == text
            siti.put(path, {"title": "Menu"})
            siti.put(path, {"title": title})
            db.session.expire_all()
            assert announced(db.session.scalars(sa.select(Broadcast)).one()) == text


def test_a_refused_or_deleted_thread_has_no_broadcast(siti):
    assert siti.post("/forum/threads", {"category_id": 999_999, "title": "Menu", "content": "x"}).status_code == 400
    siti.delete(f"/forum/threads/{write_thread(siti)['id']}")
    assert db.session.scalars(sa.select(Broadcast)).all() == []
