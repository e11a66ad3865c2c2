"""Tests of the list of users for administrators: filters, sort order and number of SQL statements."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from itertools import product
from typing import Any

import pytest
import sqlalchemy as sa
from flask import Flask

from app.admins.schemas import UserSearch
from app.admins.service import users
from app.core.database.session import db, unit_of_work
from app.core.lib.local_time import now, rfc3339
from app.core.web.pagination import MAX_COUNTED, Page
from app.identity.models import LoginSession, RoleName, User
from app.logs.models import ActivityLog
from tests.helpers.client import Client
from tests.helpers.factories import make_user
from tests.helpers.plans import analyse, plan_of
from tests.helpers.statements import Statements


@pytest.fixture
def people(admin: Client) -> None:
    make_user(username="siti", nama_ktp="siti", domicile="Jawa Barat").is_verified = True
    make_user(RoleName.PENDAMPING, username="budi", nama_ktp="Budi", domicile="Jawa Barat")
    make_user(RoleName.PASIEN, RoleName.PENDAMPING, username="ani", nama_ktp="Zul", domicile=None)


def usernames(admin: Client, **query: object) -> list[str]:
    response = admin.get("/admins/users", query_string=query)
    assert response.status_code == 200, response.json
    assert response.headers["X-Total-Count"] == str(len(response.json))
    return [row["username"] for row in response.json]


@pytest.mark.usefixtures("people")
@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({"role": "pasien"}, ["ani", "siti"]),
        ({"role": "PENDAMPING"}, ["ani", "budi"]),
        ({"role": "dokter"}, []),
        ({"is_verified": "true"}, ["siti"]),
        ({"is_verified": "false"}, ["ani", "budi", "rina"]),
        ({"province": "jawa barat"}, ["budi", "siti"]),
        ({"province": "Jabar", "role": "pasien", "is_verified": 1, "q": "sit"}, ["siti"]),
        ({"province": "Jawa Barat", "role": "pasien", "is_verified": 0}, []),
        ({"sort": "created_at"}, ["rina", "siti", "budi", "ani"]),
        ({"sort": "-created_at"}, ["ani", "budi", "siti", "rina"]),
        ({"sort": "nama_ktp"}, ["budi", "rina", "siti", "ani"]),
        ({"sort": "-username"}, ["siti", "rina", "budi", "ani"]),
        ({"sort": "username", "role": "pasien"}, ["ani", "siti"]),
    ],
)
def test_the_list_is_filtered_and_sorted(admin: Client, query: dict[str, object], expected: list[str]) -> None:
    assert usernames(admin, **query) == expected


@pytest.mark.usefixtures("people")
def test_a_sorted_table_is_paged(admin: Client) -> None:
    seen = []
    links = []
    for page in (1, 2, 3):
        response = admin.get("/admins/users", query_string={"sort": "nama_ktp", "page": page, "per_page": 2})
        assert response.headers["X-Total-Count"] == "4"
        seen += [row["username"] for row in response.json]
        links.append(response.headers.get("Link"))
    assert seen == ["budi", "rina", "siti", "ani"]
    assert links == ['</api/admins/users?sort=nama_ktp&page=2&per_page=2>; rel="next"', None, None]


def test_a_row_says_when_the_person_was_last_seen(admin: Client, client: Client) -> None:
    siti, budi, _ = make_user(username="siti"), make_user(username="budi"), make_user(username="baru")
    client.as_(siti)
    client.as_(budi)
    used, active = now() - timedelta(days=3), now() - timedelta(days=1)
    db.session.execute(sa.update(LoginSession).where(LoginSession.user_id != siti.id).values(last_used_at=used))
    logged = {"log": "user", "user_id": budi.id, "created_at": active, "stream_id": sa.func.gen_random_uuid()}
    db.session.execute(sa.insert(ActivityLog).values(logged))
    rows = {row["username"]: row for row in admin.get("/admins/users").json}
    assert rows["siti"]["last_seen_at"] > rfc3339(now() - timedelta(minutes=5))
    assert rows["budi"]["last_seen_at"] == rfc3339(active)
    assert rows["baru"]["last_seen_at"] is None
    (row,) = admin.get("/admins").json
    assert row["last_seen_at"] == rows["rina"]["last_seen_at"] == rfc3339(used)


def test_a_filtered_list_needs_a_fixed_number_of_statements(admin: Client, statements: Statements) -> None:
    for _ in range(15):
        make_user()
    with statements.at_most(6):  # SQL statements: caller, role, page, users' roles, count, access log
        assert len(admin.get("/admins/users?role=pasien&is_verified=false&per_page=10&sort=username").json) == 10
    with statements.at_most(5):
        assert len(admin.get("/admins/users?sort=nama_ktp&per_page=10").json) == 10


# --- at scale -------------------------------------------------------------------------------------------------------

#: 20,000 users: nearly all are pasien, unverified and in one province, with a few of each other kind.
FILL = (
    """
    INSERT INTO users (username, password_hash, nama_ktp, domicile, is_verified, created_at)
    SELECT 'massa' || n, '', 'Orang ' || n, CASE WHEN n % 2000 = 0 THEN 'Bali' ELSE 'Jawa Barat' END, n % 2500 = 0,
           now() - n * interval '1 minute'
    FROM generate_series(1, 20000) n
    """,
    """
    INSERT INTO user_roles SELECT u.id, r.id FROM users u JOIN roles r
    ON r.name = CASE WHEN u.id % 5000 = 0 THEN 'admin' ELSE 'pasien' END
    """,
)


@pytest.fixture
def many(committed: Flask) -> Iterator[None]:
    with unit_of_work():
        for statement in FILL:
            db.session.execute(sa.text(statement))
    analyse("users", "user_roles", "roles")
    with unit_of_work():
        yield


NARROWINGS: list[dict[str, Any]] = [
    {},
    {"role": "pasien"},
    {"role": "admin"},
    {"is_verified": True},
    {"is_verified": False},
    {"province": "Bali"},
    {"province": "Jawa Barat"},
    {"q": "massa199"},
    {"role": "pasien", "is_verified": True, "q": "massa"},
]


@pytest.mark.slow
@pytest.mark.usefixtures("many")
def test_no_filter_or_sort_order_scans_the_whole_users_table() -> None:
    for narrowing, sort in product(NARROWINGS, ("created_at", "-created_at", "nama_ktp", "-nama_ktp", "username")):
        matching = sa.select(User.id).where(*users._conditions(UserSearch(Page(1, 20), sort=sort, **narrowing)))
        plan = plan_of(matching.order_by(*users.order_of(sort)).limit(20))
        assert "Seq Scan on users" not in plan, f"{narrowing} by {sort}\n{plan}"
    listing = users.list_all(UserSearch(Page(1, 20), role="pasien"))
    assert (len(listing.rows), listing.total) == (20, MAX_COUNTED)
    assert users.list_all(UserSearch(Page(1, 20), sort="username")).total == MAX_COUNTED
