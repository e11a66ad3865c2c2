"""Table browser and its export: values, cut texts and masked secrets."""

import re

import sqlalchemy as sa

from app.core.database.session import Base, db
from app.identity.models import User
from app.identity.second_factor import SecondFactor
from app.notifications.models import Inbound
from app.superadmin.service.tables import MAX_CELL
from tests.helpers.factories import PASSWORD, make_admin, make_superadmin, make_user
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


def test_messages_with_reset_links_are_masked(superadmin):
    make_user(nomor_hp="081234567890")
    assert superadmin.get("/send-verification-code?phone=081234567890").status_code == 200
    (delivery,) = rows(superadmin, "deliveries")["rows"]
    assert delivery["payload"] == "***"
    assert "reset-password" not in superadmin.get("/superadmin/tables/deliveries/export").get_data(as_text=True)


def test_text_and_payload_of_inbound_messages_are_masked(superadmin):
    db.session.add(
        Inbound(provider="test", event_key="1", kind="message", text="sudah", payload={"pressed": "T:tautan-sekali"})
    )
    db.session.flush()
    (heard,) = rows(superadmin, "inbound")["rows"]
    assert (heard["text"], heard["payload"]) == ("***", "***")
    assert "tautan-sekali" not in superadmin.get("/superadmin/tables/inbound/export").get_data(as_text=True)


def test_second_factors_are_masked(superadmin):
    admin = make_admin()
    assert superadmin.as_(admin).post("/profile/otp", {"password": PASSWORD}).status_code == 201
    stored = db.session.scalars(sa.select(SecondFactor)).one()
    (shown,) = rows(superadmin, "second_factors")["rows"]
    assert (shown["user_id"], shown["secret"], shown["recovery_hashes"]) == (admin.id, "***", "***")
    exported = superadmin.get("/superadmin/tables/second_factors/export").get_data(as_text=True)
    assert stored.secret not in exported
    assert not [code for code in stored.recovery_hashes if code in exported]


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


def test_a_long_text_is_cut_on_the_page_but_not_in_the_export(superadmin):
    user = make_user(username="siti", nama_ktp="x" * (MAX_CELL + 5), preferences=["y" * MAX_CELL])
    (shown,) = (row for row in rows(superadmin, "users")["rows"] if row["id"] == user.id)
    assert shown["nama_ktp"] == "x" * MAX_CELL
    assert shown["preferences"] == '["' + "y" * (MAX_CELL - 2)
    assert "x" * (MAX_CELL + 5) in superadmin.get("/superadmin/tables/users/export").get_data(as_text=True)


def test_a_table_export_escapes_formulas_but_not_negative_numbers(superadmin):
    db.session.execute(sa.text("INSERT INTO kategori (id, nama_kategori) VALUES (-7, 'Gizi;=1+1')"))
    text = superadmin.get("/superadmin/tables/kategori/export").get_data().decode("utf-8-sig")
    assert text.splitlines()[1].startswith("-7,Gizi;'=1+1")
