"""Tests of registration."""

import pytest

from app.identity import credentials
from dev.simulators import simulators
from tests.accounts.registration import SITI, registered
from tests.helpers.client import assert_error


def test_every_field_of_the_form_is_stored(client):
    extra = {
        "email": "siti@example.com", "role": "pendamping", "nik": "3273014502900001", "domicile": "jawa barat",
        "preferences": {"medical": True, "mental_health": False, "religion": ["islam"], "other_belief": None},
    }  # fmt: skip
    response = client.post("/register", {**SITI, **extra})
    profile = client.with_token(response.json["access_token"]).get("/profile").json
    assert {name: profile[name] for name in extra} == {**extra, "domicile": "Jawa Barat"}
    assert registered().preference_tags == ["islam", "medical"]
    assert "3273014502900001" not in str(registered().nik)


def test_blank_optional_fields_are_absent(client):
    blank = {"email": "", "nik": "", "domicile": "", "preferences": None}
    body = client.post("/register", {**SITI, **blank}).ok(201)
    profile = client.with_token(body["access_token"]).get("/profile").json
    assert [profile[name] for name in blank] == [None] * 4


def test_an_invalid_value_is_refused_with_the_name_of_its_field(client):
    for field, value in (
        *(("username", name) for name in ("ab", "a" * 51, "12345678", "siti@x.id", "siti aminah", "Moderasi", "..")),
        ("username", "0812_3456"),
        ("nama_ktp", "   "),
        ("nomor_hp", "bukan nomor"),
        ("nomor_hp", "0812"),
        ("nik", "327301450290000A"),
        ("domicile", "Atlantis"),
        ("preferences", {"x": "y" * 9000}),
        ("role_ids", [10**15]),
    ):
        assert_error(client.post("/register", {**SITI, field: value}), 400, "validation_error", field)
    assert credentials.by_login("siti") is None


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

    @pytest.mark.parametrize("fault", ["drop", "garbage", "status"])
    def test_a_captcha_service_failure_is_503_and_registers_no_user(self, client, sim, fault):
        sim.fault("captcha", fault, times=5)
        response = client.post("/register", {**SITI, "captcha-response": sim.captcha.solve()})
        assert_error(response, 503, "captcha_unavailable")
        assert response.headers["Retry-After"]
        assert credentials.by_login("siti") is None
