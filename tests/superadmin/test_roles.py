"""Database role of the console: no role that can run programs or read files on the server is accepted."""

import itertools
import logging
from pathlib import Path

import pytest
import sqlalchemy as sa

from app.core.database.session import db
from tests.helpers.client import assert_error
from tests.superadmin.database_roles import as_superuser, log_in, name_of


@pytest.fixture
def role(committed, change_settings):
    """Make a plain role, and another one of which it is a member. The console logs in as the plain role."""
    role = name_of(committed, "console")
    drop = f"DROP ROLE IF EXISTS {role}, {role}_middle, {role}_end"
    as_superuser(committed, drop)
    as_superuser(
        committed,
        f"CREATE ROLE {role}_end; CREATE ROLE {role}_middle; CREATE ROLE {role} LOGIN NOINHERIT;"
        f" GRANT {role}_end TO {role}_middle; GRANT {role}_middle TO {role}",
    )
    log_in(committed, change_settings, role)
    yield role
    as_superuser(committed, drop)


def test_a_plain_role_is_accepted(boss, role):
    response = boss.post("/superadmin/query", {"query": "SELECT session_user::text AS role"})
    assert response.json["rows"] == [{"role": role}]


#: Rights of a powerful role, and what takes them away.
RIGHTS = (
    ("ALTER ROLE {} SUPERUSER", "ALTER ROLE {} NOSUPERUSER"),
    ("ALTER ROLE {} CREATEROLE", "ALTER ROLE {} NOCREATEROLE"),
    *(
        (f"GRANT {right} TO {{}}", f"REVOKE {right} FROM {{}}")
        for right in ("pg_execute_server_program", "pg_read_server_files", "pg_write_server_files")
    ),
)


def test_a_powerful_role_is_refused_before_its_statement_runs(boss, committed, role):
    """The role itself is powerful, or a role that it can become."""
    for (give, take), holder in itertools.product(RIGHTS, (role, f"{role}_end")):
        as_superuser(committed, give.format(holder))
        for path in ("/superadmin/query", "/superadmin/query/export"):
            response = boss.post(path, {"query": "SELECT pg_advisory_lock(9)"})
            assert_error(response, 503, "superuser_role")
            for word in ("CREATEROLE", "deploy/sql-role.sql", "ALTER ROLE"):
                assert word in response.json["message"]
        as_superuser(committed, take.format(holder))
        assert boss.post("/superadmin/query", {"query": "SELECT 1"}).status_code == 200, take


def test_a_search_path_of_the_role_cannot_hide_its_power(boss, committed, role):
    as_superuser(
        committed,
        f"CREATE SCHEMA pretence; GRANT USAGE ON SCHEMA pretence TO {role};"
        " CREATE FUNCTION pretence.pg_has_role(name, oid, text) RETURNS boolean LANGUAGE sql AS 'SELECT false';"
        f" ALTER ROLE {role} SET search_path = pretence, pg_catalog; ALTER ROLE {role} SUPERUSER",
    )
    try:
        assert_error(boss.post("/superadmin/query", {"query": "SELECT 1"}), 503, "superuser_role")
    finally:
        as_superuser(committed, "DROP SCHEMA pretence CASCADE")


def test_a_role_that_cannot_log_in_makes_the_console_unavailable(boss, committed, change_settings):
    log_in(committed, change_settings, "nobody_of_this_name")
    assert_error(boss.post("/superadmin/query", {"query": "SELECT 1"}), 503)


def test_the_console_uses_the_second_host_when_the_first_is_unreachable(boss, committed, tmp_path, change_settings):
    url = sa.make_url(committed.extensions["config"].database_url)
    hosts = (f"{tmp_path}:5432", f"{url.query['host']}:5432")
    change_settings(database_url=url.update_query_dict({"host": hosts}).render_as_string(hide_password=False))
    response = boss.post("/superadmin/query", {"query": "SELECT username FROM users"})
    assert response.json["rows"] == [{"username": "bos"}]


def test_the_role_of_the_service_cannot_make_roles(committed):
    asked = "SELECT rolcreaterole OR rolsuper FROM pg_roles WHERE rolname = current_user"
    with db.engine.connect() as connection:
        assert connection.scalar(sa.text(asked)) is False


def block(*statements):
    """Return a DO block with these statements."""
    return "DO $do$ BEGIN " + " ".join(f"EXECUTE $sql${sql}$sql$;" for sql in statements) + " END $do$"


RUN = "COPY (SELECT 1) TO PROGRAM 'touch escaped'"
READ = "COPY notes FROM '/etc/passwd'"
FUNCTION = "CREATE FUNCTION pg_temp.run() RETURNS {} LANGUAGE plpgsql AS $f$ BEGIN " + RUN + "; RETURN NULL; END $f$; "


ATTEMPTS = (
    RUN,
    block(RUN),
    f"SELECT 1; {RUN}",
    "CREATE TEMP TABLE notes (note text); " + READ,
    "SELECT pg_read_file('/etc/passwd')",
    "SELECT pg_ls_dir('/')",
    "SELECT lo_import('/etc/passwd')",
    block("GRANT pg_execute_server_program TO CURRENT_USER", RUN),
    block("CREATE ROLE made IN ROLE pg_execute_server_program", "SET ROLE made", RUN),
    "SET SESSION AUTHORIZATION postgres; " + RUN,
    FUNCTION.format("int") + "SELECT pg_temp.run()",
    FUNCTION.format("int") + "DECLARE held CURSOR WITH HOLD FOR SELECT pg_temp.run()",
    FUNCTION.format("trigger") + "CREATE TEMP TABLE t (a int); CREATE CONSTRAINT TRIGGER at_commit AFTER INSERT ON t"
    " INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION pg_temp.run(); INSERT INTO t VALUES (1)",
    "ALTER SYSTEM SET archive_command = 'touch escaped'",
)


@pytest.mark.parametrize("own", [True, False], ids=["a role of its own", "the role of the service"])
def test_the_role_of_the_console_cannot_run_a_program_or_read_a_file(boss, committed, request, own):
    if own:
        request.getfixturevalue("role")
    ((data,),) = as_superuser(committed, "SHOW data_directory")
    for sql in ATTEMPTS:
        response = boss.post("/superadmin/query", {"query": sql})
        assert_error(response, 400, "sql_error")
        assert response.json["sqlstate"] in ("42501", "25001"), (sql, response.json)
        assert not (Path(data) / "escaped").exists(), sql


def test_the_actor_is_logged_even_if_the_statement_deletes_its_audit_entry(boss, caplog):
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
