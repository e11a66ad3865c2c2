"""Messages about replies: at most one per person in ten minutes, about all replies since the last message."""

from __future__ import annotations

from datetime import timedelta
from itertools import pairwise

import pytest
import sqlalchemy as sa

from app.core.database.session import db
from app.core.lib import local_time
from app.forum.models import ReplyNotice
from app.identity.models import User
from app.notifications.models import Delivery
from tests.forum.posts import write_reply, write_thread
from tests.helpers.client import Client
from tests.helpers.factories import make_user
from tests.notifications.deliveries import words_of


@pytest.fixture
def thread_id(siti: Client) -> int:
    return int(write_thread(siti, title="Menu")["id"])


def notices() -> list[Delivery]:
    db.session.expire_all()
    return list(db.session.scalars(sa.select(Delivery).filter_by(kind="forum_reply").order_by(Delivery.id)))


def texts() -> list[str]:
    return [words_of(notice)["text"] for notice in notices() if notice.state == "pending" and words_of(notice)]


def pass_time(minutes: int) -> None:
    """Make all notices and messages older by this number of minutes. Mark the messages that are now due as sent."""
    step = timedelta(minutes=minutes)
    db.session.execute(sa.update(ReplyNotice).values(due_at=ReplyNotice.due_at - step))
    db.session.execute(sa.update(Delivery).values(due_at=Delivery.due_at - step))
    db.session.execute(sa.update(Delivery).where(Delivery.due_at <= sa.func.now()).values(state="sent"))
    db.session.commit()


def test_many_replies_are_grouped_into_two_messages(siti: Client, budi: Client, thread_id: int) -> None:
    for _ in range(6):
        write_reply(budi, thread_id)
    write_reply(siti, thread_id)
    first, second = notices()
    assert words_of(first)["text"] == "Budi Hartono membalas utas Anda “Menu” di forum."
    assert words_of(second)["text"] == "Ada balasan dari Budi Hartono dan 4 balasan lain di utas Anda “Menu” di forum."
    assert second.due_at - first.due_at == timedelta(minutes=10)
    assert second.expires_at - second.due_at == timedelta(hours=24)


def test_a_second_message_is_about_the_second_reply_only(budi: Client, thread_id: int) -> None:
    write_reply(budi, thread_id)
    write_reply(budi, thread_id, use_pseudonym=True)
    assert texts() == ["Budi Hartono membalas utas Anda “Menu” di forum.", "Elang membalas utas Anda “Menu” di forum."]


def test_messages_are_at_least_ten_minutes_apart(budi: Client, thread_id: int) -> None:
    for minutes in (3, 12, 12, 3):
        write_reply(budi, thread_id)
        write_reply(budi, thread_id)
        pass_time(minutes)
    due = [notice.due_at for notice in notices()]
    assert len(due) > 3
    assert min(later - earlier for earlier, later in pairwise(due)) >= timedelta(minutes=10)


def test_a_reply_after_the_interval_is_due_immediately(budi: Client, thread_id: int) -> None:
    write_reply(budi, thread_id)
    pass_time(11)
    write_reply(budi, thread_id)
    first, second = notices()
    assert (first.state, second.state) == ("sent", "pending")
    assert second.due_at <= db.session.scalar(sa.select(sa.func.clock_timestamp()))


def test_one_message_covers_replies_in_several_threads(
    client: Client, siti: Client, budi: Client, thread_id: int
) -> None:
    rina = client.as_(make_user(nama_ktp="Rina Wijaya"))
    other_id = write_thread(siti, title="Lain")["id"]
    for who, where in ((budi, thread_id), (budi, other_id)):
        write_reply(who, where)
    assert texts() == [f"Budi Hartono membalas utas Anda “{title}” di forum." for title in ("Menu", "Lain")]
    write_reply(rina, thread_id)
    write_reply(rina, thread_id)
    assert texts()[1:] == ["Ada balasan dari Budi Hartono dan 2 balasan lain di 2 utas Anda di forum."]
    first, second = notices()
    assert second.due_at - first.due_at == timedelta(minutes=10)


