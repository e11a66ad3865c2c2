"""The own record."""

from __future__ import annotations

import io
import json
from io import BytesIO
from typing import Any

import pytest
from PIL import Image

from app.core.database.session import db
from app.identity import credentials
from app.identity.models import Role, RoleName, User
from tests.core.media.samples import plain
from tests.helpers.client import Client, assert_error
from tests.helpers.factories import PASSWORD, make_admin, make_user

FIELDS = {
    "id", "username", "email", "nama_ktp", "nama_samaran", "nomor_hp", "role", "roles", "role_ids", "nik", "domicile",
    "preferences", "is_verified", "image", "created_at", "updated_at",
    "phone_verified_at",
}  # fmt: skip


def role_id(name: str) -> int:
    return db.session.scalars(db.select(Role.id).where(Role.name == name)).one()


def picture(size: tuple[int, int] = (900, 600)) -> io.BytesIO:
    data = io.BytesIO()
    Image.new("RGB", size, "teal").save(data, "JPEG")
    data.seek(0)
    return data


@pytest.fixture
def siti(client: Client) -> User:
    return make_user(username="siti", nik="3273014502900001")


@pytest.fixture
def as_siti(client: Client, siti: User) -> Client:
    return client.as_(siti)


def test_the_profile_is_the_whole_record_with_the_nik_decrypted(as_siti: Client, siti: User) -> None:
    response = as_siti.get("/profile")
    assert response.status_code == 200
    assert set(response.json) == FIELDS
    assert response.json["nik"] == "3273014502900001"
    assert response.json["roles"] == [{"id": role_id("pasien"), "name": "pasien", "is_editable": False}]
    assert response.json["created_at"].endswith("Z")
    assert response.headers["Cache-Control"] == "no-store"


def test_a_nik_that_cannot_be_read_keeps_nobody_out(as_siti: Client, siti: User) -> None:
    siti.nik = "v1:gone:AAAA"
    response = as_siti.get("/profile")
    assert (response.status_code, response.json["nik"]) == (200, None)


def test_a_profile_costs_three_statements(as_siti: Client, statements: Any) -> None:
    as_siti.get("/profile")
    with statements.at_most(3):  # the session, the person, their roles
        as_siti.get("/profile")


def test_a_form_with_a_picture_changes_what_it_names(as_siti: Client, siti: User) -> None:
    form = {
        "nama_ktp": "Siti A.",
        "preferences": json.dumps({"medical": "true", "religion": ["hindu"]}),
        "role_ids": f"[{role_id('pasien')}, {role_id('pendamping')}]",
        "image": (picture(), "foto.jpg"),
    }
    response = as_siti.put("/profile", data=form, content_type="multipart/form-data")
    assert response.status_code == 200, response.json
    assert response.json["nama_ktp"] == "Siti A."
    assert response.json["nama_samaran"] == siti.nama_samaran
    assert response.json["preferences"] == {"medical": "true", "religion": ["hindu"]}
    assert siti.preference_tags == ["hindu", "medical"]
    assert {role["name"] for role in response.json["roles"]} == {"pasien", "pendamping"}
    served = as_siti.get(response.json["image"])
    assert served.mimetype == "image/webp"
    assert max(Image.open(io.BytesIO(served.data)).size) == 512


def test_a_new_picture_replaces_the_old_one_and_null_removes_it(as_siti: Client) -> None:
    first = as_siti.put("/profile", data={"image": (picture(), "a.jpg")}).json["image"]
    second = as_siti.put("/profile", data={"image": (picture(), "b.jpg")}).json["image"]
    assert as_siti.get(first).status_code == 404
    assert as_siti.get(second).status_code == 200
    assert as_siti.put("/profile", {"image": None}).json["image"] is None
    assert as_siti.get(second).status_code == 404


def test_roles_may_be_repeated_fields(as_siti: Client) -> None:
    form = {"role_ids": [str(role_id("pasien")), str(role_id("pendamping"))]}
    response = as_siti.put("/profile", data=form, content_type="multipart/form-data")
    assert response.json["role"] == "pendamping"


def test_plain_json_is_accepted_too(as_siti: Client) -> None:
    response = as_siti.put("/profile", {"email": "siti@example.com", "domicile": "prov. bali"})
    assert response.status_code == 200
    assert response.json["email"] == "siti@example.com"
    assert response.json["domicile"] == "Bali"


def test_a_blank_email_is_removed(as_siti: Client) -> None:
    as_siti.put("/profile", {"email": "siti@example.com"})
    assert as_siti.put("/profile", data={"email": ""}).json["email"] is None


def test_a_new_password_ends_every_session_but_the_one_that_changed_it(
    client: Client, as_siti: Client, siti: User
) -> None:
    laptop = client.as_(siti)
    assert as_siti.put("/profile", {"password": "baru-sekali"}).status_code == 200
    assert_error(laptop.get("/profile"), 401, "session_ended")
    assert as_siti.get("/profile").status_code == 200
    assert credentials.authenticate("siti", "baru-sekali") is not None
    assert credentials.authenticate("siti", PASSWORD) is None


