"""No console statement can run a program on the database server, on the oldest and the newest PostgreSQL.

Before PostgreSQL 16, a role with CREATEROLE may grant every role that is no superuser, including
`pg_execute_server_program`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg2
import pytest
import sqlalchemy as sa
from flask import Flask

from app.superadmin.service import console
from dev.servers import Postgres, start_postgres
from dev.stack.waiting import wait_until
from dev.supervisor import Supervisor
from dev.system_packages import require
from tests.helpers.client import Client, assert_error

pytestmark = [pytest.mark.takes(seconds=15), pytest.mark.processes]

#: Name of the file that the test program creates in the server's data folder.
MARK = "escaped"
RUN = f"COPY (SELECT 1) TO PROGRAM 'touch {MARK}'"
GRANT = "GRANT pg_execute_server_program TO"

#: Statements for a superuser that create one role for each way to run a program.
ROLES = """
CREATE ROLE plain LOGIN;
CREATE ROLE maker LOGIN CREATEROLE;
CREATE ROLE member LOGIN NOINHERIT;
GRANT maker TO member;
CREATE ROLE caller LOGIN;
CREATE FUNCTION give() RETURNS void SECURITY DEFINER LANGUAGE plpgsql
    AS 'BEGIN GRANT pg_execute_server_program TO caller; END';
ALTER FUNCTION give OWNER TO maker;
REVOKE EXECUTE ON FUNCTION give FROM PUBLIC;
GRANT EXECUTE ON FUNCTION give TO caller;
CREATE ROLE pretender LOGIN CREATEROLE;
CREATE SCHEMA pretence AUTHORIZATION pretender;
ALTER ROLE pretender SET search_path = pretence, pg_catalog;
CREATE FUNCTION pretence.pg_has_role(name, oid, text) RETURNS boolean LANGUAGE sql AS 'SELECT false';
CREATE AGGREGATE pretence.bool_or(boolean) (SFUNC = pg_catalog.boolor_statefunc, STYPE = boolean, INITCOND = 'false');
GRANT USAGE ON SCHEMA pretence TO plain;
CREATE TABLE notes (note text);
GRANT INSERT ON notes TO plain;
"""


@dataclass(frozen=True)
class Database:
    postgres: Postgres
    data: Path

    def execute(self, statements: str) -> list[tuple[Any, ...]]:
        """Run statements as the server's superuser. Return the rows of the last one."""
        with closing(psycopg2.connect(self.postgres.url(role="postgres"))) as connection:
            connection.autocommit = True
            with connection.cursor() as cursor:
                cursor.execute(statements)
                return cursor.fetchall() if cursor.description else []

    @property
    def has_run_a_program(self) -> bool:
        return (self.data / MARK).exists()


def _database(folder: Path | None, tmp: Path) -> Iterator[Database]:
    with Supervisor(tmp / "logs") as supervisor:
        postgres = start_postgres(supervisor, tmp / "postgres", durable=False, folder=folder)
        database = Database(postgres, tmp / "postgres")
        database.execute(ROLES)
        yield database


