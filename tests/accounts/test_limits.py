"""Rate limits against password guessing, and responses that do not reveal accounts."""

import subprocess
import sys
import time
from math import inf

import pytest

from app.identity import passwords
from config import ROOT
from tests.helpers.client import assert_error
from tests.helpers.factories import PASSWORD, make_superadmin, make_user

#: The password hasher of production. A fixture replaces it by a cheap one in other tests.
HASHER = passwords.HASHER


def guess(client, username="siti", address="10.0.0.1", password="salah-sekali", path="/login"):
    body = {"username": username, "password": password}
    return client.post(path, body, environ_base={"REMOTE_ADDR": address})


PATHS = pytest.mark.parametrize("path", ["/login", "/superadmin/login"])


@PATHS
def test_ten_wrong_passwords_block_the_account_for_that_network_only(client, limited, path):
    make_superadmin(username="siti")
    for n in range(10):
        assert guess(client, address=f"10.0.0.{n}", path=path).status_code == 401
    refused = guess(client, "SITI ", address="10.0.0.77", path=path)
    assert_error(refused, 429, "too_many_requests")
    assert 0 < int(refused.headers["Retry-After"]) <= 301
    assert_error(guess(client, address="10.0.0.77", password=PASSWORD, path=path), 429)
    assert guess(client, "ani", address="10.0.0.77", path=path).status_code == 401
    assert guess(client, address="10.0.1.1", password=PASSWORD, path=path).status_code == 200


def test_login_limits_count_ipv4_by_24_bits_and_ipv6_by_64_bits(client, limited):
    for n, (guesser, neighbour, elsewhere) in enumerate(
        (
            ("::ffff:10.0.0.1", "10.0.0.254", "::ffff:10.0.1.1"),
            ("2001:db8:0:7::1", "2001:db8:0:7:ffff::2", "2001:db8:0:8::1"),
        )
    ):
        for _ in range(10):
            guess(client, f"siti{n}", address=guesser)
        assert_error(guess(client, f"siti{n}", address=neighbour), 429)
        assert guess(client, f"siti{n}", address=elsewhere).status_code == 401


@PATHS
def test_a_hundred_wrong_passwords_from_many_networks_block_the_account_for_an_hour(client, limited, path):
    make_superadmin(username="siti")
    for network in range(10):
        assert {guess(client, address=f"10.0.{network}.1", path=path).status_code for _ in range(10)} == {401}
    for password, address in (("x", "10.0.77.1"), (PASSWORD, "10.9.9.1")):
        assert_error(guess(client, address=address, password=password, path=path), 429)


def test_username_email_and_phone_share_one_login_limit(client, limited):
    make_user(username="siti", email="siti@example.com", nomor_hp="081234567890")
    logins = ["siti", "SITI", "siti@example.com", "Siti@Example.COM", "081234567890", "0812-3456-7890",
              "0 8 1 2 3 4 5 6 7 8 9 0", "+62 812 3456 7890", "6281234567890", "(0812) 34567890"]  # fmt: skip
    for n, login in enumerate(logins):
        assert guess(client, login, address=f"10.0.0.{n}").status_code == 401
    for n, login in enumerate(["siti", "siti@example.com", "081.234.567.890"]):
        assert_error(guess(client, login, address=f"10.0.0.{100 + n}"), 429)


def test_blanks_in_the_field_name_do_not_bypass_the_login_limit(client, limited):
    make_user(username="siti")
    for n in range(10):
        body = {f"username{' ' * n}": "siti", "password": "salah-sekali"}
        assert client.post("/login", body, environ_base={"REMOTE_ADDR": "10.0.0.9"}).status_code == 401
    assert_error(guess(client), 429)


@pytest.mark.parametrize(
    ("addresses", "neighbour", "stranger"),
    [
        ("2001:db8:0:7:{:x}::1", "2001:db8::7:ffff:ffff:ffff:ffff", "2001:db8:0:8::1"),
        ("::ffff:192.0.2.1", "192.0.2.1", "::ffff:192.0.2.2"),
    ],
)
def test_other_limits_count_an_ipv6_network_and_a_mapped_address_once(client, limited, addresses, neighbour, stranger):
    def check(address):
        body = {"username": "siti"}
        return client.post("/auth/check-username", body, environ_base={"REMOTE_ADDR": address}).status_code

    assert {check(addresses.format(n)) for n in range(60)} == {200}
    assert (check(neighbour), check(stranger)) == (429, 200)


def ask(client, phone, n, method="GET"):
    address = {"REMOTE_ADDR": f"10.0.0.{n}"}
    return client.open(method, "/send-verification-code", query_string={"phone": phone}, environ_base=address)


def test_a_phone_number_can_request_ten_reset_links_a_day(client, app, limited):
    def let_an_hour_pass():
        for key in app.extensions["redis"].keys("LIMITS:*/5/1/hour"):
            app.extensions["redis"].delete(key)

    for n in range(10):
        if n == 5:
            let_an_hour_pass()
        assert ask(client, "081234567890", n).status_code == 200
    let_an_hour_pass()
    refused = ask(client, "+62 812-3456-7890", 0)
    assert_error(refused, 429, "too_many_requests")
    assert int(refused.headers["Retry-After"]) > 80_000


@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_a_phone_number_in_any_spelling_can_request_five_reset_links_an_hour(client, limited, method):
    """A HEAD request sends a reset link too, so it must count like a GET request."""
    spellings = ["081234567890", "0812-3456-7890", "+62 812 3456 7890", "6281234567890", "0 8 1 2 34567890"]
    for n, spelling in enumerate(spellings):
        assert ask(client, spelling, n, method).status_code == 200
    assert_error(ask(client, "081234567890", 99), 429)


def test_invalid_phone_numbers_do_not_share_a_rate_limit(client, limited):
    for query in ({"phone": ""}, {"phone": "bukan nomor"}, *({"phone": f"08{n}"} for n in range(7))):
        assert_error(client.get("/send-verification-code", query_string=query), 400, "validation_error", "phone")


AWAY = """
from app import create_app
from config import Config
client = create_app(Config.from_env({**%r, "ENVIRONMENT": "testing", "REDIS_URL": "redis://127.0.0.1:1/0"})).test_client()
body = {"username": "nobody", "password": "x"}
print(*[client.post("/api/login", json=body).status_code for _ in range(12)])
"""


@pytest.mark.processes
def test_the_login_limit_works_while_redis_is_unavailable(real_app, variables):
    done = subprocess.run(
        [sys.executable, "-c", AWAY % variables], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["401"] * 10 + ["429"] * 2


@pytest.mark.slow
def test_login_needs_the_same_cpu_time_for_known_and_unknown_users(client, monkeypatch):
    monkeypatch.setattr(passwords, "HASHER", HASHER)
    make_user(username="siti", password="rahasia-siti")
    assert_alike(
        lambda: client.post("/login", {"username": "siti", "password": "salah-sekali"}),
        lambda: client.post("/login", {"username": "nobody", "password": "salah-sekali"}),
    )


def assert_alike(known, unknown):
    """Fail if the CPU times of both calls differ by more than 10 %.

    Compare the shortest of several runs, because effects of caches only add time. Do not measure wall-clock time,
    because it includes other processes.
    """
    best = {known: inf, unknown: inf}
    for _ in range(30):
        for _ in range(15):
            for call in (known, unknown):
                started = time.process_time()
                call()
                best[call] = min(best[call], time.process_time() - started)
        if abs(best[known] - best[unknown]) <= 0.1 * best[known]:
            return
    raise AssertionError(f"known {best[known] * 1000:.1f} ms, unknown {best[unknown] * 1000:.1f} ms")
