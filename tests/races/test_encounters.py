"""Tests that concurrent requests cause no crash, no lost update, and no wrong counter or reference.

`RACE_ROUNDS=200 pytest tests/races` runs each encounter (group of concurrent calls) 200 times. The default is 3.
"""

import pytest

from app.core.media import pictures
from config import environment

# The import of these modules registers their encounters (groups of concurrent calls).
from tests.races import (  # noqa: F401
    browsers,
    care,
    content,
    doses,
    families,
    forum,
    leaving,
    moderation,
    people,
    privacy,
    reminders,
)
from tests.races.meeting import ENCOUNTERS, Scene, play, serving

pytestmark = [pytest.mark.takes(seconds=60), pytest.mark.processes]

ROUNDS = int(environment().get("RACE_ROUNDS", "3"))

#: Queries that count wrong rows, for example rows with a wrong counter, and rows that refer to deleted rows.
WRONG = {
    "threads of a category": """
        SELECT count(*) FROM forum_categories AS c
        WHERE threads_count <> (SELECT count(*) FROM posts WHERE category_id = c.id AND hidden_by IS NULL)""",
    "replies of a thread": """
        SELECT count(*) FROM posts AS t WHERE replies_count <> (
            SELECT count(*) FROM posts WHERE root_id = t.id AND content IS NOT NULL AND hidden_by IS NULL)""",
    "likes and saves of a post": """
        SELECT count(*) FROM posts AS p WHERE (likes_count, saves_count) <> (
            SELECT count(*) FILTER (WHERE is_liked), count(*) FILTER (WHERE is_saved)
            FROM marks WHERE post_id = p.id)""",
    "stubs that hold nothing": """
        SELECT count(*) FROM posts AS p
        WHERE content IS NULL AND NOT EXISTS (SELECT FROM posts WHERE parent_id = p.id)""",
    "cases of stubs": """
        SELECT count(*) FROM cases JOIN posts ON posts.id = post_id WHERE content IS NULL""",
    "hidden posts without a case, and shown posts whose case says that they are hidden": """
        SELECT count(*) FROM posts LEFT JOIN cases ON post_id = posts.id
        WHERE hidden_by IS NOT NULL AND coalesce(state, 'kept') = 'kept' OR hidden_by IS NULL AND state = 'hidden'""",
    "people a day": """
        SELECT count(*) FROM user_days AS d WHERE users <> (
            SELECT count(*) FROM users WHERE (created_at AT TIME ZONE 'Asia/Jakarta')::date = d.day)""",
    "people without a role": """
        SELECT count(*) FROM users WHERE NOT EXISTS (SELECT FROM user_roles WHERE user_id = users.id)""",
    "dependents without a caregiver who stays": """
        SELECT count(*) FROM users AS d LEFT JOIN users AS c ON c.id = d.guardian_id
        WHERE d.password_hash IS NULL AND d.erasure_due_at IS NULL
        AND (c.id IS NULL OR c.erasure_due_at IS NOT NULL)""",
    "caregivers with too many dependents": """
        SELECT count(*) FROM (
            SELECT FROM users WHERE erasure_due_at IS NULL GROUP BY guardian_id HAVING count(guardian_id) > 5
        ) AS crowds""",
    "people with too many browsers": """
        SELECT count(*) FROM (SELECT FROM push_subscriptions GROUP BY user_id HAVING count(user_id) > 10) AS crowds""",
}


@pytest.fixture
def scene(committed, monkeypatch):
    # As in production, an exception becomes a response with status 500.
    monkeypatch.setitem(committed.config, "PROPAGATE_EXCEPTIONS", False)
    with serving(committed) as port:
        yield Scene(committed, port)


def test_at_least_150_encounters_with_unique_names_are_registered():
    assert len(ENCOUNTERS) >= 150
    assert len({encounter.name for encounter in ENCOUNTERS}) == len(ENCOUNTERS)


@pytest.mark.parametrize("encounter", ENCOUNTERS, ids=lambda encounter: encounter.name)
def test_concurrent_calls_cause_no_crash_and_no_inconsistent_rows(scene, encounter):
    for _ in range(ROUNDS):
        play(scene, encounter)
    wrong = {name: rows for name, query in WRONG.items() if (rows := scene.sql(query))}
    assert not wrong


def test_concurrent_uploads_leave_no_unused_pictures(scene, png):
    for _ in range(ROUNDS):
        person = scene.person()
        responses = scene.meet([person.upload("/profile", png) for _ in range(3)])
        assert {response.status for response in responses} == {200}
    stored = {name for name, _ in pictures.store().names()}
    named = scene.sql("SELECT array_agg(image) FROM users WHERE image IS NOT NULL")
    assert stored == set(named)


@pytest.fixture
def png(committed):
    """Delete the pictures of other tests, and return a small picture."""
    from io import BytesIO

    from PIL import Image

    for name, _ in list(pictures.store().names()):
        pictures.store().remove(name)
    picture = BytesIO()
    Image.new("RGB", (8, 8), "teal").save(picture, "PNG")
    return picture.getvalue()
