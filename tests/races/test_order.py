"""Tests of the lock order. Code that changes a person's rows locks the person first, or skips locked people.

A request that waited for this lock checks again what it may do.
"""

from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

import pytest
import sqlalchemy as sa

from app.core.database.session import db, unit_of_work
from app.core.lib.local_time import now
from app.forum.models import ForumCategory, Post
from app.forum.service import erasure as forum
from app.identity import erasure, sessions
from app.identity import jobs as identity_jobs
from app.identity.models import LoginSession, User
from app.notifications.delivery import claims
from app.notifications.models import Channel, Delivery
from app.pengingat import jobs
from app.pengingat.ledger import answers
from app.pengingat.ledger.schemas import NewAnswer
from app.pengingat.models import Pengingat
from app.push import service as push
from app.push import transport
from app.push.models import PushSubscription
from dev.stack.waiting import wait_until
from tests.helpers.overlap import IS_WAITING, done_twice_at_once
from tests.races.browsers import browser, subscribe
from tests.races.families import family, hear, keep, phone_of, sent_dose, tap
from tests.races.forum import answer, write
from tests.races.meeting import Response, Scene, serving
from tests.races.reminders import fall_due, forget_plans, hours_waiting, remind

pytestmark = pytest.mark.processes


T = TypeVar("T")


@pytest.fixture
def scene(committed):
    with serving(committed) as port:
        yield Scene(committed, port)


@contextmanager
def being_deleted(user_id):
    """Lock a person's row, as the deletion of a person does before it deletes rows that reference the person."""
    with db.engine.connect() as connection, connection.begin():
        connection.execute(sa.select(User.id).where(User.id == user_id).with_for_update())
        yield connection


@contextmanager
def running(app, work):
    """Run `work` in another thread. Yield its future once `work` has ended or waits for a lock."""

    def run():
        with app.app_context():
            return work()

    def is_waiting():
        with db.engine.connect() as connection:
            return bool(connection.execute(sa.text(IS_WAITING)).scalar())

    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(run)
        wait_until(lambda: future.done() or is_waiting())
        yield future


def test_a_top_up_skips_a_person_who_is_being_deleted(scene):
    leaving, other = scene.person(), scene.person()
    ids = {person: scene.new(remind(person)) for person in (leaving, other)}
    for person in ids:
        forget_plans(scene, person)
    with being_deleted(leaving.id), running(scene.app, jobs.top_up_page) as page:
        assert page.done()
        assert page.result() == 1
        assert (hours_waiting(scene, ids[leaving]), hours_waiting(scene, ids[other])) == (set(), {1, 9, 17})
    jobs.top_up_page()  # the lock is released, and the person still exists
    assert hours_waiting(scene, ids[leaving]) == {1, 9, 17}


def test_a_push_fan_out_holds_no_lock_while_it_waits_for_a_deletion(scene):
    leaving = scene.person()
    scene.send(subscribe(leaving, browser(scene)))
    scene.new(remind(leaving))
    scene.change("UPDATE deliveries SET next_try_at = now() WHERE channel = 'push_fan_out'")
    delivery = claims.claim("urgent", Channel.PUSH_FAN_OUT)
    assert delivery is not None
    with being_deleted(leaving.id) as deletion, running(scene.app, lambda: transport.fan_out(delivery)) as job:
        held = sa.select(Delivery.id).where(Delivery.id == delivery.id).with_for_update(nowait=True)
        assert deletion.execute(held).scalar() == delivery.id
        deletion.rollback()
        assert job.result() is None


def test_the_sweep_of_sessions_skips_a_person_who_is_being_deleted(scene):
    leaving, _ = scene.person(), scene.person()
    scene.send(subscribe(leaving, browser(scene)))
    scene.change("UPDATE sessions SET last_used_at = now() - interval '8 days', expires_at = now() - interval '1 day'")
    with being_deleted(leaving.id), running(scene.app, identity_jobs.delete_expired_sessions) as sweep:
        assert sweep.done()
        assert db.session.scalars(sa.select(LoginSession.user_id)).all() == [leaving.id]
        db.session.rollback()
    identity_jobs.delete_expired_sessions()  # the lock is released
    assert scene.sql("SELECT count(*) FROM sessions") == 0


def test_a_logout_holds_no_lock_while_it_waits_for_a_deletion(scene):
    leaving = scene.person()
    scene.send(subscribe(leaving, browser(scene)))
    with being_deleted(leaving.id) as deletion, running(scene.app, lambda: scene.send(leaving.post("/logout"))) as out:
        for table in (LoginSession, PushSubscription):
            held = sa.select(table.id).where(table.user_id == leaving.id).with_for_update(nowait=True)
            assert len(deletion.execute(held).all()) == 1
        deletion.rollback()
        assert out.result() == Response(200, {"message": "Berhasil keluar."})
    assert scene.sql("SELECT count(*) FROM push_subscriptions") == 0


