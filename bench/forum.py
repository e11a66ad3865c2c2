"""Benchmark of the forum with 100,000 threads and 1,000,000 replies: list, thread, like and save."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median

from app.forum.service.reads import MAX_REPLIES
from bench.environment import BenchEnvironment, Result, at_most, median_seconds
from bench.wrk import Target
from dev.counters import wrong_counters

PEOPLE = 10_000
THREADS = 100_000
REPLIES = 1_000_000
MARKS = 800_000
#: Number of replies in the last thread. All other threads have ten.
LONG = 5_000

#: Number of people who log in. All other people have no password.
CALLERS = 16

#: SQL statements that fill the tables. The ids of people, threads and replies are known, because the tables are empty.
FILL = f"""
INSERT INTO users (id, username, password_hash, nama_ktp, nama_samaran)
SELECT n, 'orang.' || n, '', 'Orang Nomor ' || n, 'Samaran ' || n FROM generate_series({CALLERS + 1}, {PEOPLE}) n;

INSERT INTO posts (id, category_id, user_id, title, content, use_pseudonym)
SELECT t, ids[1 + t % cardinality(ids)], 1 + t * 7919 % {PEOPLE}, 'Utas nomor ' || t,
       repeat('Apa yang boleh dimakan? ', 10), t % 3 = 0
FROM generate_series(1::bigint, {THREADS}) t, (SELECT array_agg(id) AS ids FROM forum_categories) known;

-- Ten to a thread, the second five of them below the first one.
INSERT INTO posts (id, root_id, parent_id, depth, user_id, content, use_pseudonym)
SELECT {THREADS} + r, 1 + (r - 1) / 10, CASE WHEN (r - 1) % 10 > 4 THEN {THREADS} + r - (r - 1) % 10 END,
       1 + ((r - 1) % 10 > 4)::int, 1 + r * 6007 % {PEOPLE}, repeat('Kurangi gula dan garam. ', 4), r % 5 = 0
FROM generate_series(1::bigint, {REPLIES - LONG}) r;
-- The last thread's, in chains of twenty.
INSERT INTO posts (id, root_id, parent_id, depth, user_id, content, use_pseudonym)
SELECT {THREADS} + r, {THREADS}, CASE WHEN r % 20 > 0 THEN {THREADS} + r - 1 END, 1 + r % 20,
       1 + r * 6007 % {PEOPLE}, repeat('Kurangi gula dan garam. ', 4), r % 5 = 0
FROM generate_series({REPLIES}::bigint, {REPLIES + LONG - 1}) r;

INSERT INTO marks (post_id, user_id, is_liked, is_saved)
SELECT 1 + k * 104729 % ({THREADS} * 2), 1 + k % {PEOPLE}, true, k % 4 = 0
FROM generate_series(1::bigint, {MARKS}) k ON CONFLICT DO NOTHING;

UPDATE posts p
SET likes_count = coalesce(m.likes, 0), saves_count = coalesce(m.saves, 0), replies_count = coalesce(r.replies, 0)
FROM (SELECT root_id AS post_id, count(*) AS replies FROM posts WHERE root_id IS NOT NULL GROUP BY root_id) r
FULL JOIN (SELECT post_id, count(*) FILTER (WHERE is_liked) AS likes, count(*) FILTER (WHERE is_saved) AS saves
           FROM marks GROUP BY post_id) m USING (post_id)
WHERE post_id = p.id;
UPDATE forum_categories c SET threads_count = (SELECT count(*) FROM posts t WHERE t.category_id = c.id)
"""

BARE = """
SELECT r.id, r.parent_id, r.content, r.image, r.use_pseudonym, r.likes_count, r.saves_count, r.created_at,
       r.updated_at, u.id, u.nama_ktp, u.nama_samaran, u.image
FROM posts r JOIN users u ON u.id = r.user_id WHERE r.root_id = %s ORDER BY r.id LIMIT 500
"""


def long_thread(environment: BenchEnvironment, token: str) -> float:
    """Return the time of a request for the longest thread, divided by the time to read its rows with psycopg2.

    The request runs in this process, without a server.
    """
    client, headers = environment.app.test_client(), {"Authorization": f"Bearer {token}"}
    with environment.database() as cursor:

        def read_rows() -> None:
            cursor.execute(BARE, [THREADS])
            assert len(cursor.fetchall()) == MAX_REPLIES

        def read_thread() -> None:
            assert client.get(f"/api/forum/threads/{THREADS}", headers=headers).status_code == 200

        return median(median_seconds(read_thread, 15) / median_seconds(read_rows, 15) for _ in range(5))


def run(environment: BenchEnvironment) -> Iterator[Result]:
    tokens = environment.people(CALLERS)
    environment.fill(FILL)
    some = range(1, THREADS, 211)
    pages = [f"/api/forum/threads?per_page=20&page={page}" for page in range(1, 50)]
    likes = [f"/api/forum/threads/{n}/like" for n in some]
    saves = [f"/api/forum/replies/{THREADS + n}/save" for n in some]
    yield from environment.compare(
        {
            "forum: list": (0.32, Target(pages)),
            "forum: list, signed in": (0.25, Target(pages, tokens=tokens)),
            "forum: thread": (0.28, Target([f"/api/forum/threads/{n}" for n in some])),
            "forum: like": (0.3, Target(likes, "POST", tokens)),
            "forum: save a reply": (0.3, Target(saves, "POST", tokens)),
        }
    )
    cost = long_thread(environment, tokens[0])
    yield at_most("forum: first 500 replies of a long thread", cost, 4, "times the bare rows")
    with environment.app.app_context():
        yield at_most("forum: counters that are wrong afterwards", sum(wrong_counters().values()), 0, "rows")
