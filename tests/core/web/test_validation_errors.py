"""Error messages for invalid input: one sentence for the user, and messages by the dotted path of the field."""

import io

import pytest
from marshmallow import Schema, ValidationError, fields

from app.core.web.fields import ListOf
from tests.helpers.client import assert_error

DOSE = {"jam": "00:00", "jumlah": 1, "satuan": "tablet"}
OBAT = {"nama_obat": "Metformin", "frekuensi": 2, "aturan": "saat makan", "jadwal": [DOSE, {**DOSE, "jam": "12:00"}]}
REMINDER = {"judul": "Obat", "details": OBAT}


def told(response):
    assert_error(response, 400, "validation_error")
    return response.json["message"], response.json["errors"]


def test_all_invalid_fields_are_reported_and_the_first_makes_the_message(client):
    message, errors = told(client.post("/login", {"username": "", "password": 7}))
    assert message == "Nama pengguna wajib diisi."
    assert errors == {"username": ["wajib diisi."], "password": ["isi dengan teks."]}


def test_an_error_in_a_nested_field_has_a_dotted_path_and_its_position(siti):
    details = {**OBAT, "jadwal": [{**DOSE, "jam": "25:00"}, {**DOSE, "jumlah": 0}]}
    message, errors = told(siti.post("/pengingat/obat", {**REMINDER, "details": details}))
    assert message == "Jam pada jadwal ke-1: tulis seperti 07:30."
    assert errors == {
        "details.jadwal.0.jam": ["tulis seperti 07:30."],
        "details.jadwal.1.jumlah": ["harus lebih dari 0, maksimal 100000."],
    }


def test_a_list_item_of_the_wrong_type_is_reported_under_its_own_path(siti):
    message, errors = told(siti.post("/pengingat/obat", {**REMINDER, "details": {**OBAT, "jadwal": ["07:00", DOSE]}}))
    assert message == "Jadwal ke-1 tidak sesuai."
    assert errors == {"details.jadwal.0": ["Isian ini tidak sesuai."]}


def test_an_error_across_several_fields_is_reported_at_one_field(siti):
    message, errors = told(siti.post("/pengingat/obat", {**REMINDER, "details": {**OBAT, "frekuensi": 1}}))
    assert message == "Jumlah jam harus sama dengan frekuensi."
    assert errors == {"details.frekuensi": ["Jumlah jam harus sama dengan frekuensi."]}


def test_a_body_that_is_not_an_object_gets_one_error_for_the_whole_body(client):
    for sent in ([], "teks", 7):
        message, errors = told(client.post("/login", sent))
        assert message == "Data yang dikirim tidak sesuai."
        assert errors == {"_schema": ["Isian ini tidak sesuai."]}


def test_query_errors_are_reported_like_body_errors(client):
    message, errors = told(client.get("/forum/threads?page=0&per_page=1000&saved=mungkin"))
    assert message == "Nomor halaman harus dari 1 sampai 1000000."
    assert errors == {
        "page": ["harus dari 1 sampai 1000000."],
        "per_page": ["harus dari 1 sampai 100."],
        "saved": ["isi dengan ya atau tidak."],
    }


def test_a_number_is_no_boolean_in_json(siti):
    for number in (0, 1):
        _, errors = told(siti.put("/profile/persetujuan", {"broadcasts": number}))
        assert errors == {"broadcasts": ["isi dengan ya atau tidak."]}


def test_form_errors_are_reported_like_body_errors(siti):
    form = {"nama_ktp": "x" * 101, "role_ids": ["1", "dua"], "domicile": "Atlantis", "email": "siti"}
    message, errors = told(siti.put("/profile", data=form))
    assert message == "E-mail: tulis seperti siti@example.com."
    assert errors == {
        "email": ["tulis seperti siti@example.com."],
        "nama_ktp": ["maksimal 100 karakter."],
        "domicile": ["harus salah satu provinsi di Indonesia."],
        "role_ids.1": ["isi dengan bilangan bulat."],
    }


def test_errors_in_a_form_with_files_are_reported_like_body_errors(admin):
    form = {"nama": "dr. Ani", "faskes_ids": '["x", 7]', "image": (io.BytesIO(b"x"), "")}
    message, errors = told(admin.post("/dokter", data=form))
    assert message == "Fasilitas kesehatan ke-2: isi dengan teks."
    assert errors == {"faskes_ids.1": ["isi dengan teks."]}


def test_an_error_from_a_service_has_the_format_of_a_schema_error(admin):
    message, errors = told(admin.post("/dokter", {"nama": "dr. Ani", "faskes_ids": ["tidak-ada"]}))
    assert message == "Fasilitas kesehatan tidak dikenal: tidak-ada."
    assert errors == {"faskes_ids": ["tidak dikenal: tidak-ada."]}


def test_an_error_from_the_database_has_the_format_of_a_schema_error(admin):
    message, errors = told(admin.post("/komunitas", {"nama": "Sahabat", "kategori_id": 999_999}))
    assert message == "Kategori tidak ditemukan."
    assert errors == {"kategori_id": ["tidak ditemukan."]}


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
