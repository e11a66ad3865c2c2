"""Tests of the caller's own profile."""

import json
from io import BytesIO

from PIL import Image

from app.identity import credentials
from tests.core.media.samples import plain
from tests.helpers.client import assert_error
from tests.helpers.factories import PASSWORD, make_admin, make_user
from tests.helpers.role_ids import role_id


def test_an_unreadable_nik_is_null_in_the_profile_and_stays_when_null_is_saved(siti):
    siti.user.nik = "v1:gone:AAAA"
    assert siti.get("/profile").json["nik"] is None
    assert siti.put("/profile", {"nik": None, "nama_ktp": "Siti A."}).status_code == 200
    assert siti.user.nik == "v1:gone:AAAA"


def test_a_form_with_a_picture_changes_only_the_given_fields(siti):
    form = {
        "nama_ktp": "Siti A.",
        "preferences": json.dumps({"medical": "true", "religion": ["hindu"]}),
        "role_ids": f"[{role_id('pasien')}, {role_id('pendamping')}]",
        "image": (BytesIO(plain(size=(900, 600))), "foto.jpg"),
    }
    body = siti.put("/profile", data=form, content_type="multipart/form-data").ok()
    assert body["nama_ktp"] == "Siti A."
    assert body["nama_samaran"] == siti.user.nama_samaran
    assert body["preferences"] == {"medical": "true", "religion": ["hindu"]}
    assert siti.user.preference_tags == ["hindu", "medical"]
    assert {role["name"] for role in body["roles"]} == {"pasien", "pendamping"}
    served = siti.get(body["image"])
    assert served.mimetype == "image/webp"
    assert max(Image.open(BytesIO(served.data)).size) == 512


def test_role_ids_can_be_repeated_form_fields(siti):
    form = {"role_ids": [str(role_id("pasien")), str(role_id("pendamping"))]}
    assert siti.put("/profile", data=form, content_type="multipart/form-data").json["role"] == "pendamping"


def test_a_new_password_ends_all_sessions_except_the_current_one(client, siti):
    laptop = client.as_(siti.user)
    assert siti.put("/profile", {"password": "baru-sekali"}).status_code == 200
    assert_error(laptop.get("/profile"), 401, "session_ended")
    assert siti.get("/profile").status_code == 200
    assert credentials.authenticate("siti", "baru-sekali") is not None
    assert credentials.authenticate("siti", PASSWORD) is None


def test_a_profile_with_old_or_empty_values_can_be_saved_again(client):
    """A form sends the whole profile back.

    The profile may contain a NIK of an old format, and an empty phone number and pseudonym.
    """
    user = make_user(username="budi", nama_samaran=None, nomor_hp=None)
    user.nik = "12-34/x"
    budi = client.as_(user)
    shown = budi.get("/profile").json
    body = budi.put("/profile", {**shown, "nama_ktp": "Budi S."}).ok()
    assert body == {**shown, "nama_ktp": "Budi S.", "updated_at": body["updated_at"]}
    form = {"nik": "12-34/x", "nama_samaran": "", "nomor_hp": "", "nama_ktp": "Budi Santoso"}
    assert budi.put("/profile", data=form, content_type="multipart/form-data").json["nik"] == "12-34/x"
    assert_error(budi.put("/profile", {"nik": "12-34/y"}), 400, "validation_error", "nik")
    assert budi.put("/profile", {"nik": None}).json["nik"] is None
    assert_error(budi.put("/profile", {"nik": "12-34/x"}), 400, "validation_error", "nik")


def test_a_picture_is_replaced_by_an_upload_removed_by_null_and_kept_by_its_own_address(siti):
    first, second = (siti.put("/profile", data={"image": (BytesIO(plain()), "a.jpg")}).json["image"] for _ in range(2))
    assert (siti.get(first).status_code, siti.get(second).status_code) == (404, 200)
    for body in ({"image": second}, {**siti.get("/profile").json, "nama_ktp": "Siti A."}):
        assert siti.put("/profile", body).json["image"] == second
    for wrong in ("/media/lain.webp", "x", 1):
        assert_error(siti.put("/profile", {"image": wrong}), 400, "validation_error", "image")
    assert siti.get("/profile").json["image"] == second
    assert siti.put("/profile", {"image": None}).json["image"] is None
    assert siti.get(second).status_code == 404


