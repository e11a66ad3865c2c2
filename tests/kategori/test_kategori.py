"""Content categories."""

from __future__ import annotations

from typing import Any

import pytest

from tests.helpers.client import Client, assert_error
from tests.helpers.factories import make_user


def test_an_admin_adds_renames_and_deletes_and_everybody_reads(client: Client, admin: Client) -> None:
    created = admin.post("/kategori", {"nama_kategori": " Gizi "})
    assert created.status_code == 201
    assert created.json == {"id": created.json["id"], "nama_kategori": "Gizi"}
    url = f"/kategori/{created.json['id']}"
    assert admin.put(url, {"nama_kategori": "Gizi Anak"}).json["nama_kategori"] == "Gizi Anak"
    assert client.get("/kategori").json == [{"id": created.json["id"], "nama_kategori": "Gizi Anak"}]
    assert admin.delete(url).status_code == 200
    assert client.get("/kategori").json == []


def test_the_list_is_by_name(client: Client, admin: Client) -> None:
    for name in ("Zat", "Asma", "Mata"):
        admin.post("/kategori", {"nama_kategori": name})
    assert [row["nama_kategori"] for row in client.get("/kategori/").json] == ["Asma", "Mata", "Zat"]


def test_a_name_is_taken_once_whatever_its_case(admin: Client) -> None:
    admin.post("/kategori", {"nama_kategori": "Gizi"})
    other = admin.post("/kategori", {"nama_kategori": "Mata"}).json["id"]
    assert_error(admin.post("/kategori", {"nama_kategori": "GIZI"}), 409, "kategori_taken")
    assert_error(admin.put(f"/kategori/{other}", {"nama_kategori": "gizi"}), 409, "kategori_taken")


@pytest.mark.parametrize("body", [{}, {"nama_kategori": " "}, {"nama_kategori": "x" * 101}, {"nama_kategori": []}])
def test_a_wrong_name_is_bad_input(admin: Client, body: dict[str, Any]) -> None:
    assert_error(admin.post("/kategori", body), 400, "validation_error", "nama_kategori")


def test_an_unknown_category_is_not_found(admin: Client) -> None:
    assert_error(admin.put("/kategori/999", {"nama_kategori": "x"}), 404, "not_found")
    assert_error(admin.delete("/kategori/999"), 404, "not_found")


def test_writes_are_for_admins(client: Client) -> None:
    person = client.as_(make_user())
    for method, path in (("POST", "/kategori"), ("PUT", "/kategori/1"), ("DELETE", "/kategori/1")):
        assert_error(client.open(method, path, {"nama_kategori": "x"}), 401)
        assert_error(person.open(method, path, {"nama_kategori": "x"}), 403)
