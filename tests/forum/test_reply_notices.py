"""Messages about replies: the first of ten minutes at once, the rest together at their end."""

from datetime import timedelta

import pytest
import sqlalchemy as sa

from app.core.database.session import db, unit_of_work
from app.notifications.delivery import claims, drain, rendering, settlements
from app.notifications.delivery.claims import UnwantedError
from app.notifications.models import Delivery
from tests.forum.posts import moderate, write_reply, write_thread
from tests.helpers.factories import make_user
from tests.routes.requests import undone

MENU = "utas Anda “Menu” di forum."


@pytest.fixture
def thread_id(siti):
    return int(write_thread(siti, title="Menu")["id"])


@pytest.fixture
def rina(client):
    return client.as_(make_user(nama_ktp="Rina Wijaya"))


def notices():
    db.session.expire_all()
    return list(db.session.scalars(sa.select(Delivery).filter_by(kind="forum_reply").order_by(Delivery.id)))


def arrive():
    """Let the bucket end, and send all messages. Return the texts that are sent."""
    with unit_of_work():
        waiting = sa.update(Delivery).where(Delivery.kind == "forum_reply", Delivery.state == "pending")
        db.session.execute(waiting.values(next_try_at=sa.func.now() - timedelta(seconds=1)))
    texts = []
    while claimed := claims.claim("urgent", "messaging"):
        try:
            rendering.render(claimed, drain.routing().render)
        except UnwantedError:
            settlements.record_cancelled(claimed, "nothing to say")
            continue
        claims.begin(claimed)
        settlements.record_sent(claimed, "ref")
        texts.append(str(claimed.words["text"]))
    return texts


def test_the_first_reply_is_told_at_once_and_the_rest_at_the_end_of_the_bucket(siti, budi, thread_id):
    for _ in range(6):
        write_reply(budi, thread_id)
    write_reply(siti, thread_id)
    first, rest = notices()
    assert {notice.user_id for notice in (first, rest)} == {siti.id}
    assert first.due_at <= db.session.scalar(sa.select(sa.func.clock_timestamp()))
    assert rest.due_at.timestamp() % 600 == 0
    assert timedelta() < rest.due_at - first.due_at <= timedelta(minutes=10)
    assert [notice.expires_at - notice.due_at for notice in (first, rest)] == [timedelta(hours=24)] * 2
    assert "Budi" not in str([notice.payload for notice in (first, rest)])


def test_each_message_counts_the_replies_since_the_last_one(budi, rina, thread_id):
    write_reply(budi, thread_id)
    assert arrive() == [f"Budi Hartono membalas {MENU}"]
    write_reply(rina, thread_id)
    write_reply(budi, thread_id)
    write_reply(budi, thread_id, use_pseudonym=True)
    assert arrive() == [f"Ada balasan dari Rina Wijaya dan 2 balasan lain di {MENU}"]
    assert arrive() == []


def test_a_message_that_waited_counts_later_replies_and_the_other_one_is_cancelled(budi, thread_id):
    for _ in range(3):
        write_reply(budi, thread_id)
    assert arrive() == [f"Ada balasan dari Budi Hartono dan 2 balasan lain di {MENU}"]
    assert sorted(notice.state for notice in notices()) == ["cancelled", "sent"]


def test_replies_in_several_threads_are_one_message(siti, budi, thread_id):
    write_reply(budi, thread_id)
    write_reply(budi, write_thread(siti, title="Lain", use_pseudonym=True)["id"])
    assert arrive() == ["Ada balasan dari Budi Hartono dan 1 balasan lain di 2 utas Anda di forum."]


def test_a_reply_that_its_reader_does_not_see_is_not_counted(siti, budi, admin, thread_id, subtests):
    a_day_old = "UPDATE posts SET created_at = now() - interval '25 hours'"
    changes = {
        "own": lambda _: None,
        "deleted": lambda reply_id: budi.delete(f"/forum/replies/{reply_id}"),
        "hidden": lambda reply_id: moderate(admin, "hide", reply_id=reply_id),
        "blocked": lambda reply_id: siti.post(f"/forum/replies/{reply_id}/blokir"),
        "hidden thread": lambda _: moderate(admin, "hide", thread_id=thread_id),
        "deleted thread": lambda _: siti.delete(f"/forum/threads/{thread_id}"),
        "a day old": lambda _: db.session.execute(sa.text(a_day_old)),
    }
    for what, change in changes.items():
        with subtests.test(what), undone():
            change(write_reply(siti if what == "own" else budi, thread_id)["id"])
            db.session.execute(sa.delete(Delivery).where(Delivery.kind == "post_moderated"))
            db.session.commit()
            assert arrive() == []


def test_a_reply_after_a_cancelled_message_is_told_at_once(budi, rina, thread_id):
    budi.delete(f"/forum/replies/{write_reply(budi, thread_id)['id']}")
    assert arrive() == []
    write_reply(rina, thread_id)
    (notice,) = notices()
    assert notice.due_at <= db.session.scalar(sa.select(sa.func.clock_timestamp()))
    assert arrive() == [f"Rina Wijaya membalas {MENU}"]


def test_links_are_broken_and_titles_lose_numbers_and_end_at_80_characters(client, siti, subtests):
    for name, title, text in (
        ("Judi judi.com", "Menu https://a.zzz/x", "Judi judi. com membalas utas Anda “Menu https a. zzz/x” di forum."),
        ("dr. Ani", "Menu 1.500 kalori", "dr. Ani membalas utas Anda “Menu 1.500 kalori” di forum."),
        ("Ani", "0812-3456-7890", "Ani membalas utas Anda di forum."),
        ("Ani", "x" * 200, f"Ani membalas utas Anda “{'x' * 79}…” di forum."),
    ):
        with subtests.test(f"{name}: {title}"), undone():
            replier = client.as_(make_user(nama_ktp="x", nama_samaran=name))
            write_reply(replier, write_thread(siti, title=title)["id"], use_pseudonym=True)
            assert arrive() == [text]
