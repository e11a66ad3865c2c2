"""Routes of content categories, in the order of `routes.py`."""

from tests.helpers.client import assert_error
from tests.helpers.factories import make_article


class TestListKategori:
    """GET /kategori"""

    def test_lists_by_name(self, client, admin):
        for name in ("Zat", "Asma", "Mata"):
            admin.post("/kategori", {"nama_kategori": name})
        assert [row["nama_kategori"] for row in client.get("/kategori/").json] == ["Asma", "Mata", "Zat"]


class TestCreateKategori:
    """POST /kategori"""

    def test_a_category_is_added_with_its_name_stripped(self, client, admin):
        created = admin.post("/kategori", {"nama_kategori": " Gizi "})
        assert created.status_code == 201
        assert created.json == {"id": created.json["id"], "nama_kategori": "Gizi"}
        assert client.get("/kategori").json == [created.json]

    def test_a_name_is_unique_regardless_of_case(self, admin):
        admin.post("/kategori", {"nama_kategori": "Gizi"})
        assert_error(admin.post("/kategori", {"nama_kategori": "GIZI"}), 409, "kategori_taken")


class TestUpdateKategori:
    """PUT /kategori/<kategori_id>"""

    def test_a_taken_name_is_refused(self, admin):
        admin.post("/kategori", {"nama_kategori": "Gizi"})
        other = admin.post("/kategori", {"nama_kategori": "Mata"}).json["id"]
        assert_error(admin.put(f"/kategori/{other}", {"nama_kategori": "gizi"}), 409, "kategori_taken")


class TestDeleteKategori:
    """DELETE /kategori/<kategori_id>"""

    def test_a_category_in_use_cannot_be_deleted(self, admin):
        ours, theirs = (admin.post("/kategori", {"nama_kategori": name}).json["id"] for name in ("Gizi", "Mata"))
        admin.post("/komunitas", {"nama": "Sahabat", "kategori_id": ours})
        make_article(kategori_id=theirs)
        for number in (ours, theirs):
            assert_error(admin.delete(f"/kategori/{number}"), 409, "kategori_in_use")
