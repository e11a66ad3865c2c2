"""Table browser and its export. Table names must exist in the catalogue, and secrets are masked."""

from __future__ import annotations

import csv
import io
from typing import Any

import pytest
import sqlalchemy as sa

from app.core.database.session import Base, db
from app.identity.models import User
from app.identity.second_factor import SecondFactor
from app.notifications.models import Inbound
from app.superadmin.service import tables
from app.superadmin.service.tables import CatalogueColumn, CatalogueTable
from tests.helpers.client import Client
from tests.helpers.factories import PASSWORD, make_admin, make_superadmin, make_user
from tests.superadmin.results import rows

NIK = "3273014502900001"


def size_of(client: Client, table: str) -> dict[str, Any]:
    return next(each for each in client.get("/superadmin/tables?detail=1").json if each["name"] == table)


def test_a_table_has_its_estimated_rows_and_its_bytes(superadmin: Client) -> None:
    before = size_of(superadmin, "activity_logs")
    db.session.execute(
        sa.text(
            "INSERT INTO activity_logs (stream_id, log, extra, created_at)"
            " SELECT gen_random_uuid(), 'user', '{}', now() FROM generate_series(1, 500)"
        )
    )
    db.session.execute(sa.text("ANALYZE activity_logs"))
    after = size_of(superadmin, "activity_logs")
    assert after["rows_estimate"] == 500
    assert after["bytes"] > before["bytes"] > 0


def test_the_total_of_a_large_table_is_an_estimate(superadmin: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    db.session.execute(sa.text("CREATE TABLE panjang (n int)"))
    db.session.execute(sa.text("INSERT INTO panjang SELECT generate_series(1, 20)"))
    db.session.execute(sa.text("ANALYZE panjang"))
    db.session.execute(sa.text("DELETE FROM panjang WHERE n > 10"))
    monkeypatch.setattr(tables, "MAX_COUNTED", 20)
    assert rows(superadmin, "panjang")["total"] == 20  # above MAX_COUNTED, the total is the estimate from ANALYZE


def test_secrets_are_masked_on_the_page_and_in_the_export(client: Client) -> None:
    superadmin = client.as_superadmin(make_superadmin(nik=NIK))
    user = db.session.scalars(sa.select(User)).one()
    shown = rows(superadmin, "users")["rows"][0]
    assert (shown["password_hash"], shown["nik"]) == ("***", "***")
    exported = superadmin.get("/superadmin/tables/users/export").get_data(as_text=True)
    for text in (str(rows(superadmin, "users")), exported, str(rows(superadmin, "sessions"))):
        assert "argon2" not in text
        assert NIK not in text
        assert str(user.nik) not in text
    superadmin.as_(user)
    assert {row["refresh_hash"] for row in rows(superadmin, "sessions")["rows"]} == {None, "***"}
    assert rows(superadmin, "deliveries")["rows"] == []


def test_messages_with_reset_links_are_masked(superadmin: Client) -> None:
    make_user(nomor_hp="081234567890")
    assert superadmin.get("/send-verification-code?phone=081234567890").status_code == 200
    (delivery,) = rows(superadmin, "deliveries")["rows"]
    assert delivery["payload"] == "***"
    assert "reset-password" not in superadmin.get("/superadmin/tables/deliveries/export").get_data(as_text=True)


def test_text_and_payload_of_inbound_messages_are_masked(superadmin: Client) -> None:
    db.session.add(
        Inbound(provider="test", event_key="1", kind="message", text="sudah", payload={"pressed": "T:tautan-sekali"})
    )
    db.session.flush()
    (heard,) = rows(superadmin, "inbound")["rows"]
    assert (heard["text"], heard["payload"]) == ("***", "***")
    assert "tautan-sekali" not in superadmin.get("/superadmin/tables/inbound/export").get_data(as_text=True)


def test_second_factors_are_masked(superadmin: Client) -> None:
    admin = make_admin()
    assert superadmin.as_(admin).post("/profile/otp", {"password": PASSWORD}).status_code == 201
    stored = db.session.scalars(sa.select(SecondFactor)).one()
    (shown,) = rows(superadmin, "second_factors")["rows"]
    assert (shown["user_id"], shown["secret"], shown["recovery_hashes"]) == (admin.id, "***", "***")
    exported = superadmin.get("/superadmin/tables/second_factors/export").get_data(as_text=True)
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


def test_tables_with_special_characters_in_names_are_read_and_exported(superadmin: Client) -> None:
    table = '"Aneh; ""x"""'
    db.session.execute(sa.text(f'CREATE TABLE {table} ("a b" int, "%(c)s" text, "select" numeric)'))
    db.session.execute(sa.text(f"INSERT INTO {table} VALUES (1, '=1+1', -2.50)"))
    page = rows(superadmin, 'Aneh; "x"')
    assert page["rows"] == [{"a b": 1, "%(c)s": "=1+1", "select": -2.5}]
    text = superadmin.get('/superadmin/tables/Aneh; "x"/export').get_data().decode("utf-8-sig")
    assert list(csv.reader(text.splitlines())) == [["a b", "%(c)s", "select"], ["1", "'=1+1", "-2.50"]]


def test_a_table_export_escapes_formulas_inside_cells(superadmin: Client) -> None:
    db.session.execute(sa.text('CREATE TABLE sel (n int, "a;=b" text, m numeric)'))
    db.session.execute(sa.text("INSERT INTO sel VALUES (-1, E'x;=1+1\\n@y', -2.5), (-2, 'biasa', -3)"))
    text = superadmin.get("/superadmin/tables/sel/export").get_data().decode("utf-8-sig")
    cells = [["n", "a;'=b", "m"], ["-1", "x;'=1+1\n'@y", "-2.5"], ["-2", "biasa", "-3"]]
    assert list(csv.reader(io.StringIO(text, newline=""))) == cells
