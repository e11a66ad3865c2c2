"""Tests of the audit log: who can read it, and that it cannot be changed."""

from datetime import UTC, datetime, timedelta

import pytest
import sqlalchemy as sa
from sqlalchemy.exc import ProgrammingError

from app.core.database.session import db
from app.identity import audit
from app.identity.models import AuditEntry
from app.roles import service as roles
from tests.helpers.factories import make_user


def test_the_log_is_append_only(admin):
    audit.record(None, audit.AuditAction.DELETED, "user:1")
    db.session.flush()
    for statement in (
        "UPDATE audit_entries SET action = 'nothing'",
        "DELETE FROM audit_entries",
        "DELETE FROM audit_entries WHERE id = -1",
        "TRUNCATE audit_entries",
        "INSERT INTO audit_entries (id, action, subject) SELECT max(id), 'a', 'b' FROM audit_entries"
        " ON CONFLICT (id) DO UPDATE SET ip = 'x'",
    ):
        with pytest.raises(ProgrammingError, match="append-only"), db.session.begin_nested():
            db.session.execute(sa.text(statement))


def test_a_deletion_anywhere_by_an_administrator_is_audited(admin):
    role_id = roles.create({"name": "relawan", "is_editable": True}).id
    assert admin.delete(f"/roles/{role_id}").status_code == 200
    (row,) = admin.get("/admins/audit").json
    assert (row["actor"], row["action"], row["subject"]) == ("rina", "deleted", f"roles/{role_id}")


def test_a_failed_deletion_is_not_audited(admin):
    assert admin.delete("/roles/999999").status_code == 404
    assert admin.get("/admins/audit").json == []


def test_adding_and_removing_a_role_are_each_audited_once(admin):
    siti = make_user(username="siti")
    role = roles.create({"name": "relawan", "is_editable": True})
    for _ in range(2):  # the second request changes nothing, so it adds no entry
        admin.post(f"/admins/{siti.id}/roles", {"role_ids": [role.id]})
    admin.delete(f"/admins/{siti.id}/roles", {"role_ids": [role.id]})
    rows = admin.get("/admins/audit").json
    assert [(row["details"]["given"], row["details"]["taken"]) for row in rows] == [
        ([], ["relawan"]),
        (["relawan"], []),
    ]


def test_the_username_of_the_subject_is_joined_on_reading(admin):
    siti = make_user(username="siti")
    admin.get(f"/admins/users/{siti.id}")
    siti.username = "siti_baru"
    db.session.flush()
    assert {(row["subject_name"], *row["details"]) for row in admin.get("/admins/audit").json} == {("siti_baru",)}


def test_the_text_of_a_statement_is_emptied_after_thirty_days(app):
    query = {"query": "SELECT 1"}
    entries = [
        AuditEntry(
            action=audit.AuditAction.SQL,
            subject="query",
            details=query,
            created_at=datetime.now(UTC) - timedelta(days=days),
        )
        for days in (29, 31)
    ]
    db.session.add_all(entries)
    db.session.flush()
    audit.empty_old_sql()
    db.session.expire_all()
    assert [entry.details for entry in entries] == [query, {}]
