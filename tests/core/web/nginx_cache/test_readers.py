"""Requests that nginx answers from its cache, and requests whose response nginx stores."""

import pytest

from tests.core.web.nginx_cache.edge import FRESH_FOR_LONG

pytestmark = pytest.mark.processes


def test_the_second_read_is_a_cache_hit_with_a_cache_status_header(edge, thread):
    first, second = edge.get(thread), edge.get(thread)
    assert (first.headers["Cache-Status"], second.headers["Cache-Status"]) == ("nginx; fwd=uri-miss", "nginx; hit")
    assert (first.text, first.headers["Date"]) == (second.text, second.headers["Date"])
    assert second.headers["Cache-Control"] == FRESH_FOR_LONG
    assert len(edge.service.asked) == 1


def test_a_request_with_an_authorization_header_bypasses_the_cache(edge, thread):
    for kept_before, token in ((False, "Bearer abc"), (True, "Bearer abc"), (True, "Basic YTpi"), (True, "0")):
        own = edge.get(thread, Authorization=token)
        assert own.text == f"answer {len(edge.service.asked)} to /api{thread}"
        assert edge.service.asked[-1].headers["Authorization"] == token
        assert "Cache-Status" not in own.headers
        anonymous = edge.get(thread)
        assert anonymous.text != own.text
        assert (anonymous.headers["Cache-Status"] == "nginx; hit") is kept_before


def test_two_authorization_headers_cannot_cache_a_personal_response(edge, thread):
    head = f"GET /api{thread} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
    with edge.connect() as connection:
        connection.sendall(f"{head}Authorization: \r\nAuthorization: Bearer x\r\n\r\n".encode())
        while connection.recv(4096):
            pass
    number = int(edge.get(thread).text.split()[1])
    assert "Bearer" not in edge.service.asked[number - 1].headers.get("Authorization", "")


def test_if_match_is_200_for_the_same_etag_and_400_for_another(edge, thread):
    edge.service.headers["ETag"] = '"abc"'
    assert edge.get(thread, If_Match='"abc"').status_code == 200
    # nginx closes the connection after a 400, so the next test must not use it.
    refused = edge.get(thread, If_Match='"other"', Connection="close")
    assert (refused.status_code, refused.json()["error"]) == (400, "bad_request")


def test_post_put_delete_and_options_reach_the_service(edge, thread):
    copy = edge.get(thread)
    for n, method in enumerate(("POST", "PUT", "DELETE", "OPTIONS"), 2):
        written = edge.call(method, f"{thread}?a=1", data=b"{}", headers={"Content-Type": "application/json"})
        assert (written.status_code, written.text) == (200, f"answer {n} to /api{thread}?a=1")
        asked = edge.service.asked[-1]
        assert (asked.method, asked.body, asked.headers["Content-Type"]) == (method, b"{}", "application/json")
    assert edge.get(thread).text == copy.text


def test_nginx_answers_a_matching_if_none_match_with_304_from_the_cache(edge, thread):
    edge.service.headers["ETag"] = '"abc"'
    edge.service.headers["X-Total-Count"] = "7"
    for sent in ('"abc"', 'W/"abc"', '"other", W/"abc"', "*"):
        for method in ("GET", "HEAD"):  # the first one finds nothing in the cache
            again = edge.call(method, thread, headers={"If-None-Match": sent})
            assert (again.status_code, again.content) == (304, b""), (method, sent)
            assert (again.headers["ETag"], again.headers["X-Total-Count"]) == ('"abc"', "7")
    assert edge.get(thread, If_None_Match='W/"other"').status_code == 200
    assert len(edge.service.asked) == 1


def test_a_response_with_no_store_or_without_cache_control_is_not_cached(edge, thread):
    for headers in ({"Cache-Control": "no-store"}, {}):
        edge.service.headers = headers
        assert edge.get(thread).text != edge.get(thread).text
