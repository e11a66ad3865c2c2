"""Concurrent requests of administrators about articles, categories and other records.

The tests run pairs of update, delete and create on one row. In other pairs, one request is about a row, and the other
request deletes the record that the row references.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.races.meeting import encounter, statuses

Record = Callable[[int], dict[str, Any]]


@dataclass(frozen=True)
class Section:
    """A kind of record.

    `record(n)` returns different data for each `n`. `first` and `second` update different fields.
    """

    name: str
    path: str
    table: str
    record: Record
    first: Record
    second: Record
    #: Status of a second create with the same data: 409, or 201 if the service allows equal records.
    twin: int = 409
    #: True if an update sets every field. The last of two updates then overwrites everything.
    is_whole: bool = False


def _whole_number(n):
    return {"province": "Aceh", "phone": f"11{n}", "title": f"Nomor {n}"}


SECTIONS = (
    Section(
        "kategori", "/kategori", "kategori",
        lambda n: {"nama_kategori": f"Kategori {n}"},
        lambda n: {"nama_kategori": f"Satu {n}"},
        lambda n: {"nama_kategori": f"Dua {n}"},
        is_whole=True,
    ),
    Section(
        "role", "/roles", "roles",
        lambda n: {"name": f"peran{n}"}, lambda n: {"name": f"satu{n}"}, lambda n: {"name": f"dua{n}"},
        is_whole=True,
    ),
    Section(
        "komunitas", "/komunitas", "komunitas",
        lambda n: {"nama": f"Komunitas {n}"}, lambda n: {"nama": f"Satu {n}"}, lambda n: {"deskripsi": f"Dua {n}"},
        twin=201,
    ),
    Section(
        "emergency", "/emergency", "emergency_numbers", _whole_number,
        lambda n: {**_whole_number(n), "title": f"Satu {n}"}, lambda n: {**_whole_number(n), "title": f"Dua {n}"},
        twin=201, is_whole=True,
    ),
    Section(
        "faskes", "/faskes", "faskes",
        lambda n: {"id": f"tempat-{n}", "nama": f"Faskes {n}", "lat": -6.9, "lng": 107.6, "province": "Jawa Barat"},
        lambda n: {"nama": f"Satu {n}"}, lambda n: {"alamat": f"Dua {n}"},
    ),
    Section(
        "article", "/articles", "articles",
        lambda n: {"title": f"Artikel {n}", "content": "<p>Isi.</p>", "url": f"https://contoh.id/{n}"},
        lambda n: {"title": f"Satu {n}"}, lambda n: {"content": f"<p>Dua {n}</p>"},
    ),
    Section(
        "dokter", "/dokter", "dokter",
        lambda n: {"nama": f"Dokter {n}"}, lambda n: {"nama": f"Satu {n}"}, lambda n: {"telepon": f"021{n:06d}"},
        twin=201,
    ),
    Section(
        "video", "/videoplatform/video", "videos",
        lambda n: {"video_id": f"simpan{n:05d}", "title": f"Video {n}"},
        lambda n: {"title": f"Satu {n}"}, lambda n: {"channel_title": f"Dua {n}"},
    ),
)  # fmt: skip


def _create_path(section):
    return "/emergency/admin" if section.name == "emergency" else section.path


def _new(scene, section):
    n = scene.number()
    record_id = scene.new(scene.admin().post(_create_path(section), **section.record(n)))
    return f"{section.path}/{record_id}", record_id, n


def _meet_on_one_row(section):
    @encounter(200, name=f"change_meets_change_of_{section.name}")
    def changes(scene):
        path, record_id, n = _new(scene, section)
        first, second = section.first(n), section.second(n)
        a, b = scene.admin(), scene.admin()
        yield [a.put(path, **first), b.put(path, **second)]
        stored = {
            name: scene.sql(f"SELECT {name} FROM {section.table} WHERE id = :id", id=record_id)
            for name in {**first, **second}
        }
        if section.is_whole:
            assert stored in (first, second)
        else:
            assert stored == {**first, **second}

    @encounter(200, 204, 404, name=f"change_meets_delete_of_{section.name}")
    def change_and_delete(scene):
        path, record_id, n = _new(scene, section)
        a, b = scene.admin(), scene.admin()
        yield [a.put(path, **section.first(n)), b.delete(path), a.put(path, **section.second(n))]
        assert scene.sql(f"SELECT count(*) FROM {section.table} WHERE id = :id", id=record_id) == 0

    @encounter(200, 204, 404, name=f"delete_meets_delete_of_{section.name}")
    def deletes(scene):
        path, _, _ = _new(scene, section)
        a, b = scene.admin(), scene.admin()
        responses = yield [a.delete(path), b.delete(path), a.delete(path)]
        assert statuses(responses)[1:] == [404, 404]

    @encounter(201, section.twin, name=f"create_meets_create_of_{section.name}")
    def twins(scene):
        record = section.record(scene.number())
        path = _create_path(section)
        a, b = scene.admin(), scene.admin()
        responses = yield [a.post(path, **record), b.post(path, **record)]
        assert statuses(responses) == [201, section.twin]


for _section in SECTIONS:
    _meet_on_one_row(_section)


# --- pairs of requests on a row and on the row that it references ---

KATEGORI, KOMUNITAS, ARTICLE = SECTIONS[0], SECTIONS[2], SECTIONS[5]


def _meet_over_a_kategori(section):
    @encounter(201, 200, 400, 409, name=f"create_of_{section.name}_meets_delete_of_its_kategori")
    def create_and_delete(scene):
        path, kategori_id, _ = _new(scene, KATEGORI)
        a, b = scene.admin(), scene.admin()
        created, deleted = yield [
            a.post(section.path, **section.record(scene.number()), kategori_id=kategori_id),
            b.delete(path),
        ]
        assert (created.status, deleted.status) in ((201, 409), (400, 200))

    @encounter(200, 400, 409, name=f"change_of_{section.name}_meets_delete_of_its_kategori")
    def change_and_delete(scene):
        path, kategori_id, _ = _new(scene, KATEGORI)
        record, _, _ = _new(scene, section)
        a, b = scene.admin(), scene.admin()
        changed, deleted = yield [a.put(record, kategori_id=kategori_id), b.delete(path)]
        assert (changed.status, deleted.status) in ((200, 409), (400, 200))

    @encounter(200, 204, 409, name=f"delete_of_{section.name}_meets_delete_of_its_kategori")
    def delete_and_delete(scene):
        path, kategori_id, _ = _new(scene, KATEGORI)
        record, _, _ = _new(scene, section)
        assert scene.send(scene.admin().put(record, kategori_id=kategori_id)).status == 200
        a, b = scene.admin(), scene.admin()
        yield [a.delete(record), b.delete(path)]


_meet_over_a_kategori(KOMUNITAS)
_meet_over_a_kategori(ARTICLE)


@encounter(200, 201, 400)
def create_of_dokter_meets_delete_of_its_faskes(scene):
    path, faskes_id, _ = _new(scene, SECTIONS[4])
    a, b = scene.admin(), scene.admin()
    yield [a.post("/dokter", nama="dr. Ani", faskes_ids=[faskes_id]), b.delete(path)]
    assert scene.sql("SELECT count(*) FROM dokter_faskes WHERE faskes_id = :id", id=faskes_id) == 0


@encounter(200, 400)
def change_of_dokter_meets_delete_of_its_faskes(scene):
    """One request moves a doctor to another facility. Others delete the old and the new facility."""
    (old, old_id, _), (new, new_id, _) = _new(scene, SECTIONS[4]), _new(scene, SECTIONS[4])
    dokter_id = scene.new(scene.admin().post("/dokter", nama="dr. Ani", faskes_ids=[old_id]))
    a, b = scene.admin(), scene.admin()
    yield [a.put(f"/dokter/{dokter_id}", faskes_ids=[new_id]), b.delete(old), b.delete(new)]


@encounter(200, 204)
def delete_of_dokter_meets_delete_of_its_faskes(scene):
    path, faskes_id, _ = _new(scene, SECTIONS[4])
    dokter_id = scene.new(scene.admin().post("/dokter", nama="dr. Ani", faskes_ids=[faskes_id]))
    a, b = scene.admin(), scene.admin()
    yield [a.delete(f"/dokter/{dokter_id}"), b.delete(path)]


@encounter(200)
def two_sets_of_faskes_for_one_dokter(scene):
    ids = [_new(scene, SECTIONS[4])[1] for _ in range(3)]
    dokter_id = scene.new(scene.admin().post("/dokter", nama="dr. Ani", faskes_ids=ids[:2]))
    a, b = scene.admin(), scene.admin()
    path = f"/dokter/{dokter_id}"
    yield [a.put(path, faskes_ids=ids[1:]), b.put(path, faskes_ids=ids[:1])]
    query = "SELECT array_agg(faskes_id ORDER BY faskes_id) FROM dokter_faskes WHERE dokter_id = :id"
    assert scene.sql(query, id=dokter_id) in (ids[1:], ids[:1])


@encounter(200, 204, 404)
def layout_of_a_province_meets_its_delete(scene):
    a, b = scene.admin(), scene.admin()
    path = "/province-config/Aceh"
    yield [a.put(path, sections=[{"id": "video", "enabled": True}]), b.delete(path), b.delete(path)]


@encounter(200)
def double_taps_on_one_article_to_save(scene):
    person = scene.person()
    call = person.post("/articles/save", url="https://contoh.id/simpan", title="Artikel")
    responses = yield [call] * 4
    assert sorted(response.body["is_saved"] for response in responses) == [False, False, True, True]
