"""Records that administrators write and everybody reads: how all sections behave alike, in one table."""

from dataclasses import dataclass
from io import BytesIO
from typing import Any

import pytest

from tests.core.media.samples import plain
from tests.helpers.client import assert_error


@dataclass(frozen=True)
class Section:
    """Paths of a section, a new record, a change of it, and for each field values that are refused."""

    create: str
    change: str
    #: Path of one record for everybody, or of a list that only shows the records.
    read: str
    new: dict[str, Any]
    edit: dict[str, Any]
    bad: dict[str, list[Any]]
    deleted: int = 200


PICTURE = plain()
#: Values that no required text may have.
TEXT = ["", " ", None, 5]
SECTIONS = {
    "articles": Section(
        "/articles", "/articles/{}", "/articles/{}", {"title": "Gizi", "url": "https://contoh.id/gizi", "content": "a"},
        {"title": "Baru", "url": None},
        {"title": [*TEXT, "x" * 301], "url": ["javascript:alert(1)", "https://a@b.id/", "https://c.id/" + "é" * 1000],
         "content": ["x" * 200_001, 5], "kategori_id": [999_999, 2**63, "x"], "image": ["bukan berkas"]},
    ),
    "videos": Section(
        "/videoplatform/video", "/videoplatform/video/{}", "/videoplatform/videos/{}",
        {"video_id": "abc", "title": "Senam", "channel_title": "Kanal"}, {"title": "Baru", "channel_title": None},
        {"video_id": [None, "a b", "x" * 65, 5], "title": [" ", "x" * 301], "channel_title": ["x" * 201]},
    ),
    "komunitas": Section(
        "/komunitas", "/komunitas/{}", "/komunitas/{}",
        {"nama": "Sahabat", "deskripsi": "a", "link": "https://chat.id/a", "kontak": "0812", "province": "Bali"},
        {"nama": "Baru", "kontak": None, "link": ""},
        {"nama": [*TEXT, "x" * 201], "deskripsi": ["x" * 10_001], "link": ["javascript:alert(1)", "bukan alamat"],
         "kontak": ["x" * 201], "province": ["Atlantis"], "kategori_id": [999_999, "x"], "image": ["bukan berkas"]},
    ),
    "faskes": Section(
        "/faskes", "/faskes/{}", "/faskes/{}",
        {"nama": "Klinik", "alamat": "Jl. A", "lat": -6.88, "lng": 107.55, "telepon": "1"},
        {"nama": "Baru", "telepon": ""},
        {"nama": [*TEXT, "x" * 256], "lat": [None, 91, "nan", True, [1]], "lng": [180.5, {}], "province": ["Wakanda"],
         "rating": [6, -1], "jenis": ["x" * 51], "telepon": [7], "alamat": ["x" * 501]},
    ),
    "dokter": Section(
        "/dokter", "/dokter/{}", "/dokter/{}", {"nama": "dr. Ani", "spesialisasi": "Anak", "telepon": "1"},
        {"nama": "dr. Baru", "spesialisasi": ""},
        {"nama": [*TEXT, "x" * 151], "spesialisasi": ["x" * 101], "telepon": ["x" * 51],
         "faskes_ids": ["a", None, [7], [""], ["unknown"], ["a"] * 101], "image": ["x"]},
    ),
    "kategori": Section(
        "/kategori", "/kategori/{}", "/kategori", {"nama_kategori": "Gizi"}, {"nama_kategori": "Gizi Anak"},
        {"nama_kategori": [*TEXT, "x" * 101, []]},
    ),
    "roles": Section(
        "/roles", "/roles/{}", "/roles/{}", {"name": "relawan", "is_editable": True}, {"name": "sukarelawan"},
        {"name": [*TEXT, "x" * 51], "is_editable": ["mungkin"]},
    ),
    "emergency": Section(
        "/emergency/admin", "/emergency/{}", "/emergency/nearby?lat=-8.67&lng=115.21",
        {"province": "Bali", "phone": "0361-1", "title": "RSUP", "url": "https://contoh.id", "kind": "hospital"},
        {"province": "Bali", "phone": "0361-2"},
        {"province": ["Wakanda", None, "default"], "phone": ["", "x" * 31, "darurat", 119], "title": ["x" * 101],
         "url": ["javascript:alert(1)", "healing119"], "kind": ["taksi", None]},
        deleted=204,
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
    created = admin.post(section.create, section.new)
    assert created.status_code == 201, created.json
    record = created.json
    assert {**record, **section.new} == record
    assert shown(client, section, record["id"]) == record
    path = section.change.format(record["id"])
    changed = admin.put(path, section.edit)
    assert changed.status_code == 200, changed.json
    edit = {name: value or None for name, value in section.edit.items()}
    title = {"title": None} if section is SECTIONS["emergency"] else {}  # the only missing field that a PUT empties
    left = {name: value for name, value in record.items() if name != "updated_at"}
    assert {**changed.json, **left, **edit, **title} == changed.json
    assert shown(client, section, record["id"]) == changed.json
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


@each_section
def test_a_bad_value_is_400_and_names_its_field(admin, section, subtests):
    record = admin.post(section.create, section.new).json
    path = section.change.format(record["id"])
    other = {**section.new, **({"url": None} if "url" in record else {})}
    for field, values in section.bad.items():
        for value in values:
            with subtests.test(f"{field}: {value!r:.60}"):
                assert_error(admin.post(section.create, {**other, field: value}), 400, "validation_error", field)
                assert_error(admin.put(path, {**section.edit, field: value}), 400, "validation_error", field)


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
