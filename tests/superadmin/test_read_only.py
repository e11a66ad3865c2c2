"""`SUPERADMIN_SQL_MODE=ro`: no statement can write."""

from __future__ import annotations

import dataclasses

import pytest
import sqlalchemy as sa
from flask import Flask

from app.core.database.session import db
from tests.helpers.client import Client, assert_error


@pytest.fixture
def reader(boss: Client, committed: Flask, monkeypatch: pytest.MonkeyPatch) -> Client:
    """Set the console to read-only and return the super-admin."""
    config = dataclasses.replace(committed.extensions["config"], superadmin_sql_mode="ro")
    monkeypatch.setitem(committed.extensions, "config", config)
    return boss


def test_a_select_works_in_read_only_mode(reader: Client) -> None:
    response = reader.post("/superadmin/query", {"query": "SELECT username FROM users"})
    assert response.json["rows"] == [{"username": "bos"}]


@pytest.mark.parametrize(
    ("sql", "sqlstate"),
    [
        ("DELETE FROM users", "25006"),
        ("WITH gone AS (DELETE FROM users RETURNING 1) SELECT * FROM gone", "25006"),
        ("CREATE TABLE t (a int)", "25006"),
        ("SELECT nextval('users_id_seq')", "25006"),
        ("SET TRANSACTION READ WRITE; DELETE FROM users", "25001"),
        ("SET transaction_read_only = off; DELETE FROM users", "25001"),
        ("SELECT set_config('transaction_read_only', 'off', false); DELETE FROM users", "25001"),
        ("SET default_transaction_read_only = off; COMMIT; DELETE FROM users", "2D000"),
        ("DO $$ BEGIN DELETE FROM users; END $$", "25006"),
    ],
)
def test_a_write_is_refused_in_read_only_mode(reader: Client, sql: str, sqlstate: str) -> None:
    response = reader.post("/superadmin/query", {"query": sql})
    assert_error(response, 400, "sql_error")
    assert response.json["sqlstate"] == sqlstate, response.json
    assert db.session.scalar(sa.text("SELECT count(*) FROM users")) == 1


#: SQL that ends the read-only transaction and begins a writable one.
ANOTHER_TRANSACTION = "COMMIT; BEGIN READ WRITE; DELETE FROM users; COMMIT"


@pytest.mark.parametrize(
    "sql",
    [
        f"SELECT 1 -- a comment ends here\r; {ANOTHER_TRANSACTION}",
        f"SELECT 1 AS a\U0001f600$$; {ANOTHER_TRANSACTION}",
        f"SELECT $a\u20ac$ ' $a\u20ac$; {ANOTHER_TRANSACTION}; --'",
        f"SELECT E'a' -- goes on\n '\\''; {ANOTHER_TRANSACTION}; SELECT ''",
        f"SET standard_conforming_strings = off; SELECT '\\''; {ANOTHER_TRANSACTION}; SELECT ''",
        f"SET client_encoding = 'SJIS'; SELECT E'\u00c3\\'; {ANOTHER_TRANSACTION}; --'",
    ],
    ids=["carriage return", "name", "dollar quote", "continued string", "backslash", "encoding"],
)
def test_a_hidden_second_transaction_cannot_write_in_read_only_mode(reader: Client, sql: str) -> None:
    assert reader.post("/superadmin/query", {"query": sql}).status_code in (200, 400)
    assert db.session.scalar(sa.text("SELECT count(*) FROM users")) == 1


def test_a_refused_write_is_recorded_in_the_audit_log(reader: Client) -> None:
    reader.post("/superadmin/query", {"query": "DELETE FROM users"})
    assert [row["subject"] for row in reader.get("/admins/audit").json] == ["query"]
