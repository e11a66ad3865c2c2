"""Database role of the console, and the audit log of its statements."""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Iterator

import pytest
import sqlalchemy as sa
from flask import Flask

from app.core.database.session import db
from tests.helpers.client import Client, assert_error


@pytest.fixture
def role(committed: Flask, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Create a role for the console, drop it after the test, and yield its name."""
    with db.engine.begin() as connection:
        connection.execute(sa.text("DROP ROLE IF EXISTS console_test"))
        connection.execute(sa.text("CREATE ROLE console_test LOGIN PASSWORD 'rahasia'"))
    url = sa.make_url(committed.config["SQLALCHEMY_DATABASE_URI"]).set(username="console_test", password="rahasia")
    address = url.render_as_string(hide_password=False)
    config = dataclasses.replace(committed.extensions["config"], superadmin_database_url=address)
    monkeypatch.setitem(committed.extensions, "config", config)
    yield "console_test"
    with db.engine.begin() as connection:
        connection.execute(sa.text("DROP ROLE console_test"))


@pytest.mark.parametrize("verdict", ["t", None])
def test_a_powerful_role_is_refused(verdict: str | None) -> None:
    """The tests' own role cannot create a powerful role, so the test fakes PostgreSQL's result."""
    from app.superadmin.runner import __main__ as runner

    class Cursor:
        def execute(self, statement: str) -> None:
            assert statement == runner.TOO_POWERFUL

        def fetchone(self) -> tuple[str | None]:
            return (verdict,)

    with pytest.raises(runner.RoleTooPowerful):
        runner.check_role(Cursor())


@pytest.mark.parametrize("path", ["/superadmin/query", "/superadmin/query/export"])
def test_a_too_powerful_role_gives_503_superuser_role(boss: Client, monkeypatch: pytest.MonkeyPatch, path: str) -> None:
    from app.superadmin.runner.frames import FrameKind, packed
    from app.superadmin.service.console import Run

    frames = packed(FrameKind.ERROR, b'{"too_powerful": true}')
    received = iter([frames[:5], frames[5:]])
    monkeypatch.setattr(Run, "_read", lambda self, count: next(received))
    refused = boss.post(path, {"query": "SELECT 1"})
    assert_error(refused, 503, "superuser_role")
    assert "superuser" in refused.json["message"]


def test_the_role_check_finds_superusers_and_program_execution_roles(committed: Flask) -> None:
    from app.superadmin.runner.__main__ import TOO_POWERFUL

    statement = TOO_POWERFUL.replace("session_user", ":role")
    verdicts = {
        role: db.session.scalar(sa.text(statement), {"role": role})
        for role in db.session.scalars(sa.text("SELECT rolname::text FROM pg_roles"))
    }
    own = db.session.scalar(sa.text("SELECT current_user::text"))
    superusers = set(db.session.scalars(sa.text("SELECT rolname::text FROM pg_roles WHERE rolsuper")))
    assert superusers
    assert {role for role, powerful in verdicts.items() if powerful} >= superusers | {"pg_execute_server_program"}
    assert verdicts[own] is False
    assert verdicts["pg_read_all_data"] is False


def test_a_plain_role_can_run_a_query(boss: Client, role: str) -> None:
    response = boss.post("/superadmin/query", {"query": "SELECT session_user::text AS role"})
    assert response.json["rows"] == [{"role": role}]


def test_the_actor_is_logged_even_if_the_statement_deletes_its_audit_entry(
    boss: Client, caplog: pytest.LogCaptureFixture
) -> None:
    """The log line contains the entry's id, not the statement, because log lines stay after a user is erased."""
    sql = (
        "ALTER TABLE audit_entries DISABLE TRIGGER append_only; DELETE FROM audit_entries;"
        " ALTER TABLE audit_entries ENABLE TRIGGER append_only"
    )
    with caplog.at_level(logging.WARNING, logger="app.audit"):
        assert boss.post("/superadmin/query", {"query": sql}).status_code == 200
    assert db.session.scalar(sa.text("SELECT count(*) FROM audit_entries")) == 0
    (line,) = [record for record in caplog.records if record.name == "app.audit"]
    assert (line.action, line.subject, type(line.entry_id)) == ("sql", "query", int)
    assert not [record for record in caplog.records if "TRIGGER" in str(vars(record))]
    assert (line.actor_id, line.ip) == (db.session.scalar(sa.text("SELECT id FROM users")), "127.0.0.1")
