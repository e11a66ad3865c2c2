"""Export of a person's data as a ZIP: tables as JSON and CSV, pictures, and a README.

Rows are streamed from the database to the file, so memory use stays constant.
"""

from __future__ import annotations

import base64
import csv
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import IO, Any
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile, ZipInfo

import orjson
import sqlalchemy as sa

from app.core.database.personal import Custom, DataSubject, Rows, is_of, personal_tables
from app.core.database.session import Base
from app.core.errors import NotFound
from app.core.lib import local_time
from app.core.lib.csv_injection import guarded
from app.core.media import pictures
from app.forum.service import blocks, erasure
from app.identity import dependents, field_encryption
from app.identity.models import OwnPicture, User
from app.pengingat.models import reminders
from app.pengingat.types.base import shown
from app.personal_data.table_labels import CONTENTS, README

#: Maximum rows in memory at once.
ROWS_AT_ONCE = 500

#: First character of a CSV file. It makes spreadsheet programs read the file as UTF-8.
BYTE_ORDER_MARK = "\ufeff"

#: Text in place of a NIK that cannot be decrypted because its key is no longer configured.
UNREADABLE = "tidak dapat dibaca"

Row = Mapping[str, object]
Query = sa.Select[*tuple[Any, ...]]


def write(path: Path, user: User, connection: sa.Connection) -> None:
    """Write the ZIP of a person to `path`. Read the rows on this connection. `path.csv` is a temporary file.

    The rows of the person's dependents are among the person's rows.
    Some rows are linked to the person only by a phone number. They are left out if the number is not verified.
    Otherwise a user could enter a stranger's number and read what the stranger wrote.
    """
    numbers = (user.phone,) if user.phone and user.phone_verified_at else ()
    kept = connection.execute(dependents.of_caregiver(user.id).with_only_columns(User.id, User.nama_ktp)).all()
    person = DataSubject(
        user.id,
        tuple(row.id for row in kept),
        phones=numbers,
        phones_since=user.phone_changed_at or user.created_at,
    )
    with ZipFile(path, "w", ZIP_DEFLATED) as archive:
        counts = {}
        for table, query in _exported(person):
            rows = _rows(connection, table, query)
            counts[table.name] = _add_table(archive, table, rows, path.with_suffix(".csv"))
        _add_pictures(archive, connection, user.id)
        names = ", ".join([user.nama_ktp, *(row.nama_ktp for row in kept)])
        archive.writestr("README.txt", _readme(names, user.username, counts))


#: Functions by table name, for tables that declare their export as `Custom`. Each returns the query for a user id.
EXPORTS: Mapping[str, Callable[[int], Query]] = {"blocks": blocks.exported, "cases": erasure.exported_cases}


def _exported(person: DataSubject) -> Iterator[tuple[sa.Table, Query]]:
    for table, declaration in sorted(personal_tables(Base.metadata), key=lambda entry: entry[0].name):
        match declaration.export:
            case Rows(without):
                columns = [column for column in table.columns if column.name not in without]
                yield table, sa.select(*columns).where(is_of(table, declaration, person)).order_by(*table.primary_key)
            case Custom():
                yield table, EXPORTS[table.name](person.id)


def _rows(connection: sa.Connection, table: sa.Table, query: Query) -> Iterator[Row]:
    # Convert column names to `str`, because orjson refuses SQLAlchemy's `quoted_name` as a key.
    names = [str(column.name) for column in query.selected_columns]
    for values in connection.execute(query.execution_options(yield_per=ROWS_AT_ONCE)):
        row = dict(zip(names, values, strict=True))
        if table is User.__table__:
            row["nik"] = _nik(row["nik"], row["id"])
        elif table is reminders:
            row["details"] = shown(row["details"])
        yield row


def _nik(stored: str | None, user_id: int) -> str | None:
    try:
        return field_encryption.decrypt(stored, user_id)
    except field_encryption.UndecryptableField:
        return UNREADABLE


def _add_table(archive: ZipFile, table: sa.Table, rows: Iterator[Row], spare: Path) -> int:
    """Add a table to the ZIP as JSON and CSV, reading the rows once. Return the number of rows.

    A ZIP can have only one open file, so the CSV is first written to the temporary file `spare`.
    """
    count = 0
    with spare.open("w", encoding="utf-8", newline="") as sheet:
        sheet.write(BYTE_ORDER_MARK)
        with archive.open(f"data/{table.name}.json", "w", force_zip64=True) as objects:
            objects.write(b"[")
            for row in rows:
                if count == 0:
                    _add_line(sheet, [guarded(name) for name in row])
                objects.write((b",\n" if count else b"\n") + orjson.dumps(row, default=_plain))
                _add_line(sheet, [_cell(value) for value in row.values()])
                count += 1
            objects.write(b"\n]\n")
    archive.write(spare, f"data/{table.name}.csv")
    spare.unlink()
    return count


def _add_line(sheet: IO[str], cells: list[str]) -> None:
    csv.writer(sheet).writerow(cells)


def _cell(value: object) -> str:
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case int() | float():
            return str(value)
        case datetime():
            return value.isoformat()
        case str():
            return guarded(value)
        case _:
            return guarded(orjson.dumps(value, default=_plain).decode().strip('"'))


def _plain(value: object) -> str:
    """Convert a value to text, because JSON does not support the type of the value."""
    return base64.b64encode(value).decode() if isinstance(value, (bytes, memoryview)) else str(value)


def _add_pictures(archive: ZipFile, connection: sa.Connection, user_id: int) -> None:
    names = sa.select(OwnPicture.name).where(OwnPicture.user_id == user_id).order_by(OwnPicture.name)
    for name in connection.scalars(names.execution_options(yield_per=ROWS_AT_ONCE)):
        with suppress(NotFound):  # the picture was deleted after the query
            entry = ZipInfo(f"gambar/{name}", local_time.now().timetuple()[:6])
            entry.compress_type = ZIP_STORED  # pictures are compressed already
            archive.writestr(entry, pictures.store().get(name))


def _readme(names: str, username: str, counts: Mapping[str, int]) -> str:
    contents = [f"{table}: {CONTENTS.get(table, table)} ({count} baris)" for table, count in counts.items()]
    day = local_time.day_text(local_time.today())
    return README.format(nama=names, pengguna=username, hari=day, isi="\n".join(contents))
