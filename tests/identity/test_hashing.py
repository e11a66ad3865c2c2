"""Password hashing. A hash uses a whole CPU core, so a process computes one hash at a time."""

from app.identity import passwords
from tests.helpers.client import assert_error
from tests.helpers.factories import PASSWORD, make_user


def test_a_login_that_waits_too_long_for_a_hash_is_503_with_retry_after(client, monkeypatch):
    make_user(username="siti")
    monkeypatch.setattr(passwords.HASHING, "wait_s", 0.01)
    with passwords.HASHING.slot():
        refused = client.post("/login", {"username": "siti", "password": PASSWORD})
    assert_error(refused, 503, "service_unavailable")
    assert int(refused.headers["Retry-After"]) > 0
    assert client.post("/login", {"username": "siti", "password": PASSWORD}).status_code == 200
