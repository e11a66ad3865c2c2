"""HTTP client: responses, limits, and faults. Each fault becomes a `ProviderError` within the time budget."""

import gzip
import logging
import traceback
import tracemalloc

import pytest
from prometheus_client import REGISTRY

from app.providers.http import Http
from tests.providers.calls import OK, client, failure
from tests.providers.patience import patience_with
from tests.providers.raw_server import raw

# --- responses ----------------------------------------------------------------------------------------------


def test_a_response_has_its_status_headers_and_json(sim):
    url = f"{sim.videos.url}/videos"
    response = client().fetch("GET", url, params={"part": "snippet", "id": "hdMaxres001", "key": sim.env["VIDEO_KEY"]})
    assert response.status == 200
    assert response.headers["content-type"].startswith("application/json")
    assert response.json()["items"][0]["id"] == "hdMaxres001"


def test_request_bodies_and_headers_are_sent_as_given(sim):
    http = client(headers={"X-Always": "1"})
    http.fetch("POST", f"{sim.captcha.url}/siteverify", data={"a": "b c"}, headers={"X-Once": "2"})
    call = sim.captcha.calls[0]
    assert (call.body, call.headers["x-always"], call.headers["x-once"]) == ("a=b+c", "1", "2")
    assert call.headers["user-agent"] == "health-support/1.0"
    assert "cookie" not in call.headers


def test_cookies_are_not_kept():
    with raw(OK.replace(b"\r\n\r\n", b"\r\nSet-Cookie: a=b\r\nConnection: close\r\n\r\n")) as server:
        http = client()
        for _ in range(2):
            http.fetch("GET", server.url)
        assert not any(b"ookie" in request for request in server.requests)


@pytest.mark.parametrize(
    ("body", "value"),
    [(rb'{"a": "x\u0000\u0000y\u0000"}', "xy"), (rb'{"a": "x\\u0000"}', "x\\u0000"), (rb'{"a": "x\\\u0000y"}', "x\\y")],
)
def test_nul_characters_are_removed_from_json(body, value):
    with raw(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body) + body) as server:
        assert client().fetch("GET", server.url).json() == {"a": value}


def test_proxy_variables_of_the_environment_are_ignored(monkeypatch, sim):
    monkeypatch.setenv("http_proxy", sim.closed_url)
    monkeypatch.setenv("HTTP_PROXY", sim.closed_url)
    with raw(OK) as server:
        assert client().fetch("GET", server.url).json() == {"ok": True}
        assert b"uthorization" not in server.requests[0]


# --- faults -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fault", "kind", "permanent"),
    [
        ("down", "broken", False),
        ("drop", "broken", False),
        ("hang", "timeout", False),
        ("slow", "timeout", False),
        ("not_http", "broken", False),
        ("garbage", "garbage", False),
        ("wrong_type", "garbage", False),
        ("oversize", "oversized", True),
        ("redirect", "redirect", True),
    ],
)
def test_every_fault_raises_a_provider_error_of_its_kind(sim, fault, kind, permanent):
    """The simulator keeps a hanging call open for a minute. The client must end the call earlier."""
    sim.fault("captcha", fault, times=None)
    error = failure(client(**patience_with(fault)), f"{sim.captcha.url}/siteverify", "POST", data={})
    assert (error.kind, error.permanent, error.timed_out) == (kind, permanent, kind == "timeout")


@pytest.mark.parametrize(
    ("status", "permanent"),
    [
        (400, True),
        (401, True),
        (403, True),
        (404, True),
        (406, False),
        (408, False),
        (413, True),
        (429, False),
        (500, False),
        (503, False),
    ],
)
def test_an_error_status_is_classified_as_permanent_or_temporary(sim, status, permanent):
    sim.fault("captcha", "status", status=status, retry_after=7)
    error = failure(client(), f"{sim.captcha.url}/siteverify", "POST", data={})
    assert (error.kind, error.status, error.permanent, error.retry_after) == ("status", status, permanent, 7)
    assert error.response is not None
    assert error.response.body == b"upstream error"


def test_a_closed_port_is_unreachable(sim):
    assert failure(client(), sim.closed_url).kind == "unreachable"


def test_a_host_name_that_does_not_resolve_is_unreachable():
    assert failure(client(), "http://nobody.invalid/").kind == "unreachable"


