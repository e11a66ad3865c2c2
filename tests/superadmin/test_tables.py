"""The table browser and its export: names from the catalogue alone, secrets masked."""

from __future__ import annotations

import csv
import io
from typing import Any

import pytest
import sqlalchemy as sa

from app.core.database.session import Base, db
from app.identity.models import RoleName, User
from app.identity.second_factor import SecondFactor
from app.notifications.models import Inbound
from app.superadmin.service import tables
from app.superadmin.service.tables import CatalogueColumn, CatalogueTable
from tests.helpers.client import Client, assert_error
from tests.helpers.factories import PASSWORD, make_admin, make_superadmin, make_user

NIK = "3273014502900001"


@pytest.fixture
def boss(client: Client) -> Client:
    return client.as_superadmin(make_superadmin(username="bos", nik=NIK))


def rows(client: Client, table: str, **query: Any) -> dict[str, Any]:
    response = client.get(f"/superadmin/tables/{table}", query_string=query)
    assert response.status_code == 200, response.json
    return response.json


def size_of(client: Client, table: str) -> dict[str, Any]:
    return next(each for each in client.get("/superadmin/tables?detail=1").json if each["name"] == table)


def test_tables_are_listed_by_name(boss: Client) -> None:
    names = boss.get("/superadmin/tables").json
    assert {"users", "roles", "audit_entries"} <= set(names)
    assert names == sorted(names)
    detail = boss.get("/superadmin/tables?detail=1").json
    assert set(detail[0]) == {"name", "rows_estimate", "bytes"}


def test_a_table_in_parts_is_as_big_as_its_parts(boss: Client) -> None:
    before = size_of(boss, "activity_logs")
    db.session.execute(
        sa.text(
            "INSERT INTO activity_logs (event_id, log, extra, created_at)"
            " SELECT gen_random_uuid(), 'user', '{}', now() FROM generate_series(1, 500)"
        )
    )
    db.session.execute(sa.text("ANALYZE activity_logs"))
    after = size_of(boss, "activity_logs")
    assert after["rows_estimate"] == 500
    assert after["bytes"] > before["bytes"] > 0


