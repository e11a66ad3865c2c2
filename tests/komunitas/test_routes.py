"""Routes of communities, in the order of `routes.py`."""

from __future__ import annotations

from io import BytesIO
from typing import Any

import pytest

from app.core.database.session import db
from app.kategori.models import Kategori
from tests.core.media import samples as pictures
from tests.helpers.client import Client, assert_error
from tests.helpers.for_admins import ForAdmins
from tests.helpers.statements import Statements

NEW = {
    "nama": "Sahabat Diabetes",
    "deskripsi": "Bertemu setiap Minggu.",
    "link": "https://chat.whatsapp.com/abc",
    "kontak": "0812-3456-7890",
    "province": "jabar",
}


def picture() -> tuple[BytesIO, str]:
    return BytesIO(pictures.plain()), "foto.jpg"


class TestListKomunitas:
    """GET /komunitas"""

    def test_lists_newest_first_paged_and_in_one_statement(
        self, client: Client, admin: Client, statements: Statements
    ) -> None:
        ids = [(admin.post("/komunitas", {"nama": f"Komunitas {n}"}).json or {})["id"] for n in range(5)]
        with statements.at_most(1):
            assert [row["id"] for row in client.get("/komunitas").json or []] == ids[::-1]
        response = client.get("/komunitas?page=2&per_page=2")
        assert [row["id"] for row in response.json or []] == [ids[2], ids[1]]
        assert response.headers["X-Total-Count"] == "5"


class TestCreateKomunitas(ForAdmins):
    """POST /komunitas"""

    def test_a_created_community_can_be_read_by_everybody(self, client: Client, admin: Client) -> None:
        kategori = Kategori(nama_kategori="Diabetes")
        db.session.add(kategori)
        db.session.flush()
        response = admin.post("/komunitas", {**NEW, "province": "provinsi jawa barat", "kategori_id": kategori.id})
        assert response.status_code == 201
        record = response.json or {}
        assert {name: record[name] for name in NEW} == {**NEW, "province": "Jawa Barat"}
        assert (record["kategori_id"], record["image"]) == (kategori.id, None)
        for path in ("/komunitas", "/komunitas/"):
            assert client.get(path).json == [record]
        assert client.get(f"/komunitas/{record['id']}").json == record

    @pytest.mark.parametrize(
        ("change", "field"),
        [
            ({"nama": None}, "nama"), ({"nama": " "}, "nama"), ({"nama": "x" * 201}, "nama"),
            ({"deskripsi": "x" * 10_001}, "deskripsi"), ({"link": "javascript:alert(1)"}, "link"),
            ({"link": "bukan alamat"}, "link"), ({"kontak": "x" * 201}, "kontak"),
            ({"province": "Atlantis"}, "province"), ({"kategori_id": 999999}, "kategori_id"),
            ({"kategori_id": "x"}, "kategori_id"), ({"image": "bukan berkas"}, "image"),
        ],
    )  # fmt: skip
    def test_bad_input_is_400_and_names_its_field(self, admin: Client, change: dict[str, Any], field: str) -> None:
        assert_error(admin.post("/komunitas", {"nama": "Sahabat", **change}), 400, field=field)
        komunitas = admin.post("/komunitas", {"nama": "Sahabat"}).json or {}
        assert_error(admin.put(f"/komunitas/{komunitas['id']}", change), 400, field=field)

    def test_a_file_that_is_no_picture_is_415(self, admin: Client) -> None:
        form = {"nama": "Sahabat", "image": (BytesIO(b"%PDF-1.4"), "x.png")}
        assert_error(admin.post("/komunitas", data=form), 415)


class TestGetKomunitas:
    """GET /komunitas/<komunitas_id>"""

    def test_an_unknown_community_is_404(self, client: Client) -> None:
        assert_error(client.get("/komunitas/999999"), 404)


class TestUpdateKomunitas(ForAdmins):
    """PUT /komunitas/<komunitas_id>"""

    def test_fields_missing_from_the_body_are_kept(self, admin: Client) -> None:
        komunitas = admin.post("/komunitas", {**NEW, "province": "Bali"}).json or {}
        edited = admin.put(f"/komunitas/{komunitas['id']}", {"nama": "Baru", "kontak": None, "link": ""}).json or {}
        assert (edited["nama"], edited["kontak"], edited["link"]) == ("Baru", None, None)
        assert (edited["deskripsi"], edited["province"]) == (NEW["deskripsi"], "Bali")

    def test_a_refused_edit_keeps_the_picture(self, client: Client, admin: Client) -> None:
        komunitas = admin.post("/komunitas", data={"nama": "Sahabat", "image": picture()}).json or {}
        form = {"image": picture(), "kategori_id": "999999"}
        assert_error(admin.put(f"/komunitas/{komunitas['id']}", data=form), 400, field="kategori_id")
        assert client.get(komunitas["image"]).status_code == 200

    def test_an_unknown_community_is_404(self, admin: Client) -> None:
        assert_error(admin.put("/komunitas/999999", {"nama": "x"}), 404)


class TestDeleteKomunitas(ForAdmins):
    """DELETE /komunitas/<komunitas_id>"""

    def test_the_file_of_a_replaced_or_removed_picture_is_404(self, client: Client, admin: Client) -> None:
        komunitas = admin.post("/komunitas", data={"nama": "Sahabat", "image": picture()}).json or {}
        assert client.get(komunitas["image"]).mimetype == "image/webp"
        path = f"/komunitas/{komunitas['id']}"

        replaced = admin.put(path, data={"image": picture()}).json or {}
        assert (replaced["nama"], replaced["image"] != komunitas["image"]) == ("Sahabat", True)
        assert client.get(komunitas["image"]).status_code == 404

        assert (admin.put(path, {"image": None}).json or {})["image"] is None
        assert client.get(replaced["image"]).status_code == 404

        last = admin.put(path, data={"image": picture()}).json or {}
        assert "message" in (admin.delete(path).json or {})
        assert client.get(last["image"]).status_code == 404
        assert_error(client.get(path), 404)

    def test_an_unknown_community_is_404(self, admin: Client) -> None:
        assert_error(admin.delete("/komunitas/999999"), 404)
