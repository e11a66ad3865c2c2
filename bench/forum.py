"""Benchmark of the forum with 100,000 threads and 1,000,000 replies: list, thread, like and save."""

from __future__ import annotations

from collections.abc import Iterator

from app.forum.service.reads import MAX_REPLIES
from bench.environment import BenchEnvironment, Result, at_least, at_most, fill_without_indexes, median_seconds
from bench.wrk import Target
from dev.counters import wrong_counters

PEOPLE = 10_000
THREADS = 100_000
REPLIES = 1_000_000
MARKS = 400_000
#: Number of replies in the last thread. All other threads have ten.
LONG = 5_000

#: Number of people who log in. All other people have no password.
CALLERS = 16

#: SQL statements that fill the tables.
FILL = f"""
INSERT INTO users (username, password_hash, nama_ktp, nama_samaran)
SELECT 'orang.' || n, '', 'Orang Nomor ' || n, 'Samaran ' || n FROM generate_series(1, {PEOPLE}) n;

CREATE TEMP TABLE person AS SELECT id, row_number() OVER (ORDER BY id) - 1 AS n FROM users;
CREATE UNIQUE INDEX ON person (n);
CREATE TEMP TABLE category AS SELECT id, row_number() OVER (ORDER BY id) - 1 AS n FROM forum_categories;

INSERT INTO posts (id, category_id, user_id, title, content, use_pseudonym)
SELECT t, c.id, p.id, 'Utas nomor ' || t, repeat('Apa yang boleh dimakan? ', 10), t % 3 = 0
FROM generate_series(1::bigint, {THREADS}) t
JOIN category c ON c.n = t % (SELECT count(*) FROM category) JOIN person p ON p.n = t * 7919 % {PEOPLE};

-- Ten to a thread, the second five of them below the first one.
INSERT INTO posts (id, root_id, parent_id, depth, user_id, content, use_pseudonym)
SELECT {THREADS} + r, 1 + (r - 1) / 10, CASE WHEN (r - 1) % 10 > 4 THEN {THREADS} + r - (r - 1) % 10 END,
       1 + ((r - 1) % 10 > 4)::int,
       p.id, repeat('Kurangi gula dan garam. ', 4), r % 5 = 0
FROM generate_series(1::bigint, {REPLIES - LONG}) r JOIN person p ON p.n = r * 6007 % {PEOPLE};
-- The last thread's, in chains of twenty.
INSERT INTO posts (id, root_id, parent_id, depth, user_id, content, use_pseudonym)
SELECT {THREADS} + r, {THREADS}, CASE WHEN r % 20 > 0 THEN {THREADS} + r - 1 END, 1 + r % 20,
       p.id, repeat('Kurangi gula dan garam. ', 4), r % 5 = 0
FROM generate_series({REPLIES}::bigint, {REPLIES + LONG - 1}) r JOIN person p ON p.n = r * 6007 % {PEOPLE};

INSERT INTO marks (post_id, user_id, is_liked, is_saved)
SELECT DISTINCT ON (1, 2) 1 + k * 104729 % {THREADS}, p.id, true, k % 4 = 0
FROM generate_series(1::bigint, {MARKS}) k JOIN person p ON p.n = k % {PEOPLE};
INSERT INTO marks (post_id, user_id, is_liked)
SELECT DISTINCT ON (1, 2) {THREADS} + 1 + k * 104729 % {REPLIES // 2}, p.id, true
FROM generate_series(1::bigint, {MARKS}) k JOIN person p ON p.n = k % {PEOPLE};

UPDATE posts p
SET likes_count = coalesce(m.likes, 0), saves_count = coalesce(m.saves, 0), replies_count = coalesce(r.replies, 0)
FROM (SELECT root_id AS post_id, count(*) AS replies FROM posts WHERE root_id IS NOT NULL GROUP BY root_id) r
FULL JOIN (SELECT post_id, count(*) FILTER (WHERE is_liked) AS likes, count(*) FILTER (WHERE is_saved) AS saves
           FROM marks GROUP BY post_id) m USING (post_id)
WHERE post_id = p.id;
UPDATE forum_categories c SET threads_count = (SELECT count(*) FROM posts t WHERE t.category_id = c.id);
SELECT setval('posts_id_seq', {THREADS + REPLIES + LONG});
"""

BARE = """
SELECT r.id, r.parent_id, r.content, r.image, r.use_pseudonym, r.likes_count, r.saves_count, r.created_at,
       r.updated_at, u.id, u.nama_ktp, u.nama_samaran, u.image
FROM posts r JOIN users u ON u.id = r.user_id WHERE r.root_id = %s ORDER BY r.id LIMIT 500
"""


def bare_seconds(environment: BenchEnvironment) -> float:
    """Return how many seconds psycopg2 needs to read the first rows of the longest thread on an open connection."""
    with environment.database() as cursor:

        def read() -> None:
            cursor.execute(BARE, [THREADS])
            assert len(cursor.fetchall()) == MAX_REPLIES

        return median_seconds(read, 15)


def long_thread_seconds(environment: BenchEnvironment, token: str) -> float:
    """Return the seconds of a request for the longest thread. It runs in this process, without a server."""
    client, headers = environment.app.test_client(), {"Authorization": f"Bearer {token}"}

    def read() -> None:
        assert client.get(f"/api/forum/threads/{THREADS}", headers=headers).status_code == 200

    return median_seconds(read, 15)


def run(environment: BenchEnvironment) -> Iterator[Result]:
    tokens = environment.people(CALLERS)
    with environment.database() as cursor:
        fill_without_indexes(cursor, ["posts", "marks"], FILL)
    some = range(1, THREADS, 211)
    pages = [f"/api/forum/threads?per_page=20&page={page}" for page in range(1, 50)]
    details = [f"/api/forum/threads/{n}" for n in some]
    rates = environment.compare(
        {
            "list": Target(pages),
            "list, signed in": Target(pages, tokens=tokens),
            "thread": Target(details),
            "like": Target([f"/api/forum/threads/{n}/like" for n in some], "POST", tokens),
            "save a reply": Target([f"/api/forum/replies/{THREADS + n}/save" for n in some], "POST", tokens),
        }
    )
    for name, target in (
        ("list", 0.32), ("list, signed in", 0.25), ("thread", 0.28), ("like", 0.3),
        ("save a reply", 0.3),
    ):  # fmt: skip
        yield at_least(f"forum: {name}", rates[name] / rates["select_floor"], target)
    bare, long = bare_seconds(environment), long_thread_seconds(environment, tokens[0])
    yield at_most("forum: first 500 replies of a long thread", long / bare, 4, "times the bare rows")
    with environment.app.app_context():
        yield at_most("forum: counters that are wrong afterwards", sum(wrong_counters().values()), 0, "rows")
