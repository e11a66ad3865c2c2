"""Tests of the second factor of administrators."""

from datetime import UTC, datetime, timedelta
from urllib.parse import parse_qs, urlsplit

import pyotp
import pytest
import sqlalchemy as sa

from app.cli import remove_otp
from app.core.database.session import db, unit_of_work
from app.identity import field_encryption, second_factor, sessions
from app.identity.second_factor import SecondFactor
from tests.helpers.client import assert_error
from tests.helpers.factories import PASSWORD, make_admin, make_superadmin, make_user
from tests.helpers.overlap import done_twice_at_once

NOON = datetime(2026, 11, 22, 5, tzinfo=UTC)


class Phone:
    """An authenticator app with a fake clock."""

    def __init__(self, monkeypatch):
        self.moment = NOON
        self.secret = ""
        monkeypatch.setattr(second_factor, "now", lambda: self.moment)

    def scan(self, uri):
        (self.secret,) = parse_qs(urlsplit(uri).query)["secret"]

    def code(self, steps=0):
        """Return the code that is valid this many 30-second steps from now."""
        return pyotp.TOTP(self.secret).at(self.moment + timedelta(seconds=30 * steps))

    def pass_time(self, seconds=30):
        self.moment += timedelta(seconds=seconds)


@pytest.fixture
def phone(monkeypatch):
    return Phone(monkeypatch)


@pytest.fixture
def holder():
    return make_admin(username="admin")


@pytest.fixture
def own(client, holder):
    return client.as_(holder)


def begin(own, phone):
    body = own.post("/profile/otp", {"password": PASSWORD}).ok(201)
    phone.scan(body["uri"])
    return body["recovery_codes"]


@pytest.fixture
def codes(own, phone):
    """Activate the second factor, move the clock by one 30-second step, and return the recovery codes."""
    recovery = begin(own, phone)
    assert own.put("/profile/otp", {"otp": phone.code()}).status_code == 200
    phone.pass_time()
    return recovery


def log_in(client, path="/login", **more):
    return client.post(path, {"username": "admin", "password": PASSWORD, **more})


def test_otp_setup_returns_a_uri_and_ten_codes_and_stores_no_plain_text(own, holder):
    response = own.post("/profile/otp", {"password": PASSWORD})
    assert response.json["uri"].startswith("otpauth://totp/Health-support:admin?secret=")
    codes = response.json["recovery_codes"]
    assert len(set(codes)) == 10
    stored = db.session.get_one(SecondFactor, holder.id)
    secret = parse_qs(urlsplit(response.json["uri"]).query)["secret"][0]
    assert secret not in stored.secret
    assert field_encryption.decrypt(stored.secret, holder.id, field=second_factor.FIELD) == secret
    assert not set(codes) & set(stored.recovery_hashes)


def test_a_login_needs_no_code_before_the_second_factor_is_confirmed(client, own, phone):
    begin(own, phone)
    assert log_in(client).status_code == 200
    assert_error(own.put("/profile/otp", {"otp": "000000"}), 400, "invalid_otp")
    assert log_in(client).status_code == 200


def test_an_unconfirmed_second_factor_can_be_replaced_and_an_active_one_not(own, phone):
    begin(own, phone)
    old = phone.code()
    begin(own, phone)
    assert_error(own.put("/profile/otp", {"otp": old}), 400, "invalid_otp")
    assert own.put("/profile/otp", {"otp": phone.code()}).status_code == 200
    assert_error(own.post("/profile/otp", {"password": PASSWORD}), 409, "otp_active")
    assert_error(own.put("/profile/otp", {"otp": phone.code()}), 404)


def test_a_login_asks_for_a_code(client, codes, phone):
    assert_error(log_in(client), 401, "otp_required")
    assert_error(log_in(client, otp=""), 401, "otp_required")
    assert_error(log_in(client, otp="000000"), 401, "invalid_otp")
    assert log_in(client, otp=phone.code()).status_code == 200


def test_a_wrong_password_does_not_reveal_the_second_factor(client, codes, phone):
    body = {"username": "admin", "password": "salah-sekali"}
    assert_error(client.post("/login", body), 401, "wrong_credentials")
    assert_error(client.post("/login", {**body, "otp": phone.code()}), 401, "wrong_credentials")
    assert log_in(client, otp=phone.code()).status_code == 200, "a failed login must not use up the code"


def test_a_code_works_once_in_its_order_and_with_a_clock_that_differs_by_30_seconds(client, codes, phone):
    assert_error(log_in(client, otp=phone.code(-1)), 401, "invalid_otp")  # it confirmed the factor
    phone.pass_time(300)
    for steps, status in ((-2, 401), (-1, 200), (-1, 401), (0, 200), (0, 401), (-1, 401), (2, 401), (1, 200), (0, 401)):
        assert log_in(client, otp=phone.code(steps)).status_code == status, steps


def test_a_recovery_code_works_once_and_in_another_spelling(client, codes):
    typed = f" {codes[3].upper().replace('-', ' ')} "
    assert log_in(client, otp=typed).status_code == 200
    assert_error(log_in(client, otp=codes[3]), 401, "invalid_otp")
    assert log_in(client, otp=codes[4]).status_code == 200


def test_activating_the_second_factor_ends_other_sessions(client, own, phone):
    thief = client.with_token(log_in(client).json["access_token"])
    begin(own, phone)
    assert thief.get("/profile").status_code == 200
    assert own.put("/profile/otp", {"otp": phone.code()}).status_code == 200
    assert_error(thief.get("/profile"), 401)
    assert own.get("/profile").status_code == 200