def test_a_pending_message_omits_a_deleted_thread(siti: Client, budi: Client, thread_id: int) -> None:
    write_reply(budi, thread_id)
    gone, other_id = (write_thread(siti, title=title)["id"] for title in ("Hilang", "Lain"))
    write_reply(budi, gone)
    write_reply(budi, other_id)
    assert texts()[1:] == ["Ada balasan dari Budi Hartono dan 1 balasan lain di 2 utas Anda di forum."]
    assert siti.delete(f"/forum/threads/{gone}").status_code == 200
    assert texts()[1:] == ["Budi Hartono membalas utas Anda “Lain” di forum."]
    assert notices()[1].about_id == other_id
    assert siti.delete(f"/forum/threads/{other_id}").status_code == 200
    assert [notice.state for notice in notices()] == ["pending", "cancelled"]


def test_pseudonymous_threads_do_not_delay_messages_about_named_threads(
    siti: Client, budi: Client, thread_id: int
) -> None:
    """Administrators see when messages are sent.

    If pseudonymous threads delayed messages about named threads, administrators could find out who uses the pseudonym.
    """
    by_alias = write_thread(siti, title="Rahasia", use_pseudonym=True)["id"]
    write_reply(budi, by_alias)
    write_reply(budi, thread_id)
    first, second = notices()
    assert (first.about_id, second.about_id) == (by_alias, thread_id)
    assert second.due_at - first.due_at < timedelta(minutes=1)
    pass_time(5)
    write_reply(budi, by_alias)
    third = notices()[-1]
    assert third.due_at - notices()[1].due_at >= timedelta(minutes=10)
    assert words_of(third)["text"] == "Budi Hartono membalas utas Anda “Rahasia” di forum."


@pytest.mark.parametrize("minutes", [90, -5])
def test_a_delayed_unsent_message_includes_later_replies(budi: Client, thread_id: int, minutes: int) -> None:
    write_reply(budi, thread_id)
    step = timedelta(minutes=minutes)
    db.session.execute(sa.update(Delivery).values(next_try_at=sa.func.now() + step))
    hold(30)
    write_reply(budi, thread_id)
    write_reply(budi, thread_id)
    assert texts() == ["Ada balasan dari Budi Hartono dan 2 balasan lain di utas Anda “Menu” di forum."]


def test_the_interval_starts_at_the_actual_sending_time_of_a_late_message(budi: Client, thread_id: int) -> None:
    write_reply(budi, thread_id)
    db.session.execute(sa.update(Delivery).values(state="sent", settled_at=sa.func.now() - timedelta(minutes=1)))
    hold(30)
    write_reply(budi, thread_id)
    assert timedelta(minutes=8) < notices()[1].due_at - local_time.now() < timedelta(minutes=10)


def test_a_deleted_reply_is_not_counted(client: Client, budi: Client, thread_id: int) -> None:
    rina = client.as_(make_user(nama_ktp="Rina Wijaya"))
    write_reply(budi, thread_id)
    pass_time(5)
    waiting = [write_reply(writer, thread_id) for writer in (budi, rina, rina)]
    budi.delete(f"/forum/replies/{waiting[0]['id']}")
    assert texts() == ["Ada balasan dari Rina Wijaya dan 1 balasan lain di utas Anda “Menu” di forum."]
    rina.delete(f"/forum/replies/{waiting[2]['id']}")
    assert texts() == ["Rina Wijaya membalas utas Anda “Menu” di forum."]
    rina.delete(f"/forum/replies/{waiting[1]['id']}")
    assert texts() == []
    write_reply(budi, thread_id)
    assert texts() == ["Budi Hartono membalas utas Anda “Menu” di forum."]


def test_a_switch_to_a_pseudonym_changes_the_pending_message(budi: Client, thread_id: int) -> None:
    write_reply(budi, thread_id)
    pass_time(5)
    waiting = [write_reply(budi, thread_id) for _ in range(2)]
    budi.put(f"/forum/replies/{waiting[0]['id']}", {"use_pseudonym": True})
    assert texts() == ["Ada balasan dari Elang dan 1 balasan lain di utas Anda “Menu” di forum."]


