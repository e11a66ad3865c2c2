"""Records that administrators write and everybody reads: how all sections behave alike, in one table."""

from dataclasses import dataclass, field
from io import BytesIO
from typing import Any

import pytest
import sqlalchemy as sa

from app.core.database.session import db
from tests.core.media.samples import plain
from tests.helpers.client import assert_error


@dataclass(frozen=True)
class Section:
    """Paths of a section, a new record, a change of it, and for each field values that are refused.

    The API document describes the other refused values: types, lengths, patterns and limits.
    """

    create: str
    change: str
    #: Path of one record for everybody, or of a list that only shows the records.
    read: str
    new: dict[str, Any]
    edit: dict[str, Any]
    bad: dict[str, list[Any]]
    #: Other spellings of fields of the new record.
    spelled: dict[str, Any] = field(default_factory=dict)
    deleted: int = 200


PICTURE = plain()
SECTIONS = {
    "articles": Section(
        "/articles", "/articles/{}", "/articles/{}", {"title": "Gizi", "url": "https://contoh.id/gizi", "content": "a"},
        {"title": "Baru", "url": None},
        {"title": [" "], "url": ["javascript:alert(1)", "https://a@b.id/", "https://c.id/" + "é" * 1000],
         "content": ["x" * 200_001], "kategori_id": [999_999], "image": ["bukan berkas"]},
        {"url": "HTTPS://contoh.id/gizi?utm_source=x#a"},
    ),
    "videos": Section(
        "/videoplatform/video", "/videoplatform/video/{}", "/videoplatform/videos/{}",
        {"video_id": "abc", "title": "Senam", "channel_title": "Kanal"}, {"title": "Baru", "channel_title": None},
        {"title": [" "]},
    ),
    "komunitas": Section(
        "/komunitas", "/komunitas/{}", "/komunitas/{}",
        {"nama": "Sahabat", "deskripsi": "a", "link": "https://chat.id/a", "kontak": "0812", "province": "Bali"},
        {"nama": "Baru", "kontak": None, "link": ""},
        {"nama": [" "], "link": ["javascript:alert(1)", "bukan alamat"], "province": ["Atlantis"],
         "kategori_id": [999_999], "image": ["bukan berkas"]},
        {"province": "provinsi bali"},
    ),
    "faskes": Section(
        "/faskes", "/faskes/{}", "/faskes/{}",
        {"nama": "Klinik", "alamat": "Jl. A", "lat": -6.88, "lng": 107.55, "telepon": "1"},
        {"nama": "Baru", "telepon": ""},
        {"nama": [" "], "lat": ["nan", True], "province": ["Wakanda"]},
        {"nama": " Klinik ", "lat": "-6.88"},
    ),
    "dokter": Section(
        "/dokter", "/dokter/{}", "/dokter/{}", {"nama": "dr. Ani", "spesialisasi": "Anak", "telepon": "1"},
        {"nama": "dr. Baru", "spesialisasi": ""}, {"nama": [" "], "faskes_ids": [["unknown"]], "image": ["x"]},
    ),
    "kategori": Section(
        "/kategori", "/kategori/{}", "/kategori", {"nama_kategori": "Gizi"}, {"nama_kategori": "Gizi Anak"},
        {"nama_kategori": [" "]}, {"nama_kategori": " Gizi "},
    ),
    "roles": Section(
        "/roles", "/roles/{}", "/roles/{}", {"name": "relawan", "is_editable": True}, {"name": "sukarelawan"},
        {"name": [" "], "is_editable": ["mungkin"]},
    ),
    "emergency": Section(
        "/emergency/admin", "/emergency/{}", "/emergency/nearby?lat=-8.67&lng=115.21",
        {"province": "Bali", "phone": "0361-1", "title": "RSUP", "url": "https://contoh.id", "kind": "hospital"},
        {"province": "Bali", "phone": "0361-2"},
        {"province": ["Wakanda", "default"], "url": ["javascript:alert(1)", "healing119"], "phone": [" "]},
        {"province": "prov. bali", "phone": " 0361-1 "}, deleted=204,
    ),
}  # fmt: skip

each_section = pytest.mark.parametrize("section", SECTIONS.values(), ids=SECTIONS)
WITH_PICTURES = {name: SECTIONS[name] for name in ("articles", "komunitas", "dokter")}


def shown(client, section, record_id):
    """Return the record as everybody reads it."""
    response = client.get(section.read.format(record_id))
    if response.status_code == 404:
        return None
    rows = response.json if isinstance(response.json, list) else response.json.get("phones", [response.json])
    return next((row for row in rows if row["id"] == record_id), None)


