"""`deploy/sql-role.sql`: rights of the console's database role, which cannot change the audit log."""

import shutil
import subprocess
from collections.abc import Callable

import pytest
import sqlalchemy as sa

from app.core.database.session import db
from config import ROOT
from tests.helpers.client import assert_error
from tests.helpers.postgres_programs import PATH
from tests.superadmin.database_roles import alone, as_superuser, log_in, name_of

pytestmark = pytest.mark.processes

Create = Callable[..., None]

WRITABLE = "COMMIT; BEGIN READ WRITE; "
SCRIPT = ROOT / "deploy" / "sql-role.sql"


@pytest.fixture
def create(committed, change_settings, tmp_path):
    """Return a function that runs the script as a superuser. The console then logs in as the new role.

    Drop the role after the test.
    """
    role = name_of(committed, "sql_console")

    def run(*, writes=False, mode="rw"):
        script = tmp_path / "sql-role.sql"
        script.write_text(SCRIPT.read_text().replace("-- ALTER ROLE", "ALTER ROLE") if writes else SCRIPT.read_text())
        service = sa.make_url(committed.extensions["config"].database_url)
        superuser = service.set(drivername="postgresql", username="postgres")
        psql = [shutil.which("psql", path=PATH) or "psql", "--quiet", superuser.render_as_string(hide_password=False)]
        with alone(committed):
            subprocess.run(
                [*psql, "--variable", "password=a'b c", "--variable", f"role={role}", "--file", script], check=True
            )
        log_in(committed, change_settings, role, "a'b c", superadmin_sql_mode=mode)

    yield run
    with alone(committed):
        as_superuser(committed, f"DROP OWNED BY {role} CASCADE; DROP ROLE {role}")


def count(table):
    return db.session.scalar(sa.text(f"SELECT count(*) FROM {table}")) or 0


def refused(boss, sql):
    response = boss.post("/superadmin/query", {"query": sql})
    assert_error(response, 400, "sql_error")
    return response.json["sqlstate"]


#: Writes that the reading role tries, also after a change of its transaction.
WRITES = (
    "DELETE FROM users",
    "SET transaction_read_only = off; DELETE FROM users",
    "SET TRANSACTION READ WRITE; DELETE FROM users",
    "COMMIT; BEGIN READ WRITE; DELETE FROM users; COMMIT",
    "SET default_transaction_read_only = off; COMMIT; DELETE FROM users",
    "SET ROLE health",
)


def test_the_script_creates_a_read_only_role(boss, create):
    create()
    create()  # the second call sets a new password
    response = boss.post("/superadmin/query", {"query": "SELECT current_user AS me, count(*) AS n FROM users"})
    (row,) = response.json["rows"]
    assert (row["me"][:11], row["n"]) == ("sql_console", 1)
    for mode in ("rw", "ro"):
        create(mode=mode)
        for sql in WRITES:
            assert refused(boss, sql) in ("25006", "25001", "42501"), (mode, sql)
    assert count("users") == 1


def test_a_write_role_can_change_tables_but_not_the_audit_log(boss, create):
    create(writes=True)
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


def test_a_write_role_can_be_changed_to_a_read_only_role(boss, create):
    create(writes=True)
    create()
    for sql in ("DELETE FROM users", "SET default_transaction_read_only = off", "SELECT nextval('users_id_seq')"):
        boss.post("/superadmin/query", {"query": sql})
    assert count("users") == 1
    with db.engine.connect() as connection:
        granted = "SELECT string_agg(DISTINCT privilege_type, ' ') FROM information_schema.role_table_grants"
        assert connection.execute(sa.text(f"{granted} WHERE grantee LIKE 'sql_console%'")).scalar() == "SELECT"


@pytest.mark.parametrize("writes", [False, True])
def test_no_console_role_can_change_the_audit_log(boss, create, writes):
    create(writes=writes)
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
        "ALTER TABLE audit_entries OWNER TO CURRENT_USER",
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
        "GRANT health TO CURRENT_USER",
        "GRANT ALL ON audit_entries TO CURRENT_USER; DELETE FROM audit_entries",
        "DO $$ BEGIN EXECUTE 'DELETE FROM audit_entries'; END $$",
    )
    for sql in attempts:
        # Begin a writable transaction. The role's default is read-only.
        assert refused(boss, f"{WRITABLE}{sql}") == "42501", sql
    queries = db.session.scalars(sa.text("SELECT details->>'query' FROM audit_entries ORDER BY id")).all()
    assert [query.removeprefix(WRITABLE) for query in queries] == list(attempts)


def test_later_tables_can_be_read_but_not_written(boss, create, committed):
    create(writes=True)
    with db.engine.begin() as connection:
        connection.execute(sa.text("CREATE TABLE later AS SELECT 1 AS one"))
    try:
        assert boss.post("/superadmin/query", {"query": "TABLE later"}).json["rows"] == [{"one": 1}]
        assert refused(boss, "DELETE FROM later") == "42501"
    finally:
        with db.engine.begin() as connection:
            connection.execute(sa.text("DROP TABLE later"))


def test_mode_ro_refuses_a_write_of_a_role_that_may_write(boss, create):
    create(writes=True, mode="ro")
    assert boss.post("/superadmin/query", {"query": "SELECT username FROM users"}).json["rows"] == [{"username": "bos"}]
    for sql in (
        "DELETE FROM users",
        "WITH gone AS (DELETE FROM users RETURNING 1) SELECT * FROM gone",
        "SELECT nextval('users_id_seq')",
        "DO $$ BEGIN DELETE FROM users; END $$",
        "SELECT 1; SET transaction_read_only = off; DELETE FROM users",
        "COMMIT; DELETE FROM users",
    ):
        assert refused(boss, sql) in ("25006", "25001"), sql
    assert count("users") == 1