def test_superadmin_login_does_not_reveal_if_the_code_of_an_admin_is_valid(client, codes, phone):
    for otp in (phone.code(), "000000", codes[0]):
        assert_error(log_in(client, "/superadmin/login", otp=otp), 403, "superadmin_only")


def test_the_superadmin_login_requires_a_code_too(client, phone):
    boss = make_superadmin(username="admin")
    begin(client.as_(boss), phone)
    client.as_(boss).put("/profile/otp", {"otp": phone.code()})
    phone.pass_time()
    assert_error(log_in(client, "/superadmin/login"), 401, "otp_required")
    assert log_in(client, "/superadmin/login", otp=phone.code()).status_code == 200


def test_two_concurrent_logins_cannot_use_the_same_code(committed, phone):
    with committed.app_context():
        with unit_of_work():
            admin = make_admin()
            phone.scan(str(second_factor.begin(admin)["uri"]))
            second_factor.confirm(admin.id, phone.code())
        phone.pass_time()
        admitted = []

        def log_in():
            factor = second_factor._of(admin.id)
            assert factor is not None
            admitted.append(second_factor._take_code(factor, phone.code()))

        done_twice_at_once(committed, log_in).result()
    assert sorted(admitted) == [False, True]


def test_deactivating_the_second_factor_requires_password_and_code(client, own, codes, phone):
    def end(**body):
        return own.delete("/profile/otp", json={"password": PASSWORD, **body})

    assert_error(end(otp=phone.code(), password="salah-sekali"), 400, "wrong_current_password")
    assert_error(end(otp="000000"), 400, "invalid_otp")
    assert_error(end(), 400, "validation_error", "otp")
    assert log_in(client, otp=phone.code()).status_code == 200
    assert end(otp=codes[0]).status_code == 200
    assert log_in(client).status_code == 200
    assert_error(end(otp=codes[1]), 404)


def test_otp_setup_with_a_wrong_password_stores_no_second_factor(own):
    assert_error(own.post("/profile/otp", {"password": "salah-sekali"}), 400, "wrong_current_password")
    assert not db.session.scalars(sa.select(SecondFactor)).all()


def test_wrong_codes_are_rate_limited(limited, client, own, codes, phone):
    own_code = {"password": PASSWORD, "otp": "000000"}
    for _ in range(10):
        assert_error(log_in(client, otp="000000"), 401, "invalid_otp")
        assert_error(own.delete("/profile/otp", own_code), 400, "invalid_otp")
    assert_error(log_in(client, otp=phone.code()), 429)
    assert_error(own.delete("/profile/otp", {**own_code, "otp": codes[0]}), 429)


def test_wrong_codes_for_the_confirmation_are_rate_limited(limited, own, phone):
    begin(own, phone)
    for _ in range(10):
        assert_error(own.put("/profile/otp", {"otp": "000000"}), 400, "invalid_otp")
    assert_error(own.put("/profile/otp", {"otp": phone.code()}), 429)


@pytest.mark.parametrize("path", ["/login", "/superadmin/login"])
def test_a_right_password_without_a_code_is_no_wrong_login(limited, client, phone, path):
    own = client.as_(make_superadmin(username="admin"))
    begin(own, phone)
    assert own.put("/profile/otp", {"otp": phone.code()}).status_code == 200
    phone.pass_time()
    for _ in range(12):
        assert_error(log_in(client, path), 401, "otp_required")
    assert log_in(client, path, otp=phone.code()).status_code == 200


def test_an_admin_without_a_required_second_factor_can_only_set_it_up(client, own, phone, change_settings):
    make_user(username="siti")
    assert own.get("/admins/users").status_code == 200
    change_settings(admin_otp="required")
    assert_error(own.get("/admins/users"), 403, "otp_setup_required")
    assert own.get("/profile").status_code == 200
    begin(own, phone)
    assert_error(own.get("/admins/users"), 403, "otp_setup_required")
    own.put("/profile/otp", {"otp": phone.code()})
    assert own.get("/admins/users").status_code == 200
    assert own.get("/admins/overview").status_code == 200
    siti = client.post("/login", {"username": "siti", "password": PASSWORD})
    assert siti.status_code == 200, "other roles need no second factor"


def test_a_superadmin_without_a_required_second_factor_gets_no_console(client, change_settings):
    boss = make_superadmin(username="admin")
    change_settings(admin_otp="required")
    assert_error(log_in(client, "/superadmin/login"), 403, "otp_setup_required")
    held = client.with_token(sessions.begin_superadmin(boss))
    assert_error(held.get("/superadmin/tables"), 403, "otp_setup_required")
    assert log_in(client).status_code == 200, "the normal login still works, to set a factor up"


def test_an_operator_can_remove_a_second_factor(app, client, codes):
    runner = app.test_cli_runner()
    db.session.commit()
    assert "by password alone" in runner.invoke(remove_otp, ["admin"]).output
    assert log_in(client).status_code == 200
    assert "has no second factor" in runner.invoke(remove_otp, ["admin"]).output
    assert "nobody is called" in runner.invoke(remove_otp, ["tidakada"]).output


def test_a_recovery_code_works_where_the_secret_cannot_be_read(client, codes, phone, change_settings):
    change_settings(nik_keys=(("baru", b"n" * 32),))
    assert_error(log_in(client, otp=phone.code()), 401, "invalid_otp")
    assert log_in(client, otp=codes[0]).status_code == 200
