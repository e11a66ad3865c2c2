"""What nginx keeps by deploy/nginx.conf, and what it shows to whom. The service is a stand-in that answers what a test
wants, and remembers what it was asked."""

from __future__ import annotations

import contextlib
import socketserver
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from email.utils import formatdate, parsedate_to_datetime
from http.server import BaseHTTPRequestHandler
from itertools import count
from pathlib import Path

import pytest
import requests

from dev.stack.site import DeployedStack
from dev.stack.waiting import PATIENCE_S, wait_until
from tests.programs import needed

pytestmark = pytest.mark.takes(seconds=40)

OUR_PAGE = "https://app.example.org"
FRESH_FOR_LONG = "public, max-age=1000, stale-while-revalidate=1000, stale-if-error=1000"

_numbers = count(1)


@dataclass
class Asked:
    """What reached the service."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes


@dataclass
class Service:
    """What it answers, and what it was asked."""

    status: int = 200
    headers: dict[str, str] = field(default_factory=lambda: {"Cache-Control": FRESH_FOR_LONG})
    body: bytes | None = None
    asked: list[Asked] = field(default_factory=list)
    #: It answers while this is set.
    answers: threading.Event = field(default_factory=threading.Event)

    def answer(self, asked: Asked) -> tuple[int, dict[str, str], bytes]:
        self.asked.append(asked)
        self.answers.wait(PATIENCE_S)
        origin = asked.headers.get("Origin")
        own = {"Access-Control-Allow-Origin": origin} if origin else {}
        own |= {
            "Vary": "Authorization, Origin",
            "X-Request-ID": asked.headers["X-Request-ID"],
            "Date": formatdate(usegmt=True),
        }
        body = self.body or f"answer {len(self.asked)} to {asked.path}".encode()
        return self.status, own | self.headers, body


class UnixServer(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True
    request_queue_size = 64
    service: Service


class Handler(BaseHTTPRequestHandler):
    server: UnixServer

    def answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        asked = Asked(self.command, self.path, dict(self.headers.items()), body)
        status, headers, content = self.server.service.answer(asked)
        self.send_response_only(status)
        for name, value in {**headers, "Content-Length": str(len(content))}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    do_GET = do_HEAD = do_POST = do_PUT = do_DELETE = do_OPTIONS = answer  # noqa: N815  # as `http.server` names them

    def log_message(self, *_: object) -> None:
        """Nothing: `asked` has it."""


class Edge(DeployedStack):
    """nginx alone, in front of a stand-in of the service."""

    def __init__(self, folder: Path) -> None:
        super().__init__({}, folder)
        self.service = Service()
        self.servers: list[UnixServer] = []

    def start(self) -> None:
        self.open_sockets()
        self.spawn(self.nginx, "-c", str(self._rendered()), "-g", "daemon off;")

    def is_ready(self) -> bool:
        return self.call("GET", "/profile").ok

    def open_sockets(self) -> None:
        self.service.answers.set()
        for path in self.sockets:
            server = UnixServer(str(path), Handler)
            server.service = self.service
            threading.Thread(target=server.serve_forever, daemon=True).start()
            self.servers.append(server)

    def close_sockets(self) -> None:
        for server in self.servers:
            server.shutdown()
            server.server_close()
        for path in self.sockets:
            path.unlink()
        self.servers.clear()

    @contextlib.contextmanager
    def without_service(self) -> Iterator[None]:
        self.close_sockets()
        yield
        self.open_sockets()
        wait_until(self.is_ready)  # nginx leaves a server that was away alone for two seconds

    def __exit__(self, *_: object) -> None:
        super().__exit__()
        self.close_sockets()

    def get(self, path: str, **headers: str) -> requests.Response:
        """As a browser without a token asks; `X_Name="..."` is the header `X-Name`."""
        return self.call("GET", path, headers={name.replace("_", "-"): value for name, value in headers.items()})


@pytest.fixture(scope="module")
def nginx(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Edge]:
    needed("nginx")
    with Edge(tmp_path_factory.mktemp("edge")) as edge:
        yield edge


@pytest.fixture
def edge(nginx: Edge) -> Iterator[Edge]:
    """With a service that has forgotten what it was asked and told."""
    service = nginx.service
    service.asked.clear()
    yield nginx
    service.answers.set()
    service.status, service.headers, service.body = 200, {"Cache-Control": FRESH_FOR_LONG}, None


@pytest.fixture
def thread() -> str:
    """An address that nobody has asked for."""
    return f"/forum/threads/{next(_numbers)}"


def age_s(response: requests.Response) -> float:
    """How old a copy is, by its Date; nginx counts whole seconds too."""
    return int(time.time()) - parsedate_to_datetime(response.headers["Date"]).timestamp()


def grow_old(response: requests.Response, seconds: int) -> None:
    """Wait until a copy is older than so many seconds."""
    wait_until(lambda: age_s(response) > seconds)


def lasting(max_age: int, *, while_fetching: int = 0, if_error: int = 0) -> dict[str, str]:
    line = f"public, max-age={max_age}, stale-while-revalidate={while_fetching}, stale-if-error={if_error}"
    return {"Cache-Control": line}


# --- who gets a copy ------------------------------------------------------------------------------------------------


def test_the_second_reader_gets_the_copy_and_sees_that(edge: Edge, thread: str) -> None:
    first, second = edge.get(thread), edge.get(thread)
    assert (first.headers["Cache-Status"], second.headers["Cache-Status"]) == ("nginx; fwd=uri-miss", "nginx; hit")
    assert (first.text, first.headers["Date"]) == (second.text, second.headers["Date"])
    assert second.headers["Cache-Control"] == FRESH_FOR_LONG
    assert len(edge.service.asked) == 1


@pytest.mark.parametrize("token", ["Bearer abc", "Basic YTpi", "0", "x"])
def test_who_shows_a_token_gets_no_copy_and_leaves_none(edge: Edge, thread: str, token: str) -> None:
    for kept_before in (False, True):
        own = edge.get(thread, Authorization=token)
        assert own.text == f"answer {len(edge.service.asked)} to /api{thread}"
        assert edge.service.asked[-1].headers["Authorization"] == token
        assert "Cache-Status" not in own.headers
        anonymous = edge.get(thread)
        assert anonymous.text != own.text
        assert (anonymous.headers["Cache-Status"] == "nginx; hit") is kept_before


@pytest.mark.parametrize("header", ["If-Match", "If-Unmodified-Since"])
def test_a_condition_that_only_the_service_knows_goes_there(edge: Edge, thread: str, header: str) -> None:
    edge.get(thread)
    edge.call("GET", thread, headers={header: '"x"'})
    assert edge.service.asked[-1].headers[header] == '"x"'


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS"])
def test_only_reads_get_a_copy_and_leave_one(edge: Edge, thread: str, method: str) -> None:
    copy = edge.get(thread)
    written = edge.call(method, f"{thread}?a=1", data=b"{}", headers={"Content-Type": "application/json"})
    assert (written.status_code, written.text) == (200, f"answer 2 to /api{thread}?a=1")
    asked = edge.service.asked[-1]
    assert (asked.method, asked.body, asked.headers["Content-Type"]) == (method, b"{}", "application/json")
    assert edge.get(thread).text == copy.text


def test_head_and_get_share_a_copy(edge: Edge, thread: str) -> None:
    head = edge.call("HEAD", thread)
    get = edge.get(thread)
    assert (head.status_code, head.content, get.headers["Cache-Status"]) == (200, b"", "nginx; hit")
    assert head.headers["Content-Length"] == get.headers["Content-Length"]
    assert [asked.method for asked in edge.service.asked] == ["GET"]


@pytest.mark.parametrize("sent", ['"abc"', 'W/"abc"', '"other", W/"abc"', "*"])
@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_who_has_the_copy_gets_304_from_nginx(edge: Edge, thread: str, method: str, sent: str) -> None:
    edge.service.headers["ETag"] = '"abc"'
    edge.service.headers["X-Total-Count"] = "7"
    assert edge.get(thread, If_None_Match=sent).status_code == 304  # while there was no copy
    again = edge.call(method, thread, headers={"If-None-Match": sent})
    assert (again.status_code, again.content) == (304, b"")
    assert (again.headers["ETag"], again.headers["X-Total-Count"]) == ('"abc"', "7")
    assert edge.get(thread, If_None_Match='W/"other"').status_code == 200
    assert len(edge.service.asked) == 1


def test_what_the_service_does_not_let_be_kept_is_not(edge: Edge, thread: str) -> None:
    for headers in ({"Cache-Control": "no-store"}, {}):
        edge.service.headers = headers
        assert edge.get(thread).text != edge.get(thread).text


# --- what a copy is named after -------------------------------------------------------------------------------------


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


# --- for how long ---------------------------------------------------------------------------------------------------


def test_after_a_pause_nobody_sees_an_old_copy(edge: Edge, thread: str) -> None:
    edge.service.headers = lasting(1, while_fetching=1, if_error=1000)
    old = edge.get(thread)
    grow_old(old, 3)
    fresh = edge.get(thread)
    assert (fresh.text, fresh.headers["Cache-Status"]) == (f"answer 2 to /api{thread}", "nginx; fwd=stale")


def test_nobody_waits_for_the_next_copy(edge: Edge, thread: str) -> None:
    edge.service.headers = lasting(1, while_fetching=1000)
    old = edge.get(thread)
    grow_old(old, 2)
    edge.service.answers.clear()
    for _ in range(3):
        # Each by a connection of its own: what follows on the one that began the fetching does wait for its end.
        stale = requests.get(edge.url + thread, verify=str(edge.certificate), timeout=PATIENCE_S)
        assert (stale.text, stale.headers["Cache-Status"]) == (old.text, "nginx; hit; detail=stale")
    wait_until(lambda: len(edge.service.asked) == 2)
    edge.service.answers.set()
    wait_until(lambda: edge.get(thread).text == f"answer 2 to /api{thread}")


def test_however_many_ask_the_service_is_asked_once_a_second(edge: Edge, thread: str) -> None:
    edge.service.headers = lasting(1, while_fetching=1000)
    started = time.monotonic()

    def read(_: int) -> int:
        with requests.Session() as session:
            session.trust_env, session.verify = False, str(edge.certificate)
            return sum(session.get(edge.url + thread, timeout=PATIENCE_S).status_code != 200 for _ in range(100))

    with ThreadPoolExecutor(32) as readers:
        assert sum(readers.map(read, range(32))) == 0
    assert len(edge.service.asked) <= time.monotonic() - started + 2  # the first copy, and one in each second begun


@pytest.mark.parametrize("status", [500, 502, 503, 504])
def test_while_the_service_fails_a_copy_stands_in_as_long_as_it_may(edge: Edge, thread: str, status: int) -> None:
    edge.service.headers = lasting(1, while_fetching=1, if_error=1000)
    old = edge.get(thread)
    grow_old(old, 3)
    edge.service.status, edge.service.headers = status, {"Cache-Control": "no-store"}
    for _ in range(2):
        stale = edge.get(thread)
        assert (stale.status_code, stale.text) == (200, old.text)
        assert (stale.headers["Cache-Status"], stale.headers["Date"]) == (
            "nginx; hit; detail=stale",
            old.headers["Date"],
        )
    assert edge.call("HEAD", thread).status_code == 200
    edge.service.status, edge.service.headers = 200, lasting(1)
    assert edge.get(thread).text != old.text


def test_a_copy_does_not_stand_in_for_longer_than_it_may(edge: Edge, thread: str) -> None:
    edge.service.headers = lasting(1, while_fetching=1, if_error=2)
    grow_old(edge.get(thread), 4)
    edge.service.status, edge.service.headers = 503, {"Cache-Control": "no-store", "Retry-After": "5"}
    failed = edge.get(thread)
    assert (failed.status_code, failed.headers["Retry-After"]) == (503, "5")
    assert failed.text.startswith("answer ")  # the service's own words
    edge.service.status = 200
    with edge.without_service():
        assert edge.get(thread).status_code == 503


@pytest.mark.parametrize("status", [400, 401, 404, 405, 429, 500, 502, 503, 504])
def test_an_error_is_the_services_own_and_is_not_kept(edge: Edge, thread: str, status: int) -> None:
    edge.service.status = status
    edge.service.headers = {"Cache-Control": "no-store", "Retry-After": "37"}
    first, second = edge.get(thread), edge.get(thread)
    assert (first.status_code, first.headers["Retry-After"]) == (status, "37")
    assert first.text != second.text
    edge.service.status, edge.service.headers = 200, lasting(1000)
    assert edge.get(thread).status_code == 200


@pytest.mark.parametrize("status", [401, 404, 429])
def test_what_is_gone_is_not_shown_in_place_of_a_refusal(edge: Edge, thread: str, status: int) -> None:
    edge.service.headers = lasting(1, while_fetching=1, if_error=1000)
    grow_old(edge.get(thread), 3)
    edge.service.status, edge.service.headers = status, {"Cache-Control": "no-store"}
    assert [edge.get(thread).status_code for _ in range(2)] == [status, status]


def test_with_the_service_gone_a_copy_stands_in_and_all_else_is_503(edge: Edge, thread: str) -> None:
    edge.service.headers = lasting(1, while_fetching=1, if_error=1000)
    old = edge.get(thread)
    grow_old(old, 3)
    with edge.without_service():
        assert [edge.get(thread).text for _ in range(2)] == [old.text, old.text]
        for response in (
            edge.get(f"{thread}?page=2"),
            edge.get(thread, Authorization="Bearer x"),
            edge.call("POST", thread, data=b"{}"),
        ):
            assert (response.status_code, response.json()["error"]) == (503, "service_unavailable")
            assert (response.headers["Retry-After"], response.headers["Cache-Control"]) == ("5", "no-store")


def test_a_large_answer_is_kept_whole(edge: Edge, thread: str) -> None:
    edge.service.body = bytes(range(256)) * 8000
    assert [edge.get(thread).content == edge.service.body for _ in range(2)] == [True, True]
    assert len(edge.service.asked) == 1
