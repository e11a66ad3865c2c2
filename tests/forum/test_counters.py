"""Counters under parallel load, with real threads and commits."""

import random
import uuid
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest
import sqlalchemy as sa

from app.core.database.session import db, unit_of_work
from app.core.errors import AppError
from app.forum.models import Mark, Post
from app.forum.service import marks, posts
from app.identity.models import SessionKind
from app.identity.sessions import Caller
from dev.counters import wrong_counters
from tests.helpers.factories import make_user

CLEAN = {"forum_categories": 0, "posts": 0}
FLAGS = ("is_liked", "is_saved")

THREADS = 8


@pytest.fixture
def people(committed):
    with unit_of_work():
        users = [make_user() for _ in range(4)]
    return [Caller(user.id, frozenset({"pasien"}), uuid.uuid4(), SessionKind.USER) for user in users]


def storm(app, work, times):
    """Call `work(0)`, `work(1)`, ... in parallel threads, each in its own transaction. Return results and errors."""

    def once(number):
        with app.app_context():
            try:
                with unit_of_work():
                    return work(number)
            except AppError as error:
                return error

    with ThreadPoolExecutor(THREADS) as pool:
        return list(pool.map(once, range(times)))


def start_thread(author):
    with unit_of_work():
        data = {"category_id": 1, "title": "Badai", "content": "x", "use_pseudonym": False}
        return posts.create_thread(data, author)["id"]


def reply_to(thread_id, author, parent_id=None):
    data = {"content": "x", "use_pseudonym": False, "parent_id": parent_id}
    return posts.create_reply(thread_id, data, author)["id"]


def test_concurrent_toggles_of_one_person_switch_on_and_off_equally(committed, people):
    thread_id = start_thread(people[0])
    for flag in FLAGS:
        toggle = partial(marks.toggle, flag, thread_id, people[1].id, is_thread=True)
        results = storm(committed, lambda _, toggle=toggle: toggle(), 60)
        assert (results.count(True), results.count(False)) == (30, 30)
    assert wrong_counters() == CLEAN
    assert db.session.scalar(sa.select(Post.likes_count)) == 0


def test_like_and_save_counters_are_correct_after_concurrent_toggles(committed, people):
    thread_ids = [start_thread(people[0]) for _ in range(3)]
    with unit_of_work():
        reply_ids = [reply_to(thread_ids[0], people[1]) for _ in range(3)]
    choice = random.Random(1)
    plan = [
        choice.choice([(flag, choice.choice(ids)) for ids in (thread_ids, reply_ids) for flag in FLAGS])
        for _ in range(800)
    ]

    def toggle(number):
        flag, post_id = plan[number]
        return marks.toggle(flag, post_id, people[number % len(people)].id, is_thread=post_id in thread_ids)

    results = storm(committed, toggle, len(plan))
    assert {type(result) for result in results} == {bool}
    for flag, counter in ((Mark.is_liked, Post.likes_count), (Mark.is_saved, Post.saves_count)):
        assert db.session.scalar(sa.select(sa.func.sum(counter))) == db.session.scalar(
            sa.select(sa.func.count()).where(flag)
        )
    assert wrong_counters() == CLEAN


@pytest.mark.processes
def test_concurrent_writes_and_deletions_of_posts_cause_no_deadlock(committed, people):
    thread_ids = [start_thread(people[0]) for _ in range(4)]

    def work(number):
        choice = random.Random(number)
        thread_id = choice.choice(thread_ids)
        reply_ids = db.session.scalars(sa.select(Post.id).where(Post.root_id == thread_id)).all()
        match choice.randrange(12):
            case 0 | 1 | 2 | 3:
                return reply_to(thread_id, people[0], choice.choice([None, *reply_ids]))
            case 4 | 5 if reply_ids:
                return posts.delete(choice.choice(reply_ids), people[0], is_thread=False)
            case 6 | 7 if reply_ids:
                return marks.toggle("is_liked", choice.choice(reply_ids), people[number % 4].id, is_thread=False)
            case 8:
                return posts.update(thread_id, {"category_id": choice.randrange(1, 5)}, people[0], is_thread=True)
            case 9 if number > 200 and thread_id == thread_ids[0]:
                return posts.delete(thread_id, people[0], is_thread=True)
            case 10:
                return reply_to(thread_id, people[0])
            case _:
                return marks.toggle("is_saved", thread_id, people[number % 4].id, is_thread=True)

    results = storm(committed, work, 400)
    refused = {result.code for result in results if isinstance(result, AppError)}
    assert refused <= {"not_found", "validation_error"}
    assert wrong_counters() == CLEAN
    assert db.session.scalar(sa.select(sa.func.count(Post.id)).where(Post.root_id.is_(None))) == 3
    stubs = sa.select(sa.func.count()).where(Post.content.is_(None), Post.likes_count > 0)
    assert db.session.scalar(stubs) == 0
