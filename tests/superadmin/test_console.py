"""SQL console: results, errors, transactions, the audit entry and access."""

import sqlalchemy as sa

from app.core.database.session import db
from app.identity.models import AuditEntry, User
from tests.helpers.client import assert_error
from tests.helpers.factories import make_user
from tests.superadmin.results import run

#: Statements, with the command, the number of rows that they touch, and the number of rows in the answer.
STATEMENTS = (
    ("SELECT 1; DELETE FROM kategori", "DELETE", 0, 0),
    ("INSERT INTO kategori (nama_kategori) VALUES ('a'), ('b') RETURNING nama_kategori", "INSERT", 2, 2),
    ("WITH k AS (INSERT INTO kategori (nama_kategori) VALUES ('c') RETURNING 1) TABLE k", "SELECT", 1, 1),
    ("WITH b AS (SELECT 'bos' AS n) UPDATE users SET domicile = NULL FROM b WHERE username = n", "UPDATE", 1, 0),
    ("WITH d AS (SELECT 'd') INSERT INTO kategori (nama_kategori) TABLE d RETURNING 1", "INSERT", 1, 1),
    ("SHOW server_version", "SHOW", 1, 1),
    ("CREATE TEMP TABLE t (a int)", "CREATE TABLE", 0, 0),
    ("CREATE TEMP TABLE t (a int); INSERT INTO t SELECT generate_series(1,1500) RETURNING 1", "INSERT", 1500, 1000),
    ("SELECT 1 -- one; query;\n;", "SELECT", 1, 1),
    ("(VALUES (1), (2) EXCEPT VALUES (3)) ORDER BY 1 DESC LIMIT 1", "SELECT", 1, 1),
)


def test_each_statement_type_returns_its_command_and_row_count(boss):
    for sql, command, count, rows in STATEMENTS:
        result = run(boss, sql)
        assert (result["command"], result["row_count"], len(result["rows"])) == (command, count, rows), sql


def test_a_result_is_truncated_after_1000_rows(boss):
    result = run(boss, "SELECT generate_series(1, 1000) AS n")
    assert (len(result["rows"]), result["truncated"]) == (1000, False)
    result = run(boss, "SELECT generate_series(1, 1001) AS n")
    assert (len(result["rows"]), result["row_count"], result["truncated"]) == (1000, 1000, True)


def test_duplicate_column_names_get_a_suffix(boss):
    assert run(boss, "SELECT 1 AS a, 2 AS a, 3 AS a, 4 AS a_2")["columns"] == ["a", "a_2", "a_3", "a_2_2"]


def test_a_result_is_truncated_after_4_mb(boss):
    result = run(boss, "SELECT repeat('x', 1000000) AS x FROM generate_series(1, 10)")
    assert (len(result["rows"]), result["row_count"], result["truncated"]) == (4, 4, True)


def test_a_failing_statement_rolls_back_the_whole_query(boss):
    sql = "INSERT INTO kategori (nama_kategori) VALUES ('a'); CREATE TABLE t (a int); SELECT 1/0"
    assert_error(boss.post("/superadmin/query", {"query": sql}), 400, "sql_error")
    assert run(boss, "SELECT * FROM kategori")["rows"] == []
    assert run(boss, "SELECT to_regclass('t') AS t")["rows"] == [{"t": None}]


def test_a_statement_that_commits_itself_stays_when_the_next_one_fails(boss):
    sql = "INSERT INTO kategori (nama_kategori) VALUES ('a'); COMMIT; DELETE FROM kategori; SELECT 1/0"
    assert_error(boss.post("/superadmin/query", {"query": sql}), 400, "sql_error")
    assert run(boss, "SELECT nama_kategori FROM kategori")["rows"] == [{"nama_kategori": "a"}]


def test_a_failing_commit_is_an_error(boss):
    sql = "CREATE TABLE t (a int UNIQUE DEFERRABLE INITIALLY DEFERRED); INSERT INTO t VALUES (1), (1)"
    response = boss.post("/superadmin/query", {"query": sql})
    assert_error(response, 400, "sql_error")
    assert response.json["sqlstate"] == "23505"
    assert run(boss, "SELECT to_regclass('t') AS t")["rows"] == [{"t": None}]


def test_statement_timeout_in_the_text_changes_nothing_for_other_texts(boss):
    run(boss, "SET statement_timeout = 1; SET search_path = nowhere")
    assert run(boss, "SELECT pg_sleep(0.1)::text AS slept, count(*) AS n FROM users")["rows"] == [{"slept": "", "n": 1}]


def test_a_statement_is_audited_before_it_runs(boss):
    sql = "SELECT count(*) AS n FROM audit_entries WHERE action = 'sql' AND details->>'query' LIKE '%count%'"
    assert run(boss, sql)["rows"] == [{"n": 1}]
    boss.post("/superadmin/query", {"query": "SELECT 1/0"})
    boss.post("/superadmin/query/export", {"query": "SELECT 2"})
    rows = db.session.scalars(sa.select(AuditEntry).order_by(AuditEntry.id.desc()).limit(2)).all()
    assert [(row.subject, row.details["query"]) for row in rows] == [
        ("query/export", "SELECT 2"),
        ("query", "SELECT 1/0"),
    ]
    assert rows[0].ip == "127.0.0.1"


def test_the_console_refuses_a_user_whose_role_was_removed(boss):
    assert run(boss, "DELETE FROM user_roles")["row_count"] == 1
    assert_error(boss.post("/superadmin/query", {"query": "SELECT 1"}), 403)


def test_a_user_deleted_in_the_console_is_not_found_by_the_service(boss, committed):
    siti_id = make_user(username="siti").id
    db.session.commit()
    run(boss, f"DELETE FROM users WHERE id = {siti_id}")
    db.session.expire_all()
    assert db.session.get(User, siti_id) is None
