"""Tests of how administrators read, search, verify and change users."""

from datetime import timedelta

import pytest
import sqlalchemy as sa

from app.admins.schemas import UserSearch
from app.admins.service import users
from app.core.database.session import db, unit_of_work
from app.core.lib.local_time import now
from app.core.web.pagination import MAX_COUNTED, Page
from app.identity.models import RoleName, User, UserDay
from tests.helpers.factories import make_user
from tests.helpers.plans import analyse, plan_of

NIK = "3273014502900001"


def audited(admin, **query):
    return admin.get("/admins/audit", query_string=query).json


# --- reading --------------------------------------------------------------------------------------------------------


def test_a_pseudonym_is_shown_only_in_the_audited_detail(admin):
    siti = make_user(username="siti", nama_samaran="Melati")
    assert [row["nama_samaran"] for row in admin.get("/admins/users").json] == [None, None]
    assert [row["nama_samaran"] for row in admin.get("/admins/users?q=siti").json] == [None]
    assert admin.put(f"/admins/users/{siti.id}", {"is_verified": True}).json["nama_samaran"] is None
    assert audited(admin, action="pseudonym_read") == []
    assert admin.get(f"/admins/users/{siti.id}").json["nama_samaran"] == "Melati"
    (row,) = audited(admin, action="pseudonym_read")
    assert (row["actor"], row["subject"], row["subject_name"]) == ("rina", f"user:{siti.id}", "siti")


def test_pages_are_complete_for_people_registered_on_different_days(admin):
    for n in range(9):
        user = make_user(username=f"pasien{n}")
        user.created_at = now() - timedelta(days=n // 2, hours=n % 2)
    db.session.flush()
    usernames = db.session.scalars(sa.select(User.username).order_by(User.created_at.desc(), User.id.desc())).all()
    seen = []
    for page in range(1, 6):
        response = admin.get("/admins/users", query_string={"page": page, "per_page": 2})
        assert response.headers["X-Total-Count"] == "10"
        seen += [row["username"] for row in response.json]
    assert seen == list(usernames)
    assert admin.get("/admins/users", query_string={"page": 99, "per_page": 2}).json == []


def test_the_counts_of_days_follow_insert_update_and_delete(admin):
    def tallied():
        return db.session.scalar(sa.select(sa.func.sum(UserDay.users)))

    before = tallied()
    user = make_user()
    assert tallied() == before + 1
    user.created_at = now() - timedelta(days=40)
    db.session.flush()
    days = dict(db.session.execute(sa.select(UserDay.day, UserDay.users).where(UserDay.users > 0)).all())
    assert sum(days.values()) == before + 1
    assert len(days) == 2
    db.session.delete(user)
    db.session.flush()
    assert tallied() == before


def test_a_search_finds_a_part_of_name_email_or_phone_but_no_pseudonym(admin):
    make_user(username="siti", nama_ktp="Siti Aminah 50%", email="s@contoh.id", nomor_hp="0812-5500-7700")
    make_user(username="lain", nama_ktp="Orang Lain", nomor_hp="081299990000", nama_samaran="Melati Rahasia")
    for q in ("sit", "AMIN", "@contoh", "0812-55", "+62812550", "50%"):
        response = admin.get("/admins/users", query_string={"q": q})
        assert [row["username"] for row in response.json] == ["siti"], q
        assert response.headers["X-Total-Count"] == "1"
    assert admin.get("/admins/users", query_string={"q": "melati rahasia"}).json == []


def test_a_detail_without_a_nik_and_a_pseudonym_is_not_audited(admin):
    siti = make_user(nama_samaran=None)
    assert admin.get(f"/admins/users/{siti.id}").json["nik"] is None
    assert audited(admin) == []


def test_users_are_filtered_newest_first(admin, statements):
    make_user(username="siti").is_verified = True
    make_user(RoleName.PENDAMPING, username="budi")
    make_user(RoleName.PASIEN, RoleName.PENDAMPING, username="ani")
    db.session.flush()
    for query, expected in (
        ({"role": "pasien"}, ["ani", "siti"]),
        ({"role": "PENDAMPING"}, ["ani", "budi"]),
        ({"role": "dokter"}, []),
        ({"role": "", "is_verified": "", "q": ""}, ["ani", "budi", "siti", "rina"]),
        ({"is_verified": "true"}, ["siti"]),
        ({"is_verified": "false"}, ["ani", "budi", "rina"]),
        ({"role": "pasien", "is_verified": 1, "q": "sit"}, ["siti"]),
        ({"role": "pasien", "is_verified": 0, "q": "sit"}, []),
    ):
        with statements.at_most(5):  # SQL statements: caller, its roles, role of the filter, users, their roles
            response = admin.get("/admins/users", query_string=query)
        assert [row["username"] for row in response.json] == expected, query
        assert response.headers["X-Total-Count"] == str(len(expected))


#: 20,000 users: nearly all are pasien, unverified and in one province, with a few of each other kind.
FILL = (
    """
    INSERT INTO users (username, password_hash, nama_ktp, is_verified, created_at)
    SELECT 'massa' || n, '', 'Orang ' || n, n % 2500 = 0, now() - n * interval '1 minute'
    FROM generate_series(1, 20000) n
    """,
    """
    INSERT INTO user_roles SELECT u.id, r.id FROM users u JOIN roles r
    ON r.name = CASE WHEN u.id % 5000 = 0 THEN 'admin' ELSE 'pasien' END
    """,
)
NARROWINGS = [
    {},
    {"role": "pasien"},
    {"role": "admin"},
    {"is_verified": True},
    {"is_verified": False},
    {"q": "massa199"},
    {"role": "pasien", "is_verified": True, "q": "massa"},
]


@pytest.mark.slow
@pytest.mark.usefixtures("committed")
def test_no_filter_scans_the_whole_users_table():
    with unit_of_work():
        for statement in FILL:
            db.session.execute(sa.text(statement))
    analyse("users", "user_roles", "roles")
    with unit_of_work():
        for narrowing in NARROWINGS:
            plan = plan_of(users.matching(UserSearch(Page(1, 20), **narrowing)).limit(20))
            assert "Seq Scan on users" not in plan, f"{narrowing}\n{plan}"
        listing = users.list_all(UserSearch(Page(1, 20), role="pasien"))
        assert (len(listing.rows), listing.total) == (20, MAX_COUNTED)
