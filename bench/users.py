"""Benchmark of the administrators' list of 200,000 users: first page, last page, and a search."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from statistics import median

import psycopg2

from app.admins.schemas import UserSearch
from app.admins.service import users
from app.core.database.session import db
from app.core.web.pagination import Page
from bench.environment import BenchEnvironment, Result, at_most

USERS = 200_000
ROUNDS = 15

FILL = f"""
INSERT INTO users (username, password_hash, nama_ktp, email, nomor_hp, phone, created_at)
SELECT 'orang' || n, 'x', 'Nama Lengkap ' || md5(n::text), 'orang' || n || '@contoh.id', '0812' || n, '+62812' || n,
    now() - n * interval '5 minutes'
FROM generate_series(1, {USERS}) n
"""


def run(environment: BenchEnvironment) -> Iterator[Result]:
    connection = psycopg2.connect(environment.database_url)
    connection.autocommit = True
    with connection.cursor() as cursor, environment.app.app_context():
        environment.people(20)
        few = _median(lambda: users.list_all(UserSearch(Page(1, 20))))
        cursor.execute(FILL)
        cursor.execute("VACUUM ANALYZE")
        pages = USERS // 20
        first = _median(lambda: users.list_all(UserSearch(Page(1, 20))))
        yield at_most(f"first page of {USERS:,} users", first / few, 3, "times that of 20 users")
        last = _median(lambda: users.list_all(UserSearch(Page(pages, 20))))
        yield at_most(f"last page of {USERS:,} users", last, 0.2, "s")
        search = _median(lambda: users.list_all(UserSearch(Page(1, 20), "orang199999")))
        yield at_most(f"search in {USERS:,} users", search / few, 3, "times the page of 20 users")
    connection.close()


def _median(work: Callable[[], object]) -> float:
    times = []
    for _ in range(ROUNDS):
        started = time.perf_counter()
        work()
        times.append(time.perf_counter() - started)
        db.session.remove()
    return median(times)
