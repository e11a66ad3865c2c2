"""Table browser and its export: values, cut texts and masked secrets."""

import re

import sqlalchemy as sa

from app.core.database.session import Base, db
from app.identity.models import User
from app.superadmin.service.tables import MAX_CELL
from tests.helpers.factories import make_superadmin, make_user
from tests.superadmin.results import rows

NIK = "3273014502900001"


def test_secrets_are_masked_on_the_page_and_in_the_export(client):
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


def test_every_column_that_holds_a_hash_or_a_secret_is_marked():
    """A name or a comment tells a secret. The mark at the column is what the browser reads."""
    telling = re.compile(r"hash|SHA-256 of|AES-256|encrypted|secret|^nik$|p256dh")
    columns = [column for table in Base.metadata.sorted_tables for column in table.columns]
    secret = {f"{each.table.name}.{each.name}" for each in columns if each.info.get("secret")}
    told = {
        f"{each.table.name}.{each.name}"
        for each in columns
        if telling.search(each.name) or telling.search(each.comment or "")
    }
    assert "users.password_hash" in told
    assert told <= secret
    assert {"deliveries.payload", "inbound.text", "inbound.payload", "idempotency_keys.body"} <= secret


def test_a_long_text_is_cut_on_the_page_but_not_in_the_export(superadmin):
    user = make_user(username="siti", nama_ktp="x" * (MAX_CELL + 5), preferences=["y" * MAX_CELL])
    (shown,) = (row for row in rows(superadmin, "users")["rows"] if row["id"] == user.id)
    assert shown["nama_ktp"] == "x" * MAX_CELL
    assert shown["preferences"] == '["' + "y" * (MAX_CELL - 2)
    assert "x" * (MAX_CELL + 5) in superadmin.get("/superadmin/tables/users/export").get_data(as_text=True)
