"""Tests of the access log. Every access to another person's data must be recorded."""

import sqlalchemy as sa

from app.core.database.session import db
from app.identity import access_log
from app.identity.access_log import AccessAction
from app.identity.models import RoleName, User
from app.privacy.service import access
from tests.helpers.factories import as_caller, make_admin, make_user
from tests.helpers.language import assert_readable
from tests.privacy.answers import lines


def test_each_read_of_a_nik_is_one_entry(client, siti):
    siti.put("/profile", {"nik": "3273014502900001"})
    assert lines(siti) == []
    admin = client.as_(make_admin(nama_ktp="Rahasia Namanya"))
    for _ in range(2):
        admin.get(f"/admins/users/{siti.id}")
    rows = lines(siti)
    assert [row["action"] for row in rows].count("nik_read") == 2
    assert {row["who"] for row in rows} == {"Administrator"}
    assert all(set(row) == {"at", "who", "action", "reason"} and row["reason"] for row in rows)


def test_an_entry_of_a_caregiver_has_the_name_and_the_reason(client, siti):
    budi = make_user(RoleName.PENDAMPING, nama_ktp="Budi Santoso")
    access_log.record(as_caller(budi), siti.id, AccessAction.HISTORY_READ)
    access_log.record(as_caller(budi), siti.id, AccessAction.HISTORY_READ, "Kontrol besok")
    rows = lines(siti)
    assert {row["who"] for row in rows} == {"Budi Santoso"}
    assert {row["reason"] for row in rows} == {access.REASONS[AccessAction.HISTORY_READ], "Kontrol besok"}
    assert lines(client.as_(make_user())) == [], "somebody else does not read them"
    db.session.execute(sa.delete(User).where(User.id == budi.id))
    assert {row["who"] for row in lines(siti)} == {"Pendamping yang sudah tidak terdaftar"}


def test_entries_are_paged_and_the_latest_is_first(siti, statements):
    admin = as_caller(make_admin())
    for hours in range(9, 0, -1):
        access_log.record(admin, siti.id, AccessAction.NIK_READ, f"{hours} jam")
    with statements.at_most(3):  # one SQL statement each for session, page and count
        response = siti.get("/profile/akses?page=1&per_page=6")
    assert [row["reason"] for row in response.json] == [f"{hours} jam" for hours in range(1, 7)]
    assert response.headers["X-Total-Count"] == "9"


def test_every_action_has_a_readable_indonesian_sentence():
    assert set(access.REASONS) == set(AccessAction)
    for text in (*access.REASONS.values(), *access.WHO.values()):
        assert_readable(text)
