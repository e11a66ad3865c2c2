"""Error messages for invalid input: one sentence for the user, and messages by the dotted path of the field."""

import io

import pytest
from marshmallow import Schema, ValidationError, fields

from app.core.web.fields import ListOf
from tests.helpers.client import assert_error

DOSE = {"jam": "00:00", "jumlah": 1, "satuan": "tablet"}
OBAT = {"nama_obat": "Metformin", "frekuensi": 2, "aturan": "saat makan", "jadwal": [DOSE, {**DOSE, "jam": "12:00"}]}


def obat(**details):
    return {"judul": "Obat", "details": OBAT | details}


def form(**fields):
    return {"data": fields}


NO_OBJECT = ("Data yang dikirim tidak sesuai.", {"_schema": ["Isian ini tidak sesuai."]})
#: For each kind of error: the caller, method, path and body, then the message and the errors of the response.
REFUSED = {
    "all invalid fields are reported, and the first makes the message": (
        "client", "POST", "/login", {"username": "", "password": 7}, "Nama pengguna wajib diisi.",
        {"username": ["wajib diisi."], "password": ["isi dengan teks."]},
    ),
    "a nested field has a dotted path and its position": (
        "siti", "POST", "/pengingat/obat", obat(jadwal=[{**DOSE, "jam": "25:00"}, {**DOSE, "jumlah": 0}]),
        "Jam pada jadwal ke-1: tulis seperti 07:30.",
        {"details.jadwal.0.jam": ["tulis seperti 07:30."],
         "details.jadwal.1.jumlah": ["harus lebih dari 0, maksimal 100000."]},
    ),
    "a list item of the wrong type has its own path": (
        "siti", "POST", "/pengingat/obat", obat(jadwal=["07:00", DOSE]), "Jadwal ke-1 tidak sesuai.",
        {"details.jadwal.0": ["Isian ini tidak sesuai."]},
    ),
    "an error across several fields is reported at one field": (
        "siti", "POST", "/pengingat/obat", obat(frekuensi=1), "Jumlah jam harus sama dengan frekuensi.",
        {"details.frekuensi": ["Jumlah jam harus sama dengan frekuensi."]},
    ),
    "a list is no object": ("client", "POST", "/login", [], *NO_OBJECT),
    "a text is no object": ("client", "POST", "/login", "teks", *NO_OBJECT),
    "a query is reported like a body": (
        "client", "GET", "/forum/threads?page=0&per_page=1000&saved=mungkin", None,
        "Nomor halaman harus dari 1 sampai 1000000.",
        {"page": ["harus dari 1 sampai 1000000."], "per_page": ["harus dari 1 sampai 100."],
         "saved": ["isi dengan ya atau tidak."]},
    ),
    "a number is no boolean in JSON": (
        "siti", "PUT", "/profile/persetujuan", {"broadcasts": 1}, "Siaran: isi dengan ya atau tidak.",
        {"broadcasts": ["isi dengan ya atau tidak."]},
    ),
    "a form is reported like a body": (
        "siti", "PUT", "/profile",
        form(nama_ktp="x" * 101, role_ids=["1", "dua"], domicile="Atlantis", email="siti"),
        "E-mail: tulis seperti siti@example.com.",
        {"email": ["tulis seperti siti@example.com."], "nama_ktp": ["maksimal 100 karakter."],
         "domicile": ["harus salah satu provinsi di Indonesia."], "role_ids.1": ["isi dengan bilangan bulat."]},
    ),
    "a form with a file is reported like a body": (
        "admin", "POST", "/dokter", form(nama="dr. Ani", faskes_ids='["x", 7]', image=(io.BytesIO(b"x"), "")),
        "Fasilitas kesehatan ke-2: isi dengan teks.", {"faskes_ids.1": ["isi dengan teks."]},
    ),
    "an error from a service has the same format": (
        "admin", "POST", "/dokter", {"nama": "dr. Ani", "faskes_ids": ["tidak-ada"]},
        "Fasilitas kesehatan tidak dikenal: tidak-ada.", {"faskes_ids": ["tidak dikenal: tidak-ada."]},
    ),
    "an error from the database has the same format": (
        "admin", "POST", "/komunitas", {"nama": "Sahabat", "kategori_id": 999_999}, "Kategori tidak ditemukan.",
        {"kategori_id": ["tidak ditemukan."]},
    ),
}  # fmt: skip


def test_every_error_has_one_sentence_and_the_messages_of_its_fields(client, siti, admin, subtests):
    callers = {"client": client, "siti": siti, "admin": admin}
    for name, (caller, method, path, body, message, errors) in REFUSED.items():
        is_form = isinstance(body, dict) and "data" in body
        with subtests.test(name):
            response = callers[caller].open(method, path, **(body if is_form else {"json": body}))
            assert_error(response, 400, "validation_error")
            assert (response.json["message"], response.json["errors"]) == (message, errors)


def test_a_list_that_is_too_long_is_refused_before_its_items_are_read():
    read = []

    class Item(fields.Integer):
        def _deserialize(self, value, *args, **kwargs):
            read.append(value)
            raise self.make_error("invalid")

    class Asked(Schema):
        numbers = ListOf(Item(), least=1, most=3)

    with pytest.raises(ValidationError) as caught:
        Asked().load({"numbers": ["x"] * 200_000})
    assert caught.value.messages == {"numbers": ["harus berjumlah 1 sampai 3."]}
    assert read == []
    with pytest.raises(ValidationError):
        Asked().load({"numbers": ["x", "y"]})
    assert read == ["x", "y"]
