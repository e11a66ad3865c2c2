"""Content categories: their order, and those in use."""

from tests.helpers.client import assert_error
from tests.helpers.factories import make_article


def test_categories_are_listed_by_name(client, admin):
    for name in ("Zat", "Asma", "Mata"):
        admin.post("/kategori", {"nama_kategori": name})
    assert [row["nama_kategori"] for row in client.get("/kategori").json] == ["Asma", "Mata", "Zat"]


def test_a_category_in_use_cannot_be_deleted(admin):
    ours, theirs = (admin.post("/kategori", {"nama_kategori": name}).json["id"] for name in ("Gizi", "Mata"))
    admin.post("/komunitas", {"nama": "Sahabat", "kategori_id": ours})
    make_article(kategori_id=theirs)
    for number in (ours, theirs):
        assert_error(admin.delete(f"/kategori/{number}"), 409, "kategori_in_use")
