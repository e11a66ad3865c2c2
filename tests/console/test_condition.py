"""Routes for operators: the state of the service, switches, and the deliveries of a user."""

from datetime import timedelta

import sqlalchemy as sa

from app.core.database.session import db
from app.notifications.models import Delivery
from tests.console.deliveries import send
from tests.forum.posts import moderate, write_reply, write_thread
from tests.helpers.factories import make_user


def test_due_deliveries_are_counted_by_queue(admin, siti):
    send(siti)
    send(siti, "Lagi")
    db.session.execute(sa.update(Delivery).values(next_try_at=sa.func.now() - timedelta(minutes=2)))
    due = {
        queue["queue"]: (queue["due"], queue["oldest_due_s"]) for queue in admin.get("/admins/operasi").json["queues"]
    }
    assert due["urgent"][0] == 2
    assert due["urgent"][1] >= 120
    assert due["bulk"] == (0, 0.0)


def test_outcomes_are_those_of_the_last_hour_by_state(admin, siti):
    for title in ("Satu", "Dua", "Tiga"):
        send(siti, title)
    ids = db.session.scalars(sa.select(Delivery.id).order_by(Delivery.id)).all()
    for id_, minutes, state in zip(ids, (59, 61, 1), ("sent", "sent", "failed"), strict=False):
        settled_at = sa.func.now() - timedelta(minutes=minutes)
        db.session.execute(sa.update(Delivery).where(Delivery.id == id_).values(state=state, settled_at=settled_at))
    outcomes = {"sent": 1, "failed": 1, "missed": 0, "cancelled": 0}
    assert admin.get("/admins/operasi").json["outcomes"] == outcomes


def test_deliveries_do_not_reveal_the_author_behind_a_pseudonym(client, siti, admin):
    """Administrators see no notices about replies and about hidden posts."""
    thread_id = write_thread(siti, use_pseudonym=True)["id"]
    write_reply(client.as_(make_user()), thread_id)
    moderate(admin, "hide", thread_id=thread_id)
    assert {row["title"] for row in siti.get("/pengiriman").json} == {
        "Balasan di forum", "Kabar tentang tulisan Anda di forum"
    }  # fmt: skip
    assert admin.get(f"/admins/users/{siti.id}/pengiriman").json == []


def test_deliveries_do_not_show_broadcasts_of_threads(admin, siti):
    """A broadcast about a thread is not sent to the thread's author. The missing delivery would reveal the author."""
    for about_type in ("forum_thread", "article"):
        db.session.add(
            Delivery(kind="broadcast", channel="messaging", queue="bulk", dedupe_key=about_type,
                     payload={"about": about_type, "about_id": 1},
                     due_at=sa.func.now(), next_try_at=sa.func.now(), expires_at=sa.func.now(), user_id=siti.id)
        )  # fmt: skip
    db.session.commit()
    assert len(admin.get(f"/admins/users/{siti.id}/pengiriman").json) == 1