@each_section
def test_a_record_is_created_changed_and_deleted(client, admin, section):
    new = section.new
    if "kategori_id" in section.bad:
        new = {**new, "kategori_id": admin.post("/kategori", {"nama_kategori": "Asma"}).json["id"]}
    record = admin.post(section.create, new | section.spelled).ok(201)
    assert {**record, **new} == record
    assert shown(client, section, record["id"]) == record
    path = section.change.format(record["id"])
    changed = admin.put(path, section.edit).ok()
    edit = {name: value or None for name, value in section.edit.items()}
    title = {"title": None} if section is SECTIONS["emergency"] else {}  # the only missing field that a PUT empties
    left = {name: value for name, value in record.items() if name != "updated_at"}
    assert {**changed, **left, **edit, **title} == changed
    assert shown(client, section, record["id"]) == changed
    deleted = admin.delete(path)
    assert deleted.status_code == section.deleted
    assert deleted.status_code == 204 or list(deleted.json) == ["message"]
    assert shown(client, section, record["id"]) is None
    for call in (admin.delete(path), admin.put(path, section.edit)):
        assert_error(call, 404, "not_found")


@each_section
def test_an_unknown_id_is_404(client, admin, section):
    for number in (999_999, 10**25):
        assert_error(admin.put(section.change.format(number), section.edit), 404)
        assert_error(admin.delete(section.change.format(number)), 404)
        if "{}" in section.read:
            assert_error(client.get(section.read.format(number)), 404)


#: For each list: its path and its table.
LISTS = {
    "articles": "/articles/all", "videos": "/videoplatform/videos", "komunitas": "/komunitas", "faskes": "/faskes",
    "dokter": "/dokter",
}  # fmt: skip


@pytest.mark.parametrize(("name", "path"), LISTS.items(), ids=LISTS)
def test_a_list_is_newest_first_and_paged(client, admin, name, path):
    section, ids = SECTIONS[name], []
    key = next(iter(section.new))
    for number in range(5):
        new = {**section.new, key: f"baru{number}"} | ({"url": None} if "url" in section.new else {})
        ids = [admin.post(section.create, new).json["id"], *ids]
        db.session.execute(sa.text(f"UPDATE {name} SET created_at = created_at - interval '1 minute'"))

    def listed(query=""):
        response = client.get(f"{path}{query}")
        assert response.headers["X-Total-Count"] == "5"
        return [row["id"] for row in (response.json["results"] if name == "faskes" else response.json)]

    assert [listed(), listed("?page=2&per_page=2"), listed("?page=9&per_page=2")] == [ids, ids[2:4], []]


#: For each unique field: another spelling of its value in the new record, another value, and the code of the error.
UNIQUE = {
    "articles": ("url", "https://contoh.id/gizi#a", "https://contoh.id/lain", "article_exists"),
    "videos": ("video_id", "abc", "lain", "video_exists"),
    "kategori": ("nama_kategori", "GIZI", "Mata", "kategori_taken"),
}


@pytest.mark.parametrize(("name", "unique"), UNIQUE.items(), ids=UNIQUE)
def test_a_taken_value_is_409_in_a_new_record_and_in_a_change(admin, name, unique):
    section, (field_name, taken, free, code) = SECTIONS[name], unique
    admin.post(section.create, section.new)
    other = admin.post(section.create, {**section.new, field_name: free}).json
    assert_error(admin.post(section.create, {**section.new, field_name: taken}), 409, code)
    assert_error(admin.put(section.change.format(other["id"]), {**section.edit, field_name: taken}), 409, code)


@each_section
def test_a_bad_value_is_400_and_names_its_field(admin, section, subtests):
    record = admin.post(section.create, section.new).json
    path = section.change.format(record["id"])
    other = {**section.new, **({"url": None} if "url" in record else {})}
    for name, values in section.bad.items():
        for value in values:
            with subtests.test(f"{name}: {value!r:.60}"):
                assert_error(admin.post(section.create, {**other, name: value}), 400, "validation_error", name)
                assert_error(admin.put(path, {**section.edit, name: value}), 400, "validation_error", name)


@pytest.mark.parametrize("section", WITH_PICTURES.values(), ids=WITH_PICTURES)
def test_a_picture_is_replaced_removed_and_deleted_with_its_record(client, admin, section):
    def picture(data=PICTURE):
        return {"image": (BytesIO(data), "foto.jpg")}

    name = next(iter(section.new))
    record = admin.post(section.create, data={name: section.new[name], **picture()}).json
    path, images = section.change.format(record["id"]), [record["image"]]
    assert client.get(images[0]).mimetype == "image/webp"
    for data, text, status in ((b"<svg/>", "Baru", 415), (PICTURE, " ", 400)):
        assert_error(admin.put(path, data={name: text, **picture(data)}), status)
        assert_error(admin.post(section.create, data={name: text, **picture(data)}), status)
    assert client.get(images[0]).status_code == 200
    images.append(admin.put(path, data=picture()).json["image"])
    assert admin.put(path, section.edit).json["image"] == images[1] != images[0]
    assert admin.put(path, {"image": None}).json["image"] is None
    images.append(admin.put(path, data=picture()).json["image"])
    admin.delete(path)
    assert [client.get(image).status_code for image in images] == [404, 404, 404]
