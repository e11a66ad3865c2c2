"""`flask sql-role create`: rights of the console's database role, which cannot change the audit log."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator

import pytest
import sqlalchemy as sa
from flask import Flask

from app.core.database.session import db
from tests.helpers.client import Client, assert_error

pytestmark = pytest.mark.processes

Create = Callable[..., None]


@pytest.fixture
def create(committed: Flask, monkeypatch: pytest.MonkeyPatch) -> Iterator[Create]:
    """Return a function that runs the command. The console then uses the database address from the command's output.

    Drop the role after the test.
    """

    def run(*options: str) -> None:
        result = committed.test_cli_runner().invoke(args=["sql-role", "create", *options])
        assert result.exit_code == 0, result.output
        url = result.output.strip().removeprefix("SUPERADMIN_DATABASE_URL=")
        config = dataclasses.replace(
            committed.extensions["config"], superadmin_database_url=url.replace("postgresql:", "postgresql+psycopg2:")
        )
        monkeypatch.setitem(committed.extensions, "config", config)

    yield run
    with db.engine.begin() as connection:
        connection.execute(sa.text("DROP OWNED BY sql_console CASCADE"))
        connection.execute(sa.text("DROP ROLE sql_console"))


def count(table: str) -> int:
    return db.session.scalar(sa.text(f"SELECT count(*) FROM {table}")) or 0


def refused(boss: Client, sql: str) -> str:
    response = boss.post("/superadmin/query", {"query": sql})
    assert_error(response, 400, "sql_error")
    state: str = response.json["sqlstate"]
    return state


def test_the_command_creates_a_read_only_role(boss: Client, create: Create) -> None:
    create()
    create()  # the second call sets a new password
    response = boss.post("/superadmin/query", {"query": "SELECT current_user AS me, count(*) AS n FROM users"})
    assert response.json["rows"] == [{"me": "sql_console", "n": 1}]
    for sql in ("DELETE FROM users", "SET transaction_read_only = off; DELETE FROM users", "SET ROLE health"):
        assert refused(boss, sql) in ("25006", "25001", "42501")
    assert count("users") == 1


def test_a_write_role_can_change_tables_but_not_the_audit_log(boss: Client, create: Create) -> None:
    create("--write")
    for sql in (
        "INSERT INTO kategori (nama_kategori) VALUES ('Gizi')",
        "UPDATE users SET nama_ktp = 'Bos Besar'",
        "DELETE FROM emergency_numbers",
        "TRUNCATE videos",
        "CREATE TEMPORARY TABLE mine AS SELECT * FROM users",
    ):
        response = boss.post("/superadmin/query", {"query": sql})
        assert response.status_code == 200, response.json
    assert count("kategori") == 1
    before = count("audit_entries")
    assert before == 5
    assert refused(boss, "INSERT INTO audit_entries (action, subject) VALUES ('sql', 'query')") == "42501"
    assert count("audit_entries") == before + 1


def test_a_write_role_can_be_changed_to_a_read_only_role(boss: Client, create: Create) -> None:
    create("--write")
    create()
    for sql in ("DELETE FROM users", "SET default_transaction_read_only = off", "SELECT nextval('users_id_seq')"):
        boss.post("/superadmin/query", {"query": sql})
    assert count("users") == 1
    with db.engine.connect() as connection:
        granted = "SELECT string_agg(DISTINCT privilege_type, ' ') FROM information_schema.role_table_grants"
        assert connection.execute(sa.text(f"{granted} WHERE grantee = 'sql_console'")).scalar() == "SELECT"


@pytest.mark.parametrize("options", [(), ("--write",)])
def test_no_console_role_can_change_the_audit_log(boss: Client, create: Create, options: tuple[str, ...]) -> None:
    create(*options)
    attempts = (
        "DELETE FROM audit_entries",
        "UPDATE audit_entries SET actor_id = NULL",
        "TRUNCATE audit_entries",
        "MERGE INTO audit_entries AS a USING users ON true WHEN MATCHED THEN DELETE",
        "ALTER TABLE audit_entries DISABLE TRIGGER append_only",
        "ALTER TABLE audit_entries DISABLE TRIGGER ALL; DELETE FROM audit_entries",
        "DROP TRIGGER append_only ON audit_entries",
        "DROP TABLE audit_entries",
        "DROP SCHEMA public CASCADE",
        "ALTER TABLE audit_entries RENAME TO gone",
        "ALTER TABLE audit_entries OWNER TO sql_console",
        "ALTER TABLE audit_entries SET SCHEMA pg_temp",
        "CREATE RULE nothing AS ON INSERT TO audit_entries DO INSTEAD NOTHING",
        "CREATE TRIGGER nothing BEFORE INSERT ON audit_entries FOR EACH ROW EXECUTE FUNCTION refuse_change()",
        "CREATE OR REPLACE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'",
        "DROP FUNCTION refuse_change CASCADE",
        "LOCK TABLE audit_entries IN ACCESS EXCLUSIVE MODE",
        "SELECT setval('audit_entries_id_seq', 1)",
        "SET session_replication_role = replica; DELETE FROM audit_entries",
        "SET ROLE health",
        "SET SESSION AUTHORIZATION health",
        "GRANT health TO sql_console",
        "GRANT ALL ON audit_entries TO sql_console; DELETE FROM audit_entries",
        "DO $$ BEGIN EXECUTE 'DELETE FROM audit_entries'; END $$",
    )
    for sql in attempts:
        # Make the transaction writable. The role's default is read-only.
        assert refused(boss, f"SET transaction_read_only = off; {sql}") == "42501", sql
    queries = db.session.scalars(sa.text("SELECT details->>'query' FROM audit_entries ORDER BY id")).all()
    assert [query.removeprefix("SET transaction_read_only = off; ") for query in queries] == list(attempts)
