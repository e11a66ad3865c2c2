"""Splitting of SQL text into statements."""

from __future__ import annotations

import pytest

from app.superadmin.runner.statements import split


@pytest.mark.parametrize(
    ("sql", "texts"),
    [
        ("", []),
        ("  ;; ; ", []),
        ("-- only a comment; really", []),
        ("/* a; /* b; */ c; */", []),
        ("SELECT 1", ["SELECT 1"]),
        ("SELECT 1; SELECT 2 ;", ["SELECT 1", "SELECT 2"]),
        ("SELECT ';' ; SELECT \";\"", ["SELECT ';'", 'SELECT ";"']),
        ("SELECT 'it''s; fine'; SELECT 2", ["SELECT 'it''s; fine'", "SELECT 2"]),
        (r"SELECT E'a\';b'; SELECT 2", [r"SELECT E'a\';b'", "SELECT 2"]),
        (r"SELECT 'a\'; SELECT 2", [r"SELECT 'a\'", "SELECT 2"]),
        ("SELECT $$a;b$$; SELECT $x$ $$; $x$", ["SELECT $$a;b$$", "SELECT $x$ $$; $x$"]),
        ("SELECT a$b; SELECT 2", ["SELECT a$b", "SELECT 2"]),
        ("SELECT 1 -- a; b\n; SELECT 2", ["SELECT 1 -- a; b", "SELECT 2"]),
        ("SELECT 1 -- a; b\r; SELECT 2", ["SELECT 1 -- a; b", "SELECT 2"]),
        ("SELECT a\U0001f600$$; SELECT 2", ["SELECT a\U0001f600$$", "SELECT 2"]),
        ("SELECT $a\u20ac$;'$a\u20ac$; SELECT 2", ["SELECT $a\u20ac$;'$a\u20ac$", "SELECT 2"]),
        ("SELECT 0x1f$$;$$; SELECT 2", ["SELECT 0x1f$$;$$", "SELECT 2"]),
        ("SELECT E'a' -- b'\n '\\'; '; SELECT 2", ["SELECT E'a' -- b'\n '\\'; '", "SELECT 2"]),
        ("SELECT E'a' '\\'; SELECT 2", ["SELECT E'a' '\\'", "SELECT 2"]),
        ("CREATE RULE r AS ON INSERT TO t DO (SELECT 1; SELECT 2); SELECT 3", None),
        ("SELECT 'unfinished; SELECT 2", ["SELECT 'unfinished", "SELECT 2"]),
        ("SELECT $$unfinished; SELECT 2", ["SELECT $$unfinished; SELECT 2"]),
        ("(SELECT 1)", ["(SELECT 1)"]),
    ],
)
def test_sql_text_is_split_into_statements_by_postgresql_rules(sql: str, texts: list[str] | None) -> None:
    actual = [statement.text for statement in split(sql)]
    assert actual == texts if texts is not None else len(actual) == 2


def test_a_begin_atomic_function_is_not_split_at_its_semicolons() -> None:
    body = "BEGIN ATOMIC SELECT CASE WHEN true THEN 1 END; SELECT 2; END"
    sql = f"CREATE FUNCTION f() RETURNS int LANGUAGE sql {body}; SELECT 3"
    assert [statement.begins_with for statement in split(sql)] == ["CREATE", "SELECT"]


@pytest.mark.parametrize(
    "sql",
    [
        "begin",
        "/* x */ Commit",
        "ROLLBACK TO SAVEPOINT a",
        "END",
        "abort",
        "START TRANSACTION",
        "PREPARE TRANSACTION 'x'",
    ],
)
def test_transaction_control_is_recognised(sql: str) -> None:
    assert split(sql)[0].controls_transaction


@pytest.mark.parametrize(
    "sql", ["SELECT 'COMMIT'", "PREPARE p AS SELECT 1", 'SELECT "begin"', "UPDATE commit SET a = 1"]
)
def test_similar_text_is_not_recognised_as_transaction_control(sql: str) -> None:
    assert not split(sql)[0].controls_transaction