def test_the_rows_of_a_large_table_in_parts_are_not_counted(boss: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    db.session.execute(sa.text("CREATE TABLE panjang (n int) PARTITION BY RANGE (n)"))
    db.session.execute(sa.text("CREATE TABLE panjang_1 PARTITION OF panjang FOR VALUES FROM (0) TO (100)"))
    db.session.execute(sa.text("INSERT INTO panjang SELECT generate_series(1, 20)"))
    db.session.execute(sa.text("ANALYZE panjang_1"))
    db.session.execute(sa.text("DELETE FROM panjang WHERE n > 10"))
    monkeypatch.setattr(tables, "MAX_COUNTED", 20)
    assert rows(boss, "panjang")["total"] == 20  # from when it was analysed, nothing counted


def test_a_table_has_columns_with_types_and_rows(boss: Client) -> None:
    make_user(username="siti", preferences={"islam": True}, is_verified=True)
    page = rows(boss, "users")
    assert (page["table"], page["total"], page["limit"], page["offset"]) == ("users", 2, 100, 0)
    assert {"name": "id", "type": "bigint"} in page["columns"]
    siti = page["rows"][1]
    assert siti["username"] == "siti"
    assert siti["preferences"] == {"islam": True}
    assert siti["preference_tags"] == ["islam"]
    assert siti["is_verified"] is True
    assert siti["created_at"].endswith("Z")
    assert siti["email"] is None


def test_rows_are_paged_by_primary_key(boss: Client) -> None:
    page = rows(boss, "roles", limit=2, offset=1)
    assert [row["name"] for row in page["rows"]] == ["admin", "pendamping"]
    assert (page["total"], page["limit"], page["offset"]) == (4, 2, 1)


@pytest.mark.parametrize(("field", "value"), [("limit", 0), ("limit", 1001), ("offset", -1), ("limit", "x")])
def test_a_wrong_page_is_refused(boss: Client, field: str, value: Any) -> None:
    response = boss.get("/superadmin/tables/users", query_string={field: value})
    assert_error(response, 400, "validation_error", field)


def test_secrets_are_masked_on_the_page_and_in_the_export(boss: Client) -> None:
    user = db.session.scalars(sa.select(User)).one()
    shown = rows(boss, "users")["rows"][0]
    assert (shown["password_hash"], shown["nik"]) == ("***", "***")
    exported = boss.get("/superadmin/tables/users/export").get_data(as_text=True)
    for text in (str(rows(boss, "users")), exported, str(rows(boss, "sessions"))):
        assert "argon2" not in text
        assert NIK not in text
        assert str(user.nik) not in text
    boss.as_(user)
    assert {row["refresh_hash"] for row in rows(boss, "sessions")["rows"]} == {None, "***"}
    assert rows(boss, "deliveries")["rows"] == []


def test_messages_with_reset_links_are_masked(boss: Client) -> None:
    make_user(nomor_hp="081234567890")
    assert boss.get("/send-verification-code?phone=081234567890").status_code == 200
    (delivery,) = rows(boss, "deliveries")["rows"]
    assert delivery["payload"] == "***"
    assert "reset-password" not in boss.get("/superadmin/tables/deliveries/export").get_data(as_text=True)


def test_what_people_wrote_or_pressed_is_masked(boss: Client) -> None:
    db.session.add(
        Inbound(provider="test", event_key="1", kind="message", text="sudah", payload={"pressed": "T:tautan-sekali"})
    )
    db.session.flush()
    (heard,) = rows(boss, "inbound")["rows"]
    assert (heard["text"], heard["payload"]) == ("***", "***")
    assert "tautan-sekali" not in boss.get("/superadmin/tables/inbound/export").get_data(as_text=True)


def test_second_factors_are_masked(boss: Client) -> None:
    admin = make_admin()
    assert boss.as_(admin).post("/profile/otp", {"password": PASSWORD}).status_code == 201
    stored = db.session.scalars(sa.select(SecondFactor)).one()
    (shown,) = rows(boss, "second_factors")["rows"]
    assert (shown["user_id"], shown["secret"], shown["recovery_hashes"]) == (admin.id, "***", "***")
    exported = boss.get("/superadmin/tables/second_factors/export").get_data(as_text=True)
    assert stored.secret not in exported
    assert not [code for code in stored.recovery_hashes if code in exported]


def test_hashes_of_tokens_and_codes_are_masked_in_every_table() -> None:
    columns = [(table, column) for table in Base.metadata.sorted_tables for column in table.columns]
    hashes = {
        (table.name, column.name)
        for table, column in columns
        if "hash" in column.name or "SHA-256 of the token" in (column.comment or "")
    }
    assert {("occurrences", "shared_links"), ("second_factors", "recovery_hashes")} <= hashes
    assert not [
        (table, name)
        for table, name in hashes
        if not CatalogueTable(table, 0, []).is_secret(CatalogueColumn(name, "text", 25, 0))
    ]


@pytest.mark.parametrize(
    "name",
    ["tidak_ada", "pg_authid", "users; DROP TABLE users", 'users" --', "pg_catalog.pg_authid", "%75sers%00", "USERS"],
)
def test_what_is_not_in_the_catalogue_is_not_found(boss: Client, name: str) -> None:
    assert boss.get(f"/superadmin/tables/{name}").status_code == 404
    assert boss.get(f"/superadmin/tables/{name}/export").status_code == 404


def test_odd_names_of_tables_and_columns_are_just_names(boss: Client) -> None:
    table = '"Aneh; ""x"""'
    db.session.execute(sa.text(f'CREATE TABLE {table} ("a b" int, "%(c)s" text, "select" numeric)'))
    db.session.execute(sa.text(f"INSERT INTO {table} VALUES (1, '=1+1', -2.50)"))
    page = rows(boss, 'Aneh; "x"')
    assert page["rows"] == [{"a b": 1, "%(c)s": "=1+1", "select": -2.5}]
    text = boss.get('/superadmin/tables/Aneh; "x"/export').get_data().decode("utf-8-sig")
    assert list(csv.reader(text.splitlines())) == [["a b", "%(c)s", "select"], ["1", "'=1+1", "-2.50"]]


def test_formulas_within_cells_of_a_table_are_guarded(boss: Client) -> None:
    db.session.execute(sa.text('CREATE TABLE sel (n int, "a;=b" text, m numeric)'))
    db.session.execute(sa.text("INSERT INTO sel VALUES (-1, E'x;=1+1\\n@y', -2.5), (-2, 'biasa', -3)"))
    text = boss.get("/superadmin/tables/sel/export").get_data().decode("utf-8-sig")
    cells = [["n", "a;'=b", "m"], ["-1", "x;'=1+1\n'@y", "-2.5"], ["-2", "biasa", "-3"]]
    assert list(csv.reader(io.StringIO(text, newline=""))) == cells


def test_an_export_is_whole_and_written_down(boss: Client) -> None:
    for _ in range(150):
        db.session.execute(sa.text("INSERT INTO kategori (nama_kategori) VALUES (gen_random_uuid())"))
    response = boss.get("/superadmin/tables/kategori/export")
    assert response.headers["Content-Disposition"] == 'attachment; filename="kategori.csv"'
    assert len(response.get_data(as_text=True).splitlines()) == 151
    assert boss.get("/admins/audit").json[0]["subject"] == "table:kategori"


@pytest.mark.parametrize("path", ["", "/users", "/users/export"])
@pytest.mark.parametrize("role", [RoleName.PASIEN, RoleName.ADMIN])
def test_nobody_else_browses_tables(client: Client, path: str, role: RoleName) -> None:
    assert_error(client.as_(make_user(role)).get(f"/superadmin/tables{path}"), 403)
    assert_error(client.as_(make_superadmin()).get(f"/superadmin/tables{path}"), 403)
    assert_error(client.get(f"/superadmin/tables{path}"), 401)
