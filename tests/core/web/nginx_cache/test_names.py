"""Cache keys of nginx: which requests get the same cached response."""

import pytest
import requests

from dev.stack.waiting import PATIENCE_S

pytestmark = pytest.mark.processes

OUR_PAGE = "https://app.example.org"


#: Headers by which a client could change the cached responses of other clients. nginx must not pass their values to the
#: service.
LIES = {
    "X-Forwarded-Host": "evil.example", "X-Forwarded-For": "203.0.113.7", "X-Forwarded-Prefix": "/evil",
    "X-Forwarded-Port": "81", "X-Forwarded-Proto": "gopher", "X-Real-IP": "203.0.113.7", "Forwarded": "host=evil",
    "Range": "bytes=0-1", "If-Range": "x", "Origin": "https://evil.example", "Authorization": "",
}  # fmt: skip


def test_nginx_does_not_pass_client_headers_that_could_poison_the_cache(edge, thread):
    first = edge.call("GET", thread, headers=LIES)
    assert (first.status_code, first.text) == (200, f"answer 1 to /api{thread}")
    (asked,) = edge.service.asked
    ours = {"Host", "X-Forwarded-For", "X-Forwarded-Proto", "X-Forwarded-Host", "X-Request-ID"}
    assert set(asked.headers) == ours | {"User-Agent", "Accept-Encoding", "Accept"}
    assert (asked.headers["Host"], asked.headers["X-Forwarded-Host"]) == ("localhost", "localhost")
    assert (asked.headers["X-Forwarded-For"], asked.headers["X-Forwarded-Proto"]) == ("127.0.0.1", "https")
    assert edge.get(thread).text == first.text


SPELLINGS = [
    "{}?before=9&per_page=5",
    "{}?before=9&per_page=5&evil=1",
    "{}?per_page=5&before=9",
    "{}/?before=9&per_page=5",
    "/.{}?before=9&per_page=5",
    "/forum/./x/../%74hreads/{id}?before=9&per_page=5",
    "{}%3Fbefore=9",
    "{}%0Ab?before=9",
]


def test_each_spelling_of_a_url_is_passed_unchanged_and_cached_separately(edge, thread):
    for n, spelling in enumerate(SPELLINGS, 1):
        path = spelling.format(thread, id=thread.rpartition("/")[2])
        for _ in range(2):
            request = requests.Request("GET", edge.url).prepare()
            request.url = edge.url + path  # `edge.get` would resolve the dots in the path
            assert edge.session.send(request, timeout=PATIENCE_S).text == f"answer {n} to /api{path}"
    assert len(edge.service.asked) == len(SPELLINGS)


def test_only_the_allowed_origin_gets_a_cached_response_with_allow_origin(edge, thread):
    for _ in range(2):
        assert edge.get(thread, Origin=OUR_PAGE).headers["Access-Control-Allow-Origin"] == OUR_PAGE
        assert edge.get(thread, Origin=OUR_PAGE.upper()).headers["Access-Control-Allow-Origin"] == OUR_PAGE
        for origin in ("https://evil.example", "null", f"{OUR_PAGE}.evil.example", ""):
            assert "Access-Control-Allow-Origin" not in edge.get(thread, Origin=origin).headers
    assert [asked.headers.get("Origin") for asked in edge.service.asked] == [OUR_PAGE, None]


def test_a_cached_response_does_not_repeat_the_id_of_another_request(edge, thread):
    first = edge.get(thread, X_Request_ID="request-of-siti")
    assert edge.service.asked[0].headers["X-Request-ID"] == first.headers["X-Request-ID"] == "request-of-siti"
    ids = {
        edge.get(thread, X_Request_ID=sent).headers["X-Request-ID"] for sent in ("", "x y", "request-of-budi", "<b>")
    }
    assert len(ids) == 4
    assert "request-of-siti" not in ids
    assert "request-of-budi" in ids


def test_a_response_has_exactly_one_vary_header(edge, thread):
    edge.service.body = b"a" * 5000
    edge.service.headers["Content-Type"] = "application/json"
    for headers in ({}, {"Authorization": "Bearer x"}, {"Accept-Encoding": "gzip"}):
        response = requests.get(edge.url + thread, headers=headers, verify=str(edge.certificate), timeout=PATIENCE_S)
        assert response.raw.headers.getlist("Vary") == ["Accept-Encoding, Authorization, Origin"]