@pytest.fixture(scope="module")
def newest(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    yield from _database(None, tmp_path_factory.mktemp("newest"))


@pytest.fixture(scope="module")
def oldest(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    for database in _database(require("postgresql").parent, tmp_path_factory.mktemp("oldest")):
        ((version,),) = database.execute("SELECT current_setting('server_version_num')::int")
        if version >= 16_00_00:
            pytest.skip(f"the PostgreSQL of this Debian is {version // 10_000}; the attack needs one before 16")
        yield database


@pytest.fixture(params=["oldest", "newest"])
def database(request: pytest.FixtureRequest) -> Database:
    found: Database = request.getfixturevalue(request.param)
    return found


LogIn = Callable[[Database, str], None]


@pytest.fixture
def log_in(committed: Flask, monkeypatch: pytest.MonkeyPatch) -> LogIn:
    """Return a function that makes the console log in to another database server with the given role."""

    def use(database: Database, role: str) -> None:
        (database.data / MARK).unlink(missing_ok=True)
        url = sa.make_url(database.postgres.url(role=role)).set(drivername="postgresql+psycopg2")
        address = url.render_as_string(hide_password=False)
        config = dataclasses.replace(committed.extensions["config"], superadmin_database_url=address)
        monkeypatch.setitem(committed.extensions, "config", config)

    return use


def block(*statements: str) -> str:
    """Return a DO block with these statements. The console cannot check statements in a DO block."""
    return "DO $do$ BEGIN " + " ".join(f"EXECUTE $sql${sql}$sql$;" for sql in statements) + " END $do$"


WAYS = {
    "a grant": ("maker", block(f"{GRANT} maker", RUN)),
    "a role made for it": (
        "maker",
        block("CREATE ROLE made IN ROLE pg_execute_server_program ROLE maker", "SET ROLE made", RUN),
    ),
    "the membership of another role": ("member", block("SET ROLE maker", f"{GRANT} member", "RESET ROLE", RUN)),
    "a function of another role": ("caller", block("SELECT give()", RUN)),
    "functions that pretend": ("pretender", block(f"{GRANT} pretender", RUN)),
}


@pytest.mark.parametrize("path", ["/superadmin/query", "/superadmin/query/export"])
@pytest.mark.parametrize("way", WAYS)
def test_a_role_that_can_grant_itself_program_execution_is_refused(
    boss: Client, oldest: Database, log_in: LogIn, way: str, path: str
) -> None:
    role, sql = WAYS[way]
    log_in(oldest, role)
    response = boss.post(path, {"query": sql})
    assert not oldest.has_run_a_program
    assert_error(response, 503, "superuser_role")
    for word in ("CREATEROLE", "deploy/sql-role.sql", "ALTER ROLE"):
        assert word in response.json["message"]
    assert_error(boss.post(path, {"query": "SELECT 1"}), 503, "superuser_role")


@pytest.mark.parametrize(
    "sql",
    [
        RUN.replace("touch", "/usr/bin/touch"),
        f"{GRANT} plain",
        "GRANT maker TO plain",
        "ALTER ROLE plain CREATEROLE",
        "CREATE ROLE made IN ROLE pg_execute_server_program",
        "SET ROLE maker",
        "SET SESSION AUTHORIZATION maker",
        "SELECT give()",
        "CREATE FUNCTION pg_temp.run() RETURNS void SECURITY DEFINER LANGUAGE plpgsql"
        f" AS $f$ BEGIN {RUN}; END $f$; SELECT pg_temp.run()",
        "CREATE TEMPORARY TABLE t (a int); CREATE FUNCTION pg_temp.run() RETURNS trigger LANGUAGE plpgsql"
        f" AS $f$ BEGIN {RUN}; RETURN NULL; END $f$; CREATE CONSTRAINT TRIGGER at_commit AFTER INSERT ON t"
        " INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION pg_temp.run(); INSERT INTO t VALUES (1)",
        "CREATE FUNCTION pg_temp.run() RETURNS int LANGUAGE plpgsql"
        f" AS $f$ BEGIN {RUN}; RETURN 1; END $f$; DECLARE held CURSOR WITH HOLD FOR SELECT pg_temp.run()",
    ],
)
def test_a_plain_role_cannot_run_a_program(boss: Client, database: Database, log_in: LogIn, sql: str) -> None:
    log_in(database, "plain")
    statements = sql if sql.startswith(("CREATE FUNCTION", "CREATE TEMPORARY")) else block(sql)
    response = boss.post("/superadmin/query", {"query": statements})
    assert_error(response, 400, "sql_error")
    assert response.json["sqlstate"] == "42501"
    assert not database.has_run_a_program


def test_a_createrole_role_is_accepted_on_the_newest_postgresql(boss: Client, newest: Database, log_in: LogIn) -> None:
    log_in(newest, "maker")
    assert boss.post("/superadmin/query", {"query": "SELECT 1 AS one"}).json["rows"] == [{"one": 1}]
    refused = boss.post("/superadmin/query", {"query": block(f"{GRANT} maker", RUN)})
    assert_error(refused, 400, "sql_error")
    assert not newest.has_run_a_program


def ask_while(database: Database, given: str, taken: str, ask: Callable[[str], Any]) -> Any:
    """Run a console statement that writes a note. Run `given` during this statement, and `taken` afterwards."""
    # The statement also sets a search path, which must not affect the second check of the role.
    sql = (
        "INSERT INTO notes VALUES ('left behind'); SET search_path = pretence, pg_catalog;"
        " SELECT pg_advisory_xact_lock(7)"
    )
    waits = "SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
    with (
        closing(psycopg2.connect(database.postgres.url(role="postgres"))) as holder,
        holder.cursor() as cursor,
        ThreadPoolExecutor(1) as pool,
    ):
        cursor.execute("SELECT pg_advisory_lock(7)")
        asked = pool.submit(ask, sql)
        wait_until(lambda: bool(database.execute(waits)))
        try:
            database.execute(given)
            cursor.execute("SELECT pg_advisory_unlock(7)")
            return asked.result()
        finally:
            database.execute(taken)


GAINS = [
    ("ALTER ROLE plain CREATEROLE", "ALTER ROLE plain NOCREATEROLE"),
    ("GRANT pg_write_server_files TO plain", "REVOKE pg_write_server_files FROM plain"),
    ("ALTER ROLE plain SUPERUSER", "ALTER ROLE plain NOSUPERUSER"),
]


@pytest.mark.parametrize(("given", "taken"), GAINS)
def test_a_query_is_rolled_back_if_its_role_became_powerful_while_it_ran(
    boss: Client, oldest: Database, log_in: LogIn, committed: Flask, given: str, taken: str
) -> None:
    log_in(oldest, "plain")

    def ask(sql: str) -> Any:
        with committed.app_context():
            return boss.post("/superadmin/query", {"query": sql})

    assert_error(ask_while(oldest, given, taken, ask), 503, "superuser_role")
    assert oldest.execute("SELECT note FROM notes") == []


def test_an_export_is_aborted_if_its_role_became_powerful_while_it_ran(
    boss: Client, oldest: Database, log_in: LogIn, committed: Flask
) -> None:
    log_in(oldest, "plain")

    def ask(sql: str) -> None:
        with committed.app_context(), pytest.raises(console.TooPowerful):
            boss.post("/superadmin/query/export", {"query": sql})

    ask_while(oldest, *GAINS[0], ask)
    assert oldest.execute("SELECT note FROM notes") == []


def test_a_write_by_a_plain_role_is_committed(boss: Client, database: Database, log_in: LogIn) -> None:
    log_in(database, "plain")
    assert boss.post("/superadmin/query", {"query": "INSERT INTO notes VALUES ('kept')"}).status_code == 200
    assert database.execute("DELETE FROM notes RETURNING note") == [("kept",)]
