"""Exports of all data of a person: requested with the password, created by a job, kept for a day."""

import csv
import io
import re
from datetime import UTC, datetime, timedelta

import pytest
import sqlalchemy as sa

from app.core.database.personal import Custom, Nothing, personal_tables
from app.core.database.session import Base, db, unit_of_work
from app.core.media import pictures
from app.identity import field_encryption, own_pictures
from app.personal_data import archive
from app.personal_data.models import DataExport
from app.personal_data.table_labels import CONTENTS
from tests.accounts.resets import ask as ask_for_reset
from tests.core.media.samples import plain
from tests.helpers.client import assert_error
from tests.helpers.factories import PASSWORD, make_user
from tests.personal_data.exports import exported, rows
from tests.personal_data.traces import MARK, fill


def test_each_exported_table_has_a_description(app):
    described = {table.name for table, said in personal_tables(Base.metadata) if not isinstance(said.export, Nothing)}
    assert set(CONTENTS) == described, "add a description of the table to `app.personal_data.table_labels`"


def test_an_export_has_all_tables_of_the_person_and_no_data_of_others(mine):
    mine.user.phone_verified_at = datetime.now(UTC)
    budi = make_user(username="budi", nama_ktp="Budi Santoso")
    tables = fill(mine.user, budi)
    names = {table.name for table, _ in personal_tables(Base.metadata)}
    assert set(tables) == names - {"users"}, "`fill` must add a row to every table"
    theirs = make_user(username="lain", nama_ktp="Orang Lain")
    fill(theirs, budi)
    their_id, secret = theirs.id, mine.user.password_hash
    db.session.execute(sa.delete(DataExport))
    with exported(mine) as file:
        for table, declaration in personal_tables(Base.metadata):
            if isinstance(declaration.export, Nothing):
                assert f"data/{table.name}.json" not in file.namelist()
                continue
            kept = rows(file, table.name)
            assert kept, table.name
            if isinstance(declaration.export, Custom):  # another test checks this table
                continue
            assert set(kept[0]) == {column.name for column in table.columns} - set(declaration.export.without)
            for name in declaration.of:
                assert their_id not in {row[name] for row in kept}, table.name
        everything = b"".join(file.read(name) for name in file.namelist())
    assert MARK.encode() in everything
    for word in ("Budi Santoso", "Orang Lain", secret):
        assert word.encode() not in everything


@pytest.mark.parametrize("is_proven", [True, False])
def test_an_export_has_deliveries_without_user_to_the_verified_number(mine, is_proven):
    before, after = (f"{MARK} {when}" for when in ("before", "after"))
    moment = datetime.now(UTC)
    mine.user.phone_changed_at = moment - timedelta(days=1)
    mine.user.phone_verified_at = moment if is_proven else None
    other = make_user()
    for text, owner, made_at in (
        (before, None, moment - timedelta(days=2)),
        (after, None, moment),
        ("to somebody else", other.id, moment),
    ):
        values = {"target": mine.user.phone, "user_id": owner, "created_at": made_at, "payload": {}}
        times = {"due_at": moment, "expires_at": moment, "next_try_at": moment}
        table = Base.metadata.tables["deliveries"]
        db.session.execute(
            table.insert().values(dedupe_key=text, queue="urgent", channel="messaging", kind="x", **values, **times)
        )
    with exported(mine) as file:
        assert [row["dedupe_key"] for row in rows(file, "deliveries")] == ([after] if is_proven else [])


def test_codes_and_reset_links_are_not_exported(client, mine):
    code = mine.post("/profile/phone/verification", {}).json["code"]
    link = ask_for_reset(client, str(mine.user.phone))
    with exported(mine) as file:
        assert len(rows(file, "password_resets")) == len(rows(file, "phone_verifications")) == 1
        for name in file.namelist():
            assert not re.search(f"{code}|{link}", file.read(name).decode(errors="replace")), name


def test_csv_cells_cannot_run_as_formulas(mine):
    mine.user.nama_samaran = "=HYPERLINK(1)"
    with exported(mine) as file:
        sheet = next(csv.DictReader(io.StringIO(file.read("data/users.csv").decode("utf-8-sig"))))
        assert rows(file, "users")[0]["nama_samaran"] == "=HYPERLINK(1)"
    assert sheet["nama_samaran"] == "'=HYPERLINK(1)"


def test_an_export_contains_the_persons_pictures(mine):
    with unit_of_work():
        name = pictures.save(io.BytesIO(plain()))
        own_pictures.keep(mine.id, {"image": name})
    with exported(mine) as file:
        assert file.read(f"gambar/{name}") == pictures.store().get(name)


def test_a_nik_that_cannot_be_decrypted_does_not_stop_the_export(mine):
    mine.user.nik = field_encryption.encrypt("3273014502900001", mine.id + 1)
    with exported(mine) as file:
        assert rows(file, "users")[0]["nik"] == archive.UNREADABLE


@pytest.mark.usefixtures("limited")
def test_wrong_passwords_are_counted_across_all_routes_that_require_one(mine):
    for n in range(10):
        mine.post("/profile/ekspor", {"password": "salah-sekali"}, environ_base={"REMOTE_ADDR": f"10.0.{n}.1"})
    assert_error(mine.post("/profile/ekspor", {"password": PASSWORD}), 429)
    assert_error(mine.put("/profile", {"password": "baru-sekali-9", "current_password": PASSWORD}), 429)
