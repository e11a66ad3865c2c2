"""Routes of the SQL console and the table browser, in the order of `routes.py`."""

import sqlalchemy as sa

from app.core.database.session import db
from tests.helpers.client import assert_error
from tests.helpers.factories import make_user
from tests.superadmin.results import rows, run


def test_a_query_has_20_kb_at_most(superadmin):
    query = "SELECT '" + "x" * 20480 + "'"
    for path in ("/superadmin/query", "/superadmin/query/export"):
        assert_error(superadmin.post(path, {"query": query}), 400, "validation_error", "query")


class TestRunQuery:
    """POST /superadmin/query"""

    def test_a_select_gives_columns_and_rows(self, boss):
        result = run(boss, "SELECT 1 AS satu, 'dua' AS dua")
        assert result.pop("duration_ms") >= 0
        assert result == {
            "columns": ["satu", "dua"],
            "rows": [{"satu": 1, "dua": "dua"}],
            "row_count": 1,
            "truncated": False,
            "command": "SELECT",
        }

    def test_a_database_error_returns_its_sqlstate(self, boss):
        for sql, sqlstate in (("SELEC 1", "42601"), ("SELECT 1/0", "22012"), ("VACUUM", "25001")):
            response = boss.post("/superadmin/query", {"query": sql})
            assert_error(response, 400, "sql_error")
            assert response.json["sqlstate"] == sqlstate


class TestExportQuery:
    """POST /superadmin/query/export"""

    def test_all_rows_are_exported_and_formulas_are_escaped(self, boss):
        text = "CASE WHEN n = 1 THEN '=1+1' ELSE 'baris \"' || n || '\"' END"
        sql = f'SELECT -n AS n, {text} AS "=teks" FROM generate_series(1, 30000) n'
        response = boss.post("/superadmin/query/export", {"query": sql})
        assert response.mimetype == "text/csv"
        assert response.headers["Content-Disposition"] == 'attachment; filename="query.csv"'
        lines = response.get_data().decode("utf-8-sig").splitlines()
        assert lines[:3] == ["n,'=teks", "-1,'=1+1", '-2,"baris ""2"""']
        assert len(lines) == 30001

    def test_a_failing_export_is_an_error_not_a_file(self, boss):
        assert_error(boss.post("/superadmin/query/export", {"query": "SELECT * FROM tidak_ada"}), 400, "sql_error")


class TestListTables:
    """GET /superadmin/tables"""

    def test_tables_are_listed_by_name(self, superadmin):
        names = superadmin.get("/superadmin/tables").json
        assert {"users", "roles", "audit_entries"} <= set(names)
        assert names == sorted(names)


class TestGetTable:
    """GET /superadmin/tables/<table_name>"""

    def test_a_table_has_columns_with_types_and_rows(self, superadmin):
        make_user(username="siti", preferences={"islam": True}, is_verified=True)
        page = rows(superadmin, "users")
        assert (page["table"], page["total"], page["limit"], page["offset"]) == ("users", 2, 100, 0)
        assert {"name": "id", "type": "bigint"} in page["columns"]
        siti = page["rows"][1]
        stored = {"username": "siti", "preferences": {"islam": True}, "preference_tags": "{islam}", "email": None}
        assert siti == {**siti, **stored, "is_verified": True}
        assert siti["created_at"].endswith("+00")

    def test_rows_are_paged_by_primary_key(self, superadmin):
        page = rows(superadmin, "roles", limit=2, offset=1)
        assert [row["name"] for row in page["rows"]] == ["admin", "pendamping"]
        assert (page["total"], page["limit"], page["offset"]) == (4, 2, 1)

    def test_a_table_that_is_not_the_services_own_is_404(self, superadmin):
        names = "pg_authid", "alembic_version", "users; DROP TABLE users", 'users" --', "pg_catalog.pg_authid", "USERS"
        for name in (*names, "%75sers%00"):
            assert_error(superadmin.get(f"/superadmin/tables/{name}"), 404, "unknown_table")
            assert_error(superadmin.get(f"/superadmin/tables/{name}/export"), 404, "unknown_table")


class TestExportTable:
    """GET /superadmin/tables/<table_name>/export"""

    def test_an_export_contains_all_rows_and_is_audited(self, superadmin):
        rows = "SELECT -n, '=1-' || n FROM generate_series(1, 150) n"
        db.session.execute(sa.text(f"INSERT INTO kategori (id, nama_kategori) {rows}"))
        response = superadmin.get("/superadmin/tables/kategori/export")
        assert response.headers["Content-Disposition"] == 'attachment; filename="kategori.csv"'
        lines = response.get_data(as_text=True).splitlines()
        assert len(lines) == 151
        assert lines[1].startswith("-150,'=1-150")
        assert superadmin.get("/admins/audit").json[0]["subject"] == "table:kategori"
