"""Health checks, `/metrics` and entry pages."""

import re

from app.core.version import VERSION
from tests.core.operations.command_line import dead_redis


def test_the_process_is_healthy(client):
    response = client.get("/healthz")
    assert response.json == {"status": "ok", "version": VERSION}
    assert response.headers["Cache-Control"] == "no-store"


def test_a_ready_service_reports_ready(client):
    body = client.get("/readyz").ok()
    assert body["status"] == "ready"
    assert {"database", "queue", "migrations", "deliveries"} <= set(body["checks"])


def test_a_queue_that_is_away_or_refuses_writes_makes_the_service_unready(app, client, monkeypatch, full_redis):
    for redis, fault in ((dead_redis(), "ConnectionError"), (full_redis, "OutOfMemoryError")):
        monkeypatch.setitem(app.extensions, "redis", redis)
        response = client.get("/readyz")
        assert response.status_code == 503
        assert response.headers["Retry-After"]
        assert response.json["checks"]["queue"] == fault
        assert response.json["checks"]["database"] == "ok"


def test_metrics_count_requests_by_route(client):
    client.get("/roles/999999")
    text = client.get("/metrics").text
    assert 'http_request_seconds_count{method="GET",route="/api/roles/<int:role_id>",status="404"}' in text


def test_unknown_http_methods_share_one_metric_series(client):
    for n in range(20):
        assert client.open(f"KARANGAN{n}", "/roles").status_code == 405
    text = client.get("/metrics").text
    assert "KARANGAN" not in text
    assert 'http_request_seconds_count{method="other",route="(none)",status="405"}' in text


def test_the_root_page_links_to_the_documentation(client):
    response = client.get("/")
    assert response.mimetype == "text/html"
    assert 'href="/api/docs/"' in response.text
    assert "/dev/outbox" not in response.text


def test_the_documentation_loads_no_external_resources(client):
    page = client.get("/api/docs/")
    assert page.status_code == 200
    assert not re.search(r"""(src|href)=["']?(https?:)?//""", page.text)
    assert client.get("/api/docs/swagger-ui-bundle.js").status_code == 200
