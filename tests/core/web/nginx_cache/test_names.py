"""What nginx's copies are named after: which questions share one."""

from __future__ import annotations

import pytest
import requests

from dev.stack.waiting import PATIENCE_S
from tests.core.web.nginx_cache.edge import Edge

pytestmark = pytest.mark.processes

OUR_PAGE = "https://app.example.org"


def test_of_the_client_only_the_name_of_the_copy_reaches_the_service(edge: Edge, thread: str) -> None:
    lies = {
        "X-Forwarded-Host": "evil.example", "X-Forwarded-For": "203.0.113.7", "X-Forwarded-Prefix": "/evil",
        "X-Original-URL": "/evil", "X-HTTP-Method-Override": "DELETE", "Forwarded": "host=evil", "Cookie": "a=1",
        "Accept": "text/evil", "Accept-Language": "xx", "Range": "bytes=0-1", "Origin": "https://evil.example",
        "User-Agent": "evil", "Content-Type": "text/evil", "Authorization": "",
    }  # fmt: skip
    first = edge.call("GET", thread, headers=lies, data=b"evil")
    assert (first.status_code, first.text) == (200, f"answer 1 to /api{thread}")
    (asked,) = edge.service.asked
    assert set(asked.headers) == {"Host", "X-Forwarded-For", "X-Forwarded-Proto", "X-Forwarded-Host", "X-Request-ID"}
    assert (asked.headers["Host"], asked.headers["X-Forwarded-Host"], asked.body) == ("localhost", "localhost", b"")
    assert edge.get(thread).text == first.text


@pytest.mark.parametrize(
    "spelling",
    [
        "{}?before=9&per_page=5&evil=1",
        "{}?per_page=5&before=9",
        "{}?x=1&&per_page=5&per_page=7&before=9&before=8",
        "{}/?before=9&per_page=5&PAGE=2&pages=3&xpage=4",
        "/.{}?before=9&per_page=5#part",
        "/forum/./x/../%74hreads/{id}?before=9&per_page=5",
    ],
)
def test_one_address_has_one_copy_however_it_is_spelled(edge: Edge, thread: str, spelling: str) -> None:
    copy = edge.get(f"{thread}?before=9&per_page=5")
    assert edge.service.asked[0].path == f"/api{thread}?&before=9&per_page=5"
    request = requests.Request("GET", edge.url).prepare()
    request.url = edge.url + spelling.format(thread, id=thread.rpartition("/")[2])  # as it is: nothing resolves it
    assert edge.session.send(request, timeout=PATIENCE_S).text == copy.text
    assert len(edge.service.asked) == 1


def test_every_question_that_is_another_has_its_own_copy(edge: Edge, thread: str) -> None:
    questions = ["", "?page=1", "?page=2", "?per_page=1", "?page=1&per_page=1", "?page=", "?replies=false"]
    assert len({edge.get(thread + question).text for question in questions}) == len(questions)


def test_who_asks_for_several_of_what_may_come_several_times_gets_them_all(edge: Edge) -> None:
    for question in ("?tag=medical&page=1&tag=religion", "?tag=medical&tag=medical&page=1"):
        assert edge.get(f"/articles/all{question}").text.endswith(f"/api/articles/all{question}")
        assert edge.get(f"/articles/all{question}").headers.get("Cache-Status") is None
    assert edge.get("/articles/all?page=1&tag=medical").text.endswith("/api/articles/all?&page=1&tag=medical")


def test_a_path_that_holds_a_question_is_none(edge: Edge) -> None:
    """Nor does a line break in a path let its query through."""
    assert edge.get("/faskes/a%3Fpage=1").text.endswith("/api/faskes/a%3Fpage=1")
    assert edge.get("/faskes/a?page=1").text.endswith("/api/faskes/a?&page=1")
    assert edge.get("/faskes/a%0Ab?evil=1&page=1").text.endswith("/api/faskes/a%0Ab?&page=1")


def test_pages_of_our_origin_may_read_a_copy_and_others_share_the_one_without_leave(edge: Edge, thread: str) -> None:
    for _ in range(2):
        assert edge.get(thread, Origin=OUR_PAGE).headers["Access-Control-Allow-Origin"] == OUR_PAGE
        assert edge.get(thread, Origin=OUR_PAGE.upper()).headers["Access-Control-Allow-Origin"] == OUR_PAGE
        for origin in ("https://evil.example", "null", f"{OUR_PAGE}.evil.example", ""):
            assert "Access-Control-Allow-Origin" not in edge.get(thread, Origin=origin).headers
    assert [asked.headers.get("Origin") for asked in edge.service.asked] == [OUR_PAGE, None]


def test_nobody_gets_the_request_id_of_another(edge: Edge, thread: str) -> None:
    first = edge.get(thread, X_Request_ID="request-of-siti")
    assert edge.service.asked[0].headers["X-Request-ID"] == first.headers["X-Request-ID"] == "request-of-siti"
    ids = {
        edge.get(thread, X_Request_ID=sent).headers["X-Request-ID"] for sent in ("", "x y", "request-of-budi", "<b>")
    }
    assert len(ids) == 4
    assert "request-of-siti" not in ids
    assert "request-of-budi" in ids


def test_nobody_is_told_what_is_left_of_the_limit_of_another(edge: Edge, thread: str) -> None:
    edge.service.headers |= {"RateLimit": '"60;w=60";r=3;t=9', "RateLimit-Policy": '"60;w=60";q=60;w=60'}
    for response in (edge.get(thread), edge.get(thread)):
        assert not {"RateLimit", "RateLimit-Policy"} & set(response.headers)
    assert "RateLimit" in edge.get(thread, Authorization="Bearer x").headers


def test_one_line_tells_what_an_answer_depends_on(edge: Edge, thread: str) -> None:
    edge.service.body = b"a" * 5000
    edge.service.headers["Content-Type"] = "application/json"
    for headers in ({}, {"Authorization": "Bearer x"}, {"Accept-Encoding": "gzip"}):
        response = requests.get(edge.url + thread, headers=headers, verify=str(edge.certificate), timeout=PATIENCE_S)
        assert response.raw.headers.getlist("Vary") == ["Accept-Encoding, Authorization, Origin"]
