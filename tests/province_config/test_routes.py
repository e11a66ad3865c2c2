"""Routes of home page layouts, in the order of `routes.py`."""

from tests.helpers.client import assert_error

CIMAHI = {"lat": "-6.88", "lng": "107.55"}


SECTIONS = [{"id": "video", "enabled": True}, {"id": "articles", "enabled": False}, {"id": "menu-1", "enabled": True}]


class TestGetNearbyProvinceConfig:
    """GET /province-config/nearby"""

    def test_without_province_or_layout_is_404(self, client, admin):
        assert_error(client.get("/province-config/nearby", query_string=CIMAHI), 404, "not_found")
        admin.put("/province-config/default", {"sections": SECTIONS})
        assert_error(client.get("/province-config/nearby", query_string=CIMAHI), 404, "not_found")
        assert_error(client.get("/province-config/nearby?lat=1.29&lng=103.85"), 404, "province_not_found")


class TestGetProvinceConfig:
    """GET /province-config/<province>"""

    def test_a_saved_layout_is_read_by_everybody(self, client, admin):
        saved = admin.put("/province-config/Jawa Barat", {"sections": SECTIONS}).ok()
        assert saved["province"] == "Jawa Barat"
        assert saved["sections"] == [{**section, "order": order} for order, section in enumerate(SECTIONS)]
        assert saved["updated_at"].endswith("Z")
        for path in ("/province-config/Jawa Barat", "/province-config/west%20java/", "/province-config/nearby"):
            assert client.get(path, query_string=CIMAHI).ok() == saved

    def test_default_is_a_separate_layout_and_a_deleted_one_is_404(self, client, admin):
        assert_error(client.get("/province-config/default"), 404)
        saved = admin.put("/province-config/default", {"sections": SECTIONS})
        assert saved.json["province"] == "default"
        assert client.get("/province-config/Default").json == saved.json
        admin.put("/province-config/Aceh", {"sections": SECTIONS})
        for path in ("default", "Nanggroe Aceh Darussalam"):
            response = admin.delete(f"/province-config/{path}")
            assert (response.status_code, response.data) == (204, b"")
            assert_error(client.get(f"/province-config/{path}"), 404)

    def test_no_saved_layout_is_404_and_an_unknown_province_is_not_stored(self, client, admin):
        for path in ("/province-config/Bali", "/province-config/Wakanda", "/province-config/%20"):
            assert_error(client.get(path), 404, "not_found")
            assert_error(admin.delete(path), 404, "not_found")
        unknown = admin.put("/province-config/Wakanda", {"sections": SECTIONS})
        assert_error(unknown, 400, "validation_error", "province")

    def test_a_nul_byte_in_the_path_is_refused(self, client, admin):
        admin.put("/province-config/Bali", {"sections": SECTIONS})
        for path in ("/province-config/Bali%00", "/province-config/Ba%00li"):
            assert_error(client.get(path), 404, "not_found")
            assert_error(admin.put(path, {"sections": []}), 400, "validation_error", "province")
            assert_error(admin.delete(path), 404, "not_found")
        assert client.get("/province-config/Bali").status_code == 200


class TestUpdateProvinceConfig:
    """PUT /province-config/<province>"""

    def test_the_order_is_the_position_in_the_array(self, admin):
        sent = [{"id": "a", "enabled": True, "order": 7}, {"id": "b", "enabled": True, "order": 0}]
        sections = admin.put("/province-config/Bali", {"sections": sent}).json["sections"]
        assert [(section["id"], section["order"]) for section in sections] == [("a", 0), ("b", 1)]

    def test_saving_again_replaces_everything(self, client, admin):
        admin.put("/province-config/Bali", {"sections": SECTIONS})
        admin.put("/province-config/bali", {"sections": [{"id": "articles", "enabled": True}]})
        assert client.get("/province-config/Bali").json["sections"] == [{"id": "articles", "enabled": True, "order": 0}]
        admin.put("/province-config/Bali", {"sections": []})
        assert client.get("/province-config/Bali").json["sections"] == []

    def test_a_layout_that_breaks_a_rule_is_400_and_changes_nothing(self, client, admin):
        admin.put("/province-config/Bali", {"sections": SECTIONS})
        for sections in (
            [{"id": "a b", "enabled": True}],
            [{"id": "video", "enabled": "yes"}],
            [{"id": "video", "enabled": True}, {"id": "video", "enabled": False}],
        ):
            body = {"sections": sections}
            assert_error(admin.put("/province-config/Bali", body), 400, "validation_error", "sections")
            assert len(client.get("/province-config/Bali").json["sections"]) == 3