def hold(minutes: int) -> None:
    """Make the notices older by this number of minutes. Do not mark any message as sent."""
    step = timedelta(minutes=minutes)
    db.session.execute(sa.update(ReplyNotice).values(due_at=ReplyNotice.due_at - step))
    db.session.commit()


def test_all_pending_messages_are_updated_after_an_edit_or_a_deletion(budi: Client, thread_id: int) -> None:
    """If the author of a reply changes the reply to a pseudonym, unsent messages must not contain the name."""
    first = write_reply(budi, thread_id)
    gone, kept = write_reply(budi, thread_id), write_reply(budi, thread_id)
    hold(11)
    last = write_reply(budi, thread_id)
    assert len(texts()) == 2
    budi.delete(f"/forum/replies/{gone['id']}")
    budi.put(f"/forum/replies/{first['id']}", {"use_pseudonym": True})
    assert [text.split(" membalas")[0] for text in texts()] == [
        "Elang",
        "Ada balasan dari Budi Hartono dan 1 balasan lain di utas Anda “Menu” di forum.",
    ]
    budi.delete(f"/forum/replies/{kept['id']}")
    assert [text.split(" membalas")[0] for text in texts()] == ["Elang", "Budi Hartono"]
    budi.put(f"/forum/replies/{last['id']}", {"use_pseudonym": True})
    assert {text.split(" membalas")[0] for text in texts()} == {"Elang"}


def test_a_block_removes_the_blocked_author_from_pending_messages(
    client: Client, siti: Client, budi: Client, thread_id: int
) -> None:
    rina = client.as_(make_user(nama_ktp="Rina Wijaya"))
    reply = write_reply(budi, thread_id)
    second, *_ = [write_reply(writer, thread_id) for writer in (budi, budi, rina)]
    hold(11)
    write_reply(budi, thread_id)
    budi.delete(f"/forum/replies/{second['id']}")
    assert len(texts()) == 2
    assert siti.post(f"/forum/replies/{reply['id']}/blokir").status_code in (200, 201)
    assert texts() == ["Rina Wijaya membalas utas Anda “Menu” di forum."]


def test_a_pending_template_message_is_updated_after_an_edit_or_a_deletion(budi: Client, thread_id: int) -> None:
    """WhatsApp has rejected the text, so the service has queued a template message."""
    reply = write_reply(budi, thread_id)
    (first,) = notices()
    first.dedupe_key += ":template"
    db.session.commit()
    hold(11)
    write_reply(budi, thread_id)
    budi.put(f"/forum/replies/{reply['id']}", {"use_pseudonym": True})
    assert [text.split(" membalas")[0] for text in texts()] == ["Elang", "Budi Hartono"]
    budi.delete(f"/forum/replies/{reply['id']}")
    assert [text.split(" membalas")[0] for text in texts()] == ["Budi Hartono"]


@pytest.mark.parametrize(
    ("name", "title", "text"),
    [
        (
            "Hadiah judi.com",
            "Menu https://a.zzz/x",
            "Hadiah judi. com membalas utas Anda “Menu https a. zzz/x” di forum.",
        ),
        ("judi.рф", "judi．bank/zzz", "judi. рф membalas utas Anda “judi． bank/zzz” di forum."),
        ("@", "siti@rumah", "@ membalas utas Anda “siti rumah” di forum."),
        ("dr. Ani", "Menu 1.500 kalori", "dr. Ani membalas utas Anda “Menu 1.500 kalori” di forum."),
    ],
)
def test_links_in_names_and_titles_are_broken_in_messages(
    client: Client, siti: Client, name: str, title: str, text: str
) -> None:
    replier = make_user(nama_ktp=name, nama_samaran=name)
    thread_id = write_thread(siti, title=title)["id"]
    write_reply(client.as_(replier), thread_id, use_pseudonym=True)
    assert texts() == [text]
    assert db.session.scalars(sa.select(User.nama_ktp).where(User.id == replier.id)).one() == name