def test_what_the_profile_shows_may_be_sent_back(client: Client) -> None:
    """A form sends all that it was filled with: a NIK of an older form, and the lack of a number and a pseudonym."""
    user = make_user(username="budi", nama_samaran=None, nomor_hp=None)
    user.nik = "12-34/x"
    budi = client.as_(user)
    shown = budi.get("/profile").json
    response = budi.put("/profile", {**shown, "nama_ktp": "Budi S."})
    assert response.status_code == 200, response.json
    assert response.json == {**shown, "nama_ktp": "Budi S.", "updated_at": response.json["updated_at"]}
    form = {"nik": "12-34/x", "nama_samaran": "", "nomor_hp": "", "nama_ktp": "Budi Santoso"}
    assert budi.put("/profile", data=form, content_type="multipart/form-data").json["nik"] == "12-34/x"
    assert_error(budi.put("/profile", {"nik": "12-34/y"}), 400, "validation_error", "nik")
    assert budi.put("/profile", {"nik": None}).json["nik"] is None
    assert_error(budi.put("/profile", {"nik": "12-34/x"}), 400, "validation_error", "nik")


def test_the_address_of_the_picture_that_is_there_is_no_change(as_siti: Client) -> None:
    with_picture = as_siti.put("/profile", data={"image": (BytesIO(plain()), "a.jpg")}).json
    for body in ({"image": with_picture["image"]}, {**with_picture, "nama_ktp": "Siti A."}):
        assert as_siti.put("/profile", body).json["image"] == with_picture["image"]
    for wrong in ("/media/lain.webp", "x", 1):
        assert_error(as_siti.put("/profile", {"image": wrong}), 400, "validation_error", "image")
    assert as_siti.get("/profile").json["image"] == with_picture["image"]
    assert as_siti.put("/profile", {"image": None}).json["image"] is None


def test_a_nik_that_cannot_be_read_outlives_the_form_that_shows_none(as_siti: Client, siti: User) -> None:
    siti.nik = "v1:gone:AAAA"
    assert as_siti.put("/profile", {"nik": None, "nama_ktp": "Siti A."}).status_code == 200
    assert siti.nik == "v1:gone:AAAA"


def test_a_password_left_blank_in_a_form_stays(client: Client, as_siti: Client, siti: User) -> None:
    laptop = client.as_(siti)
    form = {"nama_ktp": "Siti A.", "password": "", "current_password": ""}
    assert as_siti.put("/profile", data=form, content_type="multipart/form-data").json["nama_ktp"] == "Siti A."
    assert credentials.authenticate("siti", PASSWORD) is not None
    assert laptop.get("/profile").status_code == 200


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"nomor_hp": None}, "nomor_hp"),
        ({"password": ""}, "password"),
        ({"password": " "}, "password"),
        ({"nama_ktp": ""}, "nama_ktp"),
        ({"nama_samaran": None}, "nama_samaran"),
        ({"nomor_hp": "bukan"}, "nomor_hp"),
        ({"email": "bukan"}, "email"),
        ({"password": "pendek"[:5]}, "password"),
        ({"nik": "12"}, "nik"),
        ({"role_ids": ["x"]}, "role_ids"),
        ({"role_ids": [0]}, "role_ids"),
        ({"preferences": 1}, "preferences"),
        ({"domicile": "Mars"}, "domicile"),
    ],
)
def test_a_wrong_value_is_named_and_changes_nothing(as_siti: Client, body: dict[str, Any], field: str) -> None:
    before = as_siti.get("/profile").json
    assert_error(as_siti.put("/profile", body), 400, "validation_error", field)
    assert as_siti.get("/profile").json == before


def test_preferences_are_measured_as_they_are_sent(as_siti: Client) -> None:
    assert as_siti.put("/profile", {"preferences": [1] * 4095}).status_code == 200  # 8,191 bytes
    assert_error(as_siti.put("/profile", {"preferences": [1] * 4096}), 400, "validation_error", "preferences")


@pytest.mark.parametrize("text", ["[" * 4000 + "]" * 4000, '{"a":' * 1000 + "1" + "}" * 1000])
def test_preferences_whose_text_nests_too_deep_say_nothing(as_siti: Client, siti: User, text: str) -> None:
    response = as_siti.put("/profile", {"preferences": text})
    assert response.status_code == 200
    assert (response.json["preferences"], siti.preference_tags) == (text, [])
    assert as_siti.put("/profile/notifikasi", {"broadcasts": False}).json["broadcasts"] is False


@pytest.mark.parametrize("field", ["nama_ktp", "nama_samaran"])
@pytest.mark.parametrize("name", ["\u200b\u200b", "\u3164", "Budi\n\nPENTING", "\u202eimaleM", "\u0301"])
def test_a_name_can_be_read(client: Client, as_siti: Client, field: str, name: str) -> None:
    """A patient is told who has become their caregiver by this name alone."""
    assert_error(as_siti.put("/profile", {field: name}), 400, "validation_error", field)


