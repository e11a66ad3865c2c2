"""Phone numbers must be of a country that the operator allows, because messages cost money."""

import pytest
import sqlalchemy as sa

from app.core.database.session import db
from app.identity.models import User
from tests.accounts.phone_verification.proofs import PATH
from tests.accounts.registration import SITI
from tests.helpers.client import assert_error
from tests.helpers.factories import make_user

ABROAD = "+65 9123 4567"


def test_registration_and_profile_refuse_numbers_of_other_countries(client):
    refused = client.post("/register", {**SITI, "nomor_hp": ABROAD})
    assert_error(refused, 400, "validation_error", "nomor_hp")
    assert "+62" in refused.json["message"]
    person = client.as_(make_user())
    assert_error(person.put("/profile", {"nomor_hp": ABROAD}), 400, "validation_error", "nomor_hp")
    for number in ("abc", ABROAD):
        assert_error(person.post(PATH, {"nomor_hp": number}), 400, "validation_error", "nomor_hp")
    assert db.session.scalar(sa.select(sa.func.count(User.id))) == 1


@pytest.mark.parametrize("countries", [("*",), ("62", "65")])
def test_the_operator_can_allow_numbers_of_other_countries(client, change_settings, countries):
    change_settings(messaging_countries=countries)
    assert client.post("/register", {**SITI, "nomor_hp": ABROAD}).status_code == 201


def test_an_existing_foreign_number_is_kept_when_the_profile_is_saved(client):
    user = make_user()
    db.session.execute(sa.update(User).values(nomor_hp=ABROAD, phone="+6591234567"))
    changed = client.as_(user).put("/profile", {"nomor_hp": "+6591234567", "nama_ktp": "Siti"})
    assert (changed.status_code, changed.json["nomor_hp"]) == (200, "+6591234567")
