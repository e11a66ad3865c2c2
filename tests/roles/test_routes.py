"""Routes of roles, in the order of `routes.py`."""

import pytest

from tests.helpers.client import assert_error
from tests.helpers.factories import PASSWORD, make_admin, make_superadmin, make_user
from tests.helpers.role_ids import role_id

SEEDED = ["superadmin", "admin", "pendamping", "pasien"]


@pytest.fixture
def relawan(admin):
    return admin.post("/roles", {"name": "relawan"}).json["id"]


class TestListRoles:
    """GET /roles"""

    def test_the_seeded_roles_are_public_and_not_editable(self, client):
        response = client.get("/roles")
        assert [role["name"] for role in response.json] == SEEDED
        assert not any(role["is_editable"] for role in response.json)
        assert response.headers["X-Total-Count"] == "4"
        assert client.get(f"/roles/{response.json[0]['id']}").json["name"] == "superadmin"

    def test_roles_are_listed_oldest_first(self, client, admin):
        added = [admin.post("/roles", {"name": name}).json["id"] for name in ("relawan", "ahli-gizi")]
        ids = [role["id"] for role in client.get("/roles").json]
        assert ids == sorted(ids)
        assert ids[-2:] == added

    def test_is_paged_with_links_that_ignore_the_host_headers(self, client):
        response = client.get("/roles?page=2&per_page=3")
        assert [role["name"] for role in response.json] == ["pasien"]
        assert response.headers["X-Total-Count"] == "4"
        assert "Link" not in response.headers
        evil = {"Host": "evil.example", "X-Forwarded-Host": "evil.example"}
        first = client.get("/roles?page=1&per_page=3", headers=evil)
        assert first.headers["Link"] == '</api/roles?page=2&per_page=3>; rel="next"'


class TestCreateRole:
    """POST /roles"""

    def test_role_names_are_unique_ignoring_case(self, admin, relawan):
        for name in ("pasien", "PASIEN", "Relawan"):
            assert_error(admin.post("/roles", {"name": name}), 409, "role_taken")

    def test_a_superadmin_with_an_ordinary_login_can_create_a_role(self, client):
        make_superadmin(username="boss")
        token = client.post("/login", {"username": "boss", "password": PASSWORD}).json["access_token"]
        assert client.with_token(token).post("/roles", {"name": "satu"}).status_code == 201


class TestUpdateRole:
    """PUT /roles/<role_id>"""

    def test_a_seeded_role_cannot_be_changed_or_deleted(self, admin):
        for name in SEEDED:
            url = f"/roles/{role_id(name)}"
            assert_error(admin.put(url, {"name": "lain", "is_editable": True}), 403, "role_not_editable")
            assert_error(admin.delete(url), 403, "role_not_editable")
            assert admin.get(url).json["name"] == name

    def test_refuses_a_taken_name(self, admin, relawan):
        assert_error(admin.put(f"/roles/{relawan}", {"name": "Pasien"}), 409, "role_taken")


class TestDeleteRole:
    """DELETE /roles/<role_id>"""

    def test_a_role_that_is_not_editable_cannot_be_deleted(self, admin, relawan):
        assert admin.put(f"/roles/{relawan}", {"name": "relawan", "is_editable": False}).status_code == 200
        assert_error(admin.delete(f"/roles/{relawan}"), 403, "role_not_editable")

    def test_a_role_in_use_cannot_be_deleted(self, admin, relawan):
        user = make_user()
        admin.post(f"/admins/{user.id}/roles", {"role_ids": [relawan]})
        assert_error(admin.delete(f"/roles/{relawan}"), 409, "role_in_use")


class TestListUserRoles:
    """GET /users/<user_id>/roles"""

    def test_lists_the_callers_roles(self, siti):
        response = siti.get(f"/users/{siti.id}/roles")
        assert (response.status_code, [role["name"] for role in response.json]) == (200, ["pasien"])

    def test_only_administrators_read_the_roles_of_others(self, client, siti, admin):
        for url in (f"/users/{admin.id}/roles", f"/users/{admin.id}", "/users/999999/roles", "/users/999999"):
            assert_error(client.get(url), 401, "unauthorized")
            assert_error(siti.get(url), 403, "forbidden")
        assert [role["name"] for role in admin.get(f"/users/{siti.id}/roles").json] == ["pasien"]


class TestAddUserRoles:
    """POST /admins/<user_id>/roles"""

    def test_adding_and_removing_roles_is_idempotent(self, admin, relawan):
        user = make_user()
        url = f"/admins/{user.id}/roles"
        for _ in range(2):
            response = admin.post(url, {"role_ids": [relawan, role_id("pendamping"), relawan]})
            assert response.status_code == 200
            assert sorted(response.json["role_ids"]) == sorted([relawan, role_id("pendamping"), role_id("pasien")])
        assert {role["name"] for role in admin.get(f"/users/{user.id}/roles").json} == {
            "pasien",
            "pendamping",
            "relawan",
        }
        for _ in range(2):
            response = admin.delete(url, {"role_ids": [relawan]})
            assert response.status_code == 200
            assert relawan not in response.json["role_ids"]

    def test_unknown_role_ids_are_bad_input(self, admin):
        user_id = make_user().id
        for method, url in (("POST", f"{user_id}/roles"), ("DELETE", f"{user_id}/roles"), ("PUT", f"users/{user_id}")):
            response = admin.open(method, f"/admins/{url}", {"role_ids": [999999]})
            assert_error(response, 400, "validation_error", "role_ids")


class TestRemoveUserRoles:
    """DELETE /admins/<user_id>/roles"""

    def test_removing_the_admin_role_revokes_its_rights_immediately(self, client, admin):
        other = make_admin()
        other_client = client.as_(other)
        assert other_client.post("/roles", {"name": "satu"}).status_code == 201
        admin.delete(f"/admins/{other.id}/roles", {"role_ids": [role_id("admin")]})
        assert_error(other_client.post("/roles", {"name": "dua"}), 403, "forbidden")