@pytest.mark.parametrize(
    "url", ["http://", "ftp://example.org/x", "http://[::1", "nonsense", "http://a b/", "http://" + "a" * 300]
)
def test_an_invalid_url_is_refused_or_unreachable(url):
    error = failure(client(), url)
    assert (error.kind, error.permanent) in {("refused", True), ("unreachable", False)}


def test_an_error_status_with_an_oversized_body_is_still_a_status_error():
    body = b"x" * 5000
    head = f"HTTP/1.1 503 Busy\r\nContent-Length: {len(body)}\r\n\r\n".encode()
    with raw(head + body) as server:
        error = failure(client(max_bytes=1000), server.url, "POST", data={})
    assert (error.kind, error.status, error.outcome_unknown) == ("status", 503, False)


@pytest.mark.parametrize(
    "body", [b"[1, 2]", b'"text"', b"17", b"null", b"", b'{"a": NaN}', b"{'a': 1}", b'{"a":' * 3000, b"\xff\xfe"]
)
def test_json_that_is_not_an_object_is_garbage(body):
    head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n".encode()
    with raw(head + body) as server:
        assert failure(client(), server.url).kind == "garbage"


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n",  # a body without a length
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\nfffff\r\n",
    ],
)
def test_a_slowly_sent_body_ends_with_a_timeout(answer):
    with raw(answer + b"a" * 100_000, drip_s=0.002) as server:  # the whole response would take three minutes
        assert failure(client(budget_s=2), server.url).kind == "timeout"


def test_a_gzip_bomb_is_refused_as_oversized():
    bomb = gzip.compress(bytes(200_000_000))
    head = f"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: {len(bomb)}\r\n\r\n".encode()
    with raw(head + bomb) as server:
        tracemalloc.start()
        try:
            error = failure(client(max_bytes=1_000_000), server.url)
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
    assert error.kind == "oversized"
    assert peak < 20_000_000


def test_a_response_of_exactly_the_size_limit_is_accepted(sim):
    with raw(OK) as server:
        assert client(max_bytes=11).fetch("GET", server.url).body == b'{"ok":true}'
        assert failure(client(max_bytes=10), server.url).kind == "oversized"


# --- keys, logs and outcomes --------------------------------------------------------------------------------


@pytest.mark.parametrize("fault", ["down", "hang", "not_http", "status", "closed"])
def test_secrets_of_a_request_are_not_in_logs_or_tracebacks(sim, fault, caplog):
    caplog.set_level(logging.DEBUG)
    logging.getLogger("urllib3").setLevel(logging.ERROR)
    if fault != "closed":
        sim.fault("videos", fault, times=None)
    url = sim.closed_url if fault == "closed" else sim.videos.url
    error = failure(
        client(attempts=2, **patience_with(fault)),
        f"{url}/videos?token=secret-1",
        params={"key": "secret-2"},
        headers={"A": "secret-3"},
    )
    told = caplog.text + "".join(traceback.format_exception(error)) + repr(error)
    assert "secret" not in told
    assert "test" in caplog.text
    assert error.__context__ is None


def test_calls_are_counted_by_provider_and_outcome(app, sim):
    http = Http("counted", attempts=1)

    def count(outcome):
        labels = {"provider": "counted", "outcome": outcome}
        return REGISTRY.get_sample_value("provider_call_seconds_count", labels) or 0

    with app.test_request_context():
        http.fetch("POST", f"{sim.captcha.url}/siteverify", data={})
        sim.fault("captcha", "status", status=503)
        failure(http, f"{sim.captcha.url}/siteverify", "POST", data={})
        sim.fault("captcha", "status", status=404)
        failure(http, f"{sim.captcha.url}/siteverify", "POST", data={})
    assert (count("ok"), count("5xx"), count("4xx")) == (1, 1, 1)


def test_the_outcome_of_a_sent_write_is_unknown_without_a_readable_response(sim):
    """An unreadable response leaves the outcome unknown. An error status or a failed connection does not."""
    broken = ("down", "drop", "hang", "garbage", "wrong_type", "oversize")
    for kind, unknown in [*((kind, True) for kind in broken), ("status", False), ("redirect", False)]:
        sim.fault("captcha", kind)
        error = failure(client(**patience_with(kind)), f"{sim.captcha.url}/siteverify", "POST", data={})
        assert (kind, error.outcome_unknown) == (kind, unknown)
    assert not failure(client(), sim.closed_url, "POST", data={}).outcome_unknown
