"""Helpers that request and read an export."""

import csv
import io
from zipfile import ZipFile

import orjson

from app.core.media import storage
from app.core.media.storage import Area
from app.personal_data import jobs
from tests.helpers.factories import PASSWORD


def ask(client):
    return int(client.post("/profile/ekspor", {"password": PASSWORD}).ok(202)["id"])


def opened(client, export_id):
    response = client.get(f"/profile/ekspor/{export_id}")
    assert response.status_code == 200, response.json
    assert response.mimetype == "application/zip"
    return ZipFile(io.BytesIO(response.data))


def exported(client):
    """Let the job create an export for this person. Return its files."""
    export_id = ask(client)
    jobs.make_export(export_id)
    return opened(client, export_id)


def rows(file, table):
    """Return the rows of a table in the export. Fail if the JSON and CSV files of the table differ."""
    objects = orjson.loads(file.read(f"data/{table}.json"))
    sheet = list(csv.DictReader(io.StringIO(file.read(f"data/{table}.csv").decode("utf-8-sig"))))
    assert len(sheet) == len(objects)
    assert all(list(line) == list(object_) for line, object_ in zip(sheet, objects, strict=True))
    return objects


def stored():
    return {name for name, _ in storage.area(Area.EXPORTS).names()}
