"""Routes of communities, in the order of `routes.py`."""

from app.core.database.session import db
from app.kategori.models import Kategori

NEW = {
    "nama": "Sahabat Diabetes",
    "deskripsi": "Bertemu setiap Minggu.",
    "link": "https://chat.whatsapp.com/abc",
    "kontak": "0812-3456-7890",
    "province": "jabar",
}


class TestListKomunitas:
    """GET /komunitas"""

    def test_lists_newest_first_paged_and_in_one_statement(self, client, admin, statements):
        ids = [(admin.post("/komunitas", {"nama": f"Komunitas {n}"}).json or {})["id"] for n in range(5)]
        with statements.at_most(1):
            assert [row["id"] for row in client.get("/komunitas").json or []] == ids[::-1]
        response = client.get("/komunitas?page=2&per_page=2")
        assert [row["id"] for row in response.json or []] == [ids[2], ids[1]]
        assert response.headers["X-Total-Count"] == "5"


class TestCreateKomunitas:
    """POST /komunitas"""

    def test_a_created_community_can_be_read_by_everybody(self, client, admin):
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
