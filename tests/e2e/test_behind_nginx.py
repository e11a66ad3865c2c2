"""Tests of the deployed service: real nginx with `deploy/nginx.conf`, two gunicorns and two workers."""

import ssl

import pytest
import requests
import sqlalchemy as sa

from app.core.database.session import db
from app.logs.models import ActivityLog
from dev.stack.site import DeployedStack
from dev.stack.waiting import PATIENCE_S, wait_until
from dev.system_packages import require
from tests.e2e.walk import walk

pytestmark = [pytest.mark.takes(seconds=10), pytest.mark.processes]


@pytest.fixture(scope="module")
def site(variables, running, tmp_path_factory):
    require("nginx")
    env = {**variables, **running.messaging.env(), "FRONTEND_URL": "https://app.example.org", "RATE_LIMITS": "off"}
    with DeployedStack(env, tmp_path_factory.mktemp("site")) as site:
        yield site


def test_a_client_uses_the_main_routes_behind_nginx(site, sim, committed):
    walk(site, sim)


def test_forged_client_address_headers_are_ignored(site, committed):
    lies = {"X-Forwarded-For": "203.0.113.7", "X-Real-IP": "203.0.113.7", "Forwarded": "for=203.0.113.7"}
    assert site.call("POST", "/log/user-log", json={"event_type": "lie"}, headers=lies).status_code == 202
    wait_until(lambda: addresses_in_log() == ["127.0.0.1"])


def addresses_in_log():
    db.session.rollback()
    return [str(address) for address in db.session.scalars(sa.select(ActivityLog.remote_ip))]


def test_plain_http_is_redirected_to_https_and_unknown_hosts_are_refused(site):
    login = f"http://localhost:{site.port}/api/login?a=1"
    plain = requests.post(login, timeout=PATIENCE_S, allow_redirects=False, json={"username": "siti"})
    assert (plain.status_code, plain.headers["Location"]) == (308, "https://localhost/api/login?a=1")
    with pytest.raises(ssl.SSLError):
        site.connect("evil.example").close()


def test_nginx_errors_have_the_json_format_of_the_api(site):
    page = {"Origin": "https://app.example.org"}
    large = site.call("POST", "/log/user-log", data=b"a" * 70_000, headers=page)
    assert (large.status_code, large.json()["error"]) == (413, "payload_too_large")
    assert large.headers["Access-Control-Allow-Origin"] == "https://app.example.org"
    assert large.json()["request_id"] == large.headers["X-Request-ID"]
    missing = site.call("GET", f"/../media/{'0' * 32}.webp")
    assert (missing.status_code, missing.json()["error"]) == (404, "not_found")
    climbing = site.call("GET", "/../media/..%2f..%2fredis.acl")
    assert (climbing.status_code, climbing.json()["error"]) == (400, "bad_request")
    long = site.call("GET", "/kategori?q=" + "a" * 20_000)
    assert (long.status_code, long.json()["error"]) == (414, "uri_too_long")


def is_held(connection):
    """Return whether the connection is still open and has no response."""
    connection.setblocking(False)
    try:
        connection.recv(1)
    except ssl.SSLWantReadError:
        return True
    return False


def test_half_sent_requests_do_not_keep_the_others_waiting(site):
    held = [site.connect() for _ in range(60)]
    try:
        for connection in held:
            # Do not use logins here. nginx allows only 60 logins at once from an IP address, and also counts the
            # logins of earlier tests.
            connection.sendall(b"POST /api/log/user-log HTTP/1.1\r\nHost: localhost\r\nContent-Length: 50\r\n\r\n{")
        assert site.call("GET", "/kategori?page=60").status_code == 200  # This response is not in nginx's cache.
        # The 60 connections are still open after the service has answered the request above.
        assert all(is_held(connection) for connection in held)
    finally:
        for connection in held:
            connection.close()


def test_many_username_checks_from_one_address_are_rate_limited(site):
    answers = [site.call("POST", "/auth/check-username", json={"username": "siti"}) for _ in range(80)]
    refused = [answer for answer in answers if answer.status_code == 429]
    assert refused
    assert refused[0].json()["error"] == "too_many_requests"
    assert refused[0].headers["Retry-After"] == "5"
    assert site.call("GET", "/kategori").status_code == 200


def test_no_log_contains_a_telephone_number(site):
    site.call("GET", "/send-verification-code", params={"phone": "089912345678"})
    wait_until(lambda: "/api/send-verification-code" in site.access_log.read_text())
    for log in (site.access_log, site.folder / "error.log", site.log):
        assert "89912345678" not in log.read_text(), log


def test_nginx_returns_503_without_web_processes(site):
    for web in site.webs:
        web.terminate()
        web.wait(PATIENCE_S)
        site.processes.remove(web)
    gone = site.call("GET", "/kategori", headers={"Origin": "https://app.example.org"})
    assert (gone.status_code, gone.json()["error"]) == (503, "service_unavailable")
    assert gone.headers["Retry-After"] == "5"
    assert gone.headers["Access-Control-Allow-Origin"] == "https://app.example.org"