def test_an_answer_holds_no_lock_while_it_waits_for_a_deletion(scene):
    leaving = scene.person()
    # The occurrence after the due one is more than half an hour away. So the answer applies to the due occurrence.
    far = (now().hour + 12) % 24
    id_ = scene.new(remind(leaving, far))
    fall_due(scene, id_)

    def snooze():
        with unit_of_work():
            answers.confirm(leaving.id, id_, NewAnswer("snooze"))

    with being_deleted(leaving.id) as deletion, running(scene.app, snooze) as answering:
        held = sa.select(Pengingat.id).where(Pengingat.id == id_).with_for_update(nowait=True)
        assert deletion.execute(held).scalar() == id_
        deletion.rollback()
        assert answering.result() is None
    assert scene.sql("SELECT max(snoozes) FROM occurrences WHERE reminder_id = :id", id=id_) == 1


def test_two_concurrent_subscriptions_cannot_exceed_the_limit(scene):
    person = scene.person()
    caller = sessions.get_caller(str(person.token))
    for _ in range(push.MAX_PER_USER - 1):
        with unit_of_work():
            push.subscribe({**browser(scene), "user_id": None}, caller)
    done_twice_at_once(scene.app, lambda: push.subscribe({**browser(scene), "user_id": None}, caller)).result()
    count = sa.select(sa.func.count()).select_from(PushSubscription).where(PushSubscription.user_id == person.id)
    assert db.session.scalar(count) == push.MAX_PER_USER


def test_a_forum_reply_locks_its_parent_before_it_waits_for_a_deletion(scene):
    leaving, other = scene.person(), scene.person()
    thread_id = scene.new(write(other))
    reply_id = scene.new(answer(other, thread_id))
    below = answer(leaving, thread_id, parent_id=reply_id)
    with being_deleted(leaving.id) as deletion, running(scene.app, lambda: scene.send(below)) as answering:
        free = sa.select(Post.id).where(Post.id == reply_id)
        assert deletion.execute(free.with_for_update(key_share=True, skip_locked=True)).scalar() is None
        deletion.rollback()
        assert answering.result().status == 201


def category(category_id):
    return sa.select(ForumCategory.id).where(ForumCategory.id == category_id)


def test_a_new_thread_does_not_lock_its_category_while_it_waits_for_a_deletion(scene):
    leaving = scene.person()
    with being_deleted(leaving.id) as deletion, running(scene.app, lambda: scene.send(write(leaving, 1))) as writing:
        free = category(1).with_for_update(key_share=True, skip_locked=True)
        assert deletion.execute(free).scalar() == 1
        deletion.rollback()
        assert writing.result().status == 201


def test_erasing_threads_locks_their_categories_in_order(scene):
    leaving = scene.person()
    for category_id in (2, 1):
        scene.new(write(leaving, category_id))

    def erase():
        with unit_of_work():
            user = db.session.get_one(User, leaving.id)
            user.erasure_posts = erasure.Posts.DELETE
            return forum.erase_posts(erasure.subject_of(user))

    with db.engine.connect() as connection, connection.begin() as counting:
        connection.execute(category(1).with_for_update(key_share=True))
        with running(scene.app, erase) as erasing:
            free = category(2).with_for_update(key_share=True, skip_locked=True)
            assert connection.execute(free).scalar() == 2
            counting.rollback()
            assert erasing.result()


# --- dependents -----------------------------------------------------------------------------------------------------

DELETED = "erasure_due_at = now() + interval '7 days'"


@contextmanager
def being_changed(user_id, change):
    """Change a person's row in a transaction that the block commits or rolls back."""
    with db.engine.connect() as connection, connection.begin():
        connection.execute(sa.text(f"UPDATE users SET {change} WHERE id = :id"), {"id": user_id})
        yield connection


@pytest.mark.parametrize("is_by_message", [True, False])
def test_a_caregivers_answer_that_waited_for_the_deletion_is_refused(scene, is_by_message):
    caregiver, [dependent] = family(scene)
    id_, token = sent_dose(scene, caregiver, dependent)
    heard = hear(scene, str(phone_of(scene, caregiver)), "SUDAH")

    def answer():
        return heard.work() if is_by_message else scene.send(tap(token, "done")).body["error"]

    with being_changed(dependent.id, DELETED) as ending, running(scene.app, answer) as answering:
        assert not answering.done()
        ending.commit()
        assert answering.result() == ("answered:refused already_closed" if is_by_message else "already_closed")
    state = "SELECT state FROM occurrences WHERE reminder_id = :id AND due_at <= now()"
    assert scene.sql(state, id=id_) == "pending"


def test_a_new_dependent_is_refused_after_a_concurrent_account_deletion(scene):
    caregiver, _ = family(scene, 0)
    with (
        being_changed(caregiver.id, DELETED) as leaving,
        running(scene.app, lambda: scene.send(keep(caregiver))) as creating,
    ):
        assert not creating.done()
        leaving.commit()
        assert creating.result().status == 401
    assert scene.sql("SELECT count(*) FROM users WHERE guardian_id = :id", id=caregiver.id) == 0
