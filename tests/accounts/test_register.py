"""Tests of registration."""

import pytest

from app.core.database.session import db
from app.identity import credentials
from app.identity.models import Role, RoleName
from dev.simulators import simulators
from tests.accounts.registration import SITI, registered
from tests.helpers.client import assert_error


def test_every_field_of_the_form_is_stored(client):
    preferences = {"medical": True, "mental_health": False, "religion": ["islam"], "other_belief": None}
    extra = {"email": "siti@example.com", "role": "pendamping", "nik": "3273014502900001", "domicile": "jawa barat"}
    response = client.post("/register", {**SITI, **extra, "preferences": preferences})
    profile = client.with_token(response.json["access_token"]).get("/profile").json
    assert profile["email"] == "siti@example.com"
    assert profile["role"] == "pendamping"
    assert profile["nik"] == "3273014502900001"
    assert profile["domicile"] == "Jawa Barat"
    assert profile["preferences"] == preferences
    assert registered().preference_tags == ["islam", "medical"]
    assert "3273014502900001" not in str(registered().nik)


def test_blank_optional_fields_are_absent(client):
    blank = {"email": "", "nik": "", "domicile": "", "preferences": None}
    response = client.post("/register", {**SITI, **blank})
    assert response.status_code == 201
    profile = client.with_token(response.json["access_token"]).get("/profile").json
    assert [profile[name] for name in blank] == [None] * 4


@pytest.mark.parametrize(
    ("field", "value"),
    [
        *(
            ("username", name)
            for name in ("ab", "a" * 51, "12345678", "siti@x.id", "siti aminah", "users", "Audit", "..")
        ),
        ("username", "0812_3456"),
        ("password", "lima5"),
        ("password", "x" * 129),
        ("nama_ktp", "   "),
        ("nama_ktp", "x" * 101),
        ("nama_samaran", ""),
        ("nomor_hp", "bukan nomor"),
        ("nomor_hp", "0812"),
        ("email", "bukan-email"),
        ("nik", "123"),
        ("nik", "327301450290000A"),
        ("domicile", "Atlantis"),
        ("preferences", 5),
        ("preferences", {"x": "y" * 9000}),
    ],
)
def test_an_invalid_value_is_refused_with_the_name_of_its_field(client, field, value):
    assert_error(client.post("/register", {**SITI, field: value}), 400, "validation_error", field)


def test_registration_with_the_admin_role_id_is_refused(client):
    admin = db.session.scalars(db.select(Role.id).where(Role.name == RoleName.ADMIN)).one()
    assert_error(client.post("/register", {**SITI, "role_ids": [admin]}), 403, "role_not_allowed")
    assert credentials.by_login("siti") is None


def test_an_unknown_role_id_is_bad_input(client):
    assert_error(client.post("/register", {**SITI, "role_ids": [10**15]}), 400, "validation_error", "role_ids")


class TestHumanVerification:
    @pytest.fixture
    def sim(self, app, monkeypatch):
        from tests.conftest import config_for_tests

        with simulators() as sim:
            names = {name: value for name, value in sim.env.items() if name.startswith("CAPTCHA")}
            monkeypatch.setitem(app.extensions, "config", config_for_tests(**names))
            yield sim

    def test_registration_with_a_solved_captcha_succeeds(self, client, sim):
        assert client.post("/register", {**SITI, "captcha-response": sim.captcha.solve()}).status_code == 201

    @pytest.mark.parametrize("token", [None, "", "robot"])
    def test_registration_without_a_valid_captcha_is_refused(self, client, sim, token):
        assert_error(client.post("/register", {**SITI, "captcha-response": token}), 400, "captcha_failed")

    def test_a_used_or_expired_captcha_token_is_refused(self, client, sim):
        token = sim.captcha.solve()
        assert client.post("/register", {**SITI, "captcha-response": token}).status_code == 201
        again = {**SITI, "username": "ani", "nomor_hp": "081999999999"}
        assert_error(client.post("/register", {**again, "captcha-response": token}), 400, "captcha_failed")
        old = sim.captcha.solve(age_s=180)
        assert_error(client.post("/register", {**again, "captcha-response": old}), 400, "captcha_failed")

    @pytest.mark.parametrize("fault", ["down", "drop", "garbage", "not_http", "oversize", "status", "wrong_type"])
    def test_a_captcha_service_failure_is_503_and_registers_no_user(self, client, sim, fault):
        sim.fault("captcha", fault, times=5)
        response = client.post("/register", {**SITI, "captcha-response": sim.captcha.solve()})
        assert_error(response, 503, "captcha_unavailable")
        assert response.headers["Retry-After"]
        assert credentials.by_login("siti") is None
