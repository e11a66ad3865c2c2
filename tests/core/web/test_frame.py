"""Common parts of all responses: request ids, CORS, security headers, error bodies, and paths with a final slash."""

import logging
from unittest.mock import Mock

from sqlalchemy.exc import OperationalError

from tests.helpers.client import assert_error
from tests.helpers.factories import make_user

ORIGIN = {"Origin": "http://localhost:5173"}


def test_a_path_may_end_with_a_slash_and_keeps_its_body(client):
    make_user(username="siti")
    assert client.get("/kategori/").status_code == 200
    assert client.post("/login/", {"username": "siti", "password": "rahasia123"}).status_code == 200


def test_routing_errors_have_the_common_error_format_and_a_405_names_the_methods(client):
    for method, path, status, code in (
        ("GET", "/nowhere", 404, "route_not_found"),
        ("GET", "/api//login", 404, "route_not_found"),
        ("GET", "/roles/abc", 404, "route_not_found"),
        ("PATCH", "/roles", 405, "method_not_allowed"),
    ):
        response = client.open(method, path)
        assert_error(response, status, code)
        assert ("GET" in response.headers.get("Allow", "")) is (status == 405)


def test_a_valid_request_id_is_kept_and_an_invalid_one_is_replaced(client):
    sane = client.get("/kategori", headers={"X-Request-ID": "01JABCDEF-1"})
    assert sane.headers["X-Request-ID"] == "01JABCDEF-1"
    for bad in ("kurz", "x" * 65, "a b c d e f", "<script>alert(1)"):
        made = client.get("/kategori", headers={"X-Request-ID": bad}).headers["X-Request-ID"]
        assert made != bad
        assert len(made) == 32


def test_cors_allows_the_request_headers_and_exposes_the_response_headers(client):
    asked = "authorization,content-type,cache-control,pragma,expires"
    headers = {**ORIGIN, "Access-Control-Request-Method": "PUT", "Access-Control-Request-Headers": asked}
    preflight = client.open("OPTIONS", "/profile", headers=headers)
    assert preflight.status_code == 200
    assert preflight.headers["Access-Control-Allow-Origin"] == ORIGIN["Origin"]
    allowed = preflight.headers["Access-Control-Allow-Headers"].lower()
    assert all(name in allowed for name in asked.split(","))
    assert "PUT" in preflight.headers["Access-Control-Allow-Methods"]
    exposed = client.get("/kategori", headers=ORIGIN).headers["Access-Control-Expose-Headers"]
    assert all(name in exposed for name in ("X-Total-Count", "Link", "X-Request-ID", "Content-Disposition"))


def test_only_a_known_origin_gets_cors_headers_also_with_an_error(client):
    response = client.get("/kategori", headers={"Origin": "https://evil.example"})
    assert "Access-Control-Allow-Origin" not in response.headers
    response = client.get("/profile", headers=ORIGIN)
    assert response.status_code == 401
    assert response.headers["Access-Control-Allow-Origin"] == ORIGIN["Origin"]


def test_responses_have_security_headers(client):
    for path in ("/kategori", "/nowhere", "/healthz"):
        headers = client.get(path).headers
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["X-Frame-Options"] == "DENY"
        assert "default-src 'none'" in headers["Content-Security-Policy"]


def test_a_crash_is_logged_and_the_response_has_no_details(app, client, monkeypatch, caplog):
    monkeypatch.setattr("app.kategori.service.list_all", Mock(side_effect=RuntimeError("secret detail")))
    monkeypatch.setitem(app.config, "PROPAGATE_EXCEPTIONS", False)
    response = client.get("/kategori")
    assert_error(response, 500, "internal_error")
    assert "secret" not in response.text
    assert "secret detail" in caplog.text


def test_a_lost_database_is_503_with_retry_after(client, monkeypatch):
    lost = OperationalError("SELECT 1", {}, Exception("server closed the connection"))
    monkeypatch.setattr("app.kategori.service.list_all", Mock(side_effect=lost))
    response = client.get("/kategori")
    assert_error(response, 503, "service_unavailable")
    assert response.headers["Retry-After"] == "5"
    assert "SELECT" not in response.text


def test_a_request_is_one_log_line_without_personal_data(client, caplog):
    caplog.set_level(logging.INFO)
    client.get("/send-verification-code?phone=081234567890")
    lines = [record for record in caplog.records if record.name == "app.request"]
    assert len(lines) == 1
    assert (lines[0].route, lines[0].status, lines[0].method) == ("/api/send-verification-code", 200, "GET")
    assert "081234567890" not in str(vars(lines[0]))


def test_the_api_root_links_to_docs_openapi_and_health(client):
    response = client.get("/api", headers=ORIGIN)
    assert response.status_code == 200
    assert response.headers["Access-Control-Allow-Origin"] == ORIGIN["Origin"]
    assert set(response.json) == {"docs", "openapi", "health"}
    for address in response.json.values():
        assert address.startswith("/")
        assert client.get(address).status_code == 200


def test_a_response_has_exactly_one_vary_header(client):
    for path in ("/kategori", "/api", "/api/docs/", "/api/openapi.json", "/nowhere", "/profile"):
        for method in ("GET", "OPTIONS"):
            response = client.open(method, path, headers={**ORIGIN, "Accept-Encoding": "gzip"})
            assert response.headers.getlist("Vary") == ["Authorization, Origin"], (method, path)