def test_blanks_in_a_form_keep_the_password_and_remove_the_email(client, siti):
    siti.put("/profile", {"email": "siti@example.com"})
    laptop = client.as_(siti.user)
    form = {"nama_ktp": "Siti A.", "password": "", "current_password": "", "email": ""}
    saved = siti.put("/profile", data=form, content_type="multipart/form-data").json
    assert (saved["nama_ktp"], saved["email"]) == ("Siti A.", None)
    assert credentials.authenticate("siti", PASSWORD) is not None
    assert laptop.get("/profile").status_code == 200


def test_the_size_limit_of_preferences_applies_to_the_sent_json(siti):
    # The body has 8,191 bytes. The maximum is 8,192 bytes.
    assert siti.put("/profile", {"preferences": [1] * 4095}).status_code == 200
    assert_error(siti.put("/profile", {"preferences": [1] * 4096}), 400, "validation_error", "preferences")


def test_too_deeply_nested_preferences_are_stored_without_tags(siti):
    for text in ("[" * 4000 + "]" * 4000, '{"a":' * 1000 + "1" + "}" * 1000):
        body = siti.put("/profile", {"preferences": text}).ok()
        assert (body["preferences"], siti.user.preference_tags) == (text, [])
        assert siti.put("/profile/notifikasi", {"broadcasts": False}).json["broadcasts"] is False


def test_a_name_is_readable_in_any_script(siti):
    """Patients see only the name of a new caregiver."""
    for name in ("\u200b\u200b", "\u3164", "Budi\n\nPENTING", "\u202eimaleM", "\u0301"):
        for field in ("nama_ktp", "nama_samaran"):
            assert_error(siti.put("/profile", {field: name}), 400, "validation_error", field)
    for name in ("Siti 'Aisyah", "مريم", "🌸", "👩\u200d⚕️ Ani", "M. Si\u200bti"):
        assert siti.put("/profile", {"nama_samaran": name}).json["nama_samaran"] == name


def test_an_admin_cannot_lose_the_admin_role_by_a_profile_change(client):
    admin = client.as_(make_admin())
    assert admin.put("/profile", {"role_ids": [role_id("pasien")]}).json["role"] == "admin"


def test_removing_all_roles_is_refused(siti):
    assert_error(siti.put("/profile", {"role_ids": []}), 400, "role_needed")


def test_a_user_without_a_role_can_save_the_profile_and_choose_a_role(client):
    user = make_user(username="budi")
    user.roles = []
    budi = client.as_(user)
    assert budi.put("/profile", {"role_ids": [], "nama_ktp": "Budi S."}).json["nama_ktp"] == "Budi S."
    assert budi.put("/profile", {"role_ids": [role_id("pasien")]}).json["role"] == "pasien"


def test_protected_profile_fields_are_ignored(siti):
    words = {"role": "admin", "roles": [1], "is_verified": True, "id": 1, "user_id": 1, "username": "bos",
             "password_hash": "x", "created_at": "2000-01-01T00:00:00Z"}  # fmt: skip
    before = siti.get("/profile").json
    assert siti.put("/profile", words).status_code == 200
    assert siti.get("/profile").json == {**before, "updated_at": siti.get("/profile").json["updated_at"]}


def test_a_changed_phone_number_is_no_longer_marked_as_invalid(siti):
    siti.user.phone_invalid_at = siti.user.created_at
    siti.put("/profile", {"nomor_hp": siti.user.nomor_hp})
    assert siti.user.phone_invalid_at is not None
    siti.put("/profile", {"nomor_hp": "081311112222"})
    assert siti.user.phone_invalid_at is None
