"""Search for a patient or a caregiver by a part of the name."""

import pytest
import sqlalchemy as sa

from app.admins.service import relations
from app.caregivers import service
from app.core.database.session import db, unit_of_work
from app.core.web.pagination import MAX_COUNTED, Page, Search, containing
from app.identity import users
from app.identity.models import RoleName, User
from tests.helpers.factories import make_user
from tests.helpers.plans import analyse, plan_of, plans_of_all


def found(client, q, path="/patients"):
    return [row["username"] for row in client.get(path, query_string={"q": q}).ok()]


def test_a_part_of_username_or_name_finds_a_patient(siti):
    make_user(username="lain", nama_ktp="Orang Lain")
    for q in ("sit", "AMINAH", "i a"):
        assert found(siti, q) == ["siti"], q
        assert found(siti, q, "/caregivers") == []


def test_a_part_of_the_name_finds_a_caregiver(siti):
    make_user(RoleName.PENDAMPING, username="budi", nama_ktp="Budi 50%_x")
    make_user(RoleName.PENDAMPING, username="sari", nama_ktp="Sari 500")
    assert found(siti, "Budi", "/caregivers") == ["budi"]
    assert found(siti, "50%", "/caregivers") == found(siti, "%", "/caregivers") == ["budi"]
    assert found(siti, "%_x", "/caregivers") == ["budi"]
    assert found(siti, "\\", "/caregivers") == []


def test_email_phone_and_pseudonym_are_not_searched(siti):
    siti.user.email = "s@contoh.id"
    for q in ("contoh.id", "0812", "Melati"):
        assert found(siti, q) == [], q


def test_a_search_is_paged_and_an_empty_text_lists_everybody(siti):
    for n in range(3):
        make_user(username=f"pasien{n}")
    response = siti.get("/patients?q=pasien&per_page=2")
    assert [row["username"] for row in response.json] == ["pasien2", "pasien1"]
    assert response.headers["X-Total-Count"] == "3"
    assert "q=pasien" in response.headers["Link"]
    assert len(found(siti, "")) == 4


def test_a_search_costs_a_fixed_number_of_statements(siti, statements):
    for n in range(15):
        make_user(username=f"pasien{n}")
    for q in ("pasien", "pa"):
        with statements.at_most(4):  # SQL statements: session, role, page, count
            assert len(siti.get(f"/patients?q={q}&per_page=10").json) == 10


MANY = (
    """
    INSERT INTO users (username, password_hash, nama_ktp, created_at)
    SELECT 'massa' || n, '', 'Orang ' || n, now() - n * interval '1 minute' FROM generate_series(1, 20005) n
    """,
    """
    INSERT INTO user_roles
    SELECT u.id, r.id FROM users u, roles r
    WHERE r.name = CASE WHEN substr(u.username, 6)::int > 20000 THEN 'pendamping' ELSE 'pasien' END
    """,
    """
    INSERT INTO caregiver_links (caregiver_id, patient_id, created_at)
    SELECT c.id, p.id, p.created_at FROM users c, users p
    WHERE substr(c.username, 6)::int > 20000 AND substr(p.username, 6)::int <= 500
    """,
)


@pytest.mark.slow
@pytest.mark.usefixtures("committed")
def test_no_list_scans_the_whole_users_table():
    """There are 20,000 patients, five caregivers, and 2,500 links between them."""
    with unit_of_work():
        for statement in MANY:
            db.session.execute(sa.text(statement))
    analyse("users", "user_roles", "roles", "caregiver_links")
    with unit_of_work():
        for q in ("massa123", "Orang", "zzz"):
            matches = containing(q, User.username, User.nama_ktp)
            plan = plan_of(users.with_role(RoleName.PASIEN).where(matches).limit(20))
            assert "Seq Scan on users" not in plan, f"{q}\n{plan}"
        for q in ("massa", None):
            listing = service.list_with_role(RoleName.PASIEN, Search(Page(1, 20), q))
            assert (len(listing.rows), listing.total) == (20, MAX_COUNTED)
        for role, index in ((RoleName.PENDAMPING, "ix_user_roles_role_id"), (RoleName.PASIEN, "ix_users_created_at")):
            plan = plan_of(users.with_role(role).limit(20))
            assert index in plan, plan
    with unit_of_work(), plans_of_all() as plans:
        listing = relations.list_all(Search(Page(1, 20)))
    assert (len(listing.rows), listing.total) == (20, 2500)
    page, count = (plan for plan in plans if "caregiver_links" in plan)
    assert "ix_caregiver_links_created_at" in page, page
    assert "Join" not in count, count
    # The count reads the deleted dependents from an index.
    assert "Seq Scan on users" not in count, count