@pytest.mark.parametrize("name", ["Siti 'Aisyah", "مريم", "🌸", "👩\u200d⚕️ Ani", "M. Si\u200bti"])
def test_a_name_may_have_any_letters(as_siti: Client, name: str) -> None:
    assert as_siti.put("/profile", {"nama_samaran": name}).json["nama_samaran"] == name


def test_what_is_no_picture_is_refused(as_siti: Client) -> None:
    response = as_siti.put("/profile", data={"image": (io.BytesIO(b"%!PS-Adobe"), "foto.jpg")})
    assert_error(response, 415, "not_an_image")


def test_a_picture_over_5_mb_is_refused(as_siti: Client) -> None:
    response = as_siti.put("/profile", data={"image": (io.BytesIO(b"x" * (5 * 1024 * 1024 + 1)), "foto.jpg")})
    assert_error(response, 413, "image_too_large")


@pytest.mark.parametrize(("field", "code"), [("email", "email_taken"), ("nomor_hp", "phone_taken")])
def test_what_belongs_to_somebody_else_is_refused(as_siti: Client, field: str, code: str) -> None:
    make_user(email="ani@example.com", nomor_hp="081999999999")
    value = {"email": "ANI@example.com", "nomor_hp": "+62 819-9999-9999"}[field]
    assert_error(as_siti.put("/profile", {field: value}), 409, code)
    assert as_siti.get("/profile").status_code == 200


@pytest.mark.parametrize("name", [RoleName.ADMIN, RoleName.SUPERADMIN])
def test_nobody_gives_themselves_a_privilege(as_siti: Client, name: str) -> None:
    assert_error(as_siti.put("/profile", {"role_ids": [role_id(name)]}), 403, "role_not_allowed")
    assert as_siti.get("/profile").json["role"] == "pasien"


def test_an_admin_stays_one_whatever_roles_the_profile_names(client: Client) -> None:
    admin = client.as_(make_admin())
    assert admin.put("/profile", {"role_ids": [role_id("pasien")]}).json["role"] == "admin"


def test_one_role_must_remain(as_siti: Client) -> None:
    assert_error(as_siti.put("/profile", {"role_ids": []}), 400, "role_needed")


def test_who_has_no_role_may_send_that_back_and_choose_one(client: Client) -> None:
    user = make_user(username="budi")
    user.roles = []
    budi = client.as_(user)
    assert budi.put("/profile", {"role_ids": [], "nama_ktp": "Budi S."}).json["nama_ktp"] == "Budi S."
    assert budi.put("/profile", {"role_ids": [role_id("pasien")]}).json["role"] == "pasien"


def test_privilege_words_change_nothing(as_siti: Client, siti: User) -> None:
    words = {"role": "admin", "roles": [1], "is_verified": True, "id": 1, "user_id": 1, "username": "bos",
             "password_hash": "x", "created_at": "2000-01-01T00:00:00Z"}  # fmt: skip
    before = as_siti.get("/profile").json
    assert as_siti.put("/profile", words).status_code == 200
    assert as_siti.get("/profile").json == {**before, "updated_at": as_siti.get("/profile").json["updated_at"]}


def test_a_changed_number_is_trusted_again(as_siti: Client, siti: User) -> None:
    siti.phone_invalid_at = siti.created_at
    as_siti.put("/profile", {"nomor_hp": siti.nomor_hp})
    assert siti.phone_invalid_at is not None
    as_siti.put("/profile", {"nomor_hp": "081311112222"})
    assert siti.phone_invalid_at is None


def test_the_profile_needs_a_token(client: Client) -> None:
    assert_error(client.get("/profile"), 401, "unauthorized")
    assert_error(client.put("/profile", {"nama_ktp": "x"}), 401, "unauthorized")


def test_people_see_their_own_roles_and_admins_everybodys(client: Client, as_siti: Client, siti: User) -> None:
    response = as_siti.get(f"/users/{siti.id}")
    assert response.json == {
        "id": siti.id, "username": "siti", "roles": [{"id": role_id("pasien"), "name": "pasien", "is_editable": False}],
    }  # fmt: skip
    stranger = client.as_(make_user())
    assert_error(stranger.get(f"/users/{siti.id}"), 403, "forbidden")
    assert client.as_(make_admin()).get(f"/users/{siti.id}").json["username"] == "siti"
    assert_error(client.as_(make_admin()).get("/users/999999"), 404)
    assert_error(client.get(f"/users/{siti.id}"), 401)


def test_the_38_provinces_are_public(client: Client) -> None:
    response = client.get("/provinces")
    assert len(response.json) == 38
    assert response.json[0] == "Aceh"
    assert response.json[-1] == "Papua Barat Daya"
