"""Tests that invalid HTTP requests get an error or a closed connection, and do not affect other clients."""

import re
import socket

import pytest
import requests

from dev.stack.processes import WebOnly
from dev.stack.waiting import PATIENCE_S

pytestmark = pytest.mark.processes

HOST = b"Host: localhost\r\n"
POST = b"POST /api/log/user-log HTTP/1.1\r\n" + HOST + b"Content-Type: application/json\r\n"


@pytest.fixture(scope="module")
def web(variables, tmp_path_factory):
    with WebOnly({**variables, "RATE_LIMITS": "off"}, tmp_path_factory.mktemp("web")) as web:
        yield web


def statuses(web, sent):
    """Return the statuses of all responses to the bytes `sent`.

    Return [] if the connection is closed without a response.
    """
    with socket.create_connection(("127.0.0.1", web.port), timeout=PATIENCE_S) as connection:
        answer = b""
        try:
            connection.sendall(sent)
            connection.shutdown(socket.SHUT_WR)
            while part := connection.recv(65536):
                answer += part
        except (ConnectionError, BrokenPipeError):
            pass
    return [int(found) for found in re.findall(rb"HTTP/1\.[01] (\d{3}) ", answer)]


ABUSES = {
    "a header of 64 KiB": b"GET /healthz HTTP/1.1\r\n" + HOST + b"X-Long: " + b"a" * 65536 + b"\r\n\r\n",
    "a thousand headers": b"GET /healthz HTTP/1.1\r\n" + HOST + b"X-Many: 1\r\n" * 1000 + b"\r\n",
    "a request line of 64 KiB": b"GET /" + b"a" * 65536 + b" HTTP/1.1\r\n" + HOST + b"\r\n",
    "both lengths": POST
    + b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\n\r\n",
    "two lengths": POST + b"Content-Length: 2\r\nContent-Length: 40\r\n\r\n{}",
    "a negative length": POST + b"Content-Length: -1\r\n\r\n{}",
    "a header without a colon": b"GET /healthz HTTP/1.1\r\n" + HOST + b"nonsense\r\n\r\n",
    "a header with NUL": b"GET /healthz HTTP/1.1\r\n" + HOST + b"X-A: a\0b\r\n\r\n",
    "a chunk of no length": POST + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n",
    "a chunk of 2^70 bytes": POST + b"Transfer-Encoding: chunked\r\n\r\n4000000000000000000\r\n{}\r\n0\r\n\r\n",
    "chunked, but not last": POST + b"Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n",
    "HTTP/9.9": b"GET /healthz HTTP/9.9\r\n" + HOST + b"\r\n",
    "TLS": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(range(256)) * 2,
    "noise": bytes(range(255, -1, -1)) * 40 + b"\r\n\r\n",
    "half a body": POST + b"Content-Length: 400\r\n\r\n{}",
}


def test_an_invalid_request_gets_a_4xx_or_a_closed_connection(web, subtests):
    for name, abuse in ABUSES.items():
        with subtests.test(name):
            assert all(400 <= status < 500 for status in statuses(web, abuse))
            assert requests.get(f"http://127.0.0.1:{web.port}/healthz", timeout=PATIENCE_S).status_code == 200


def test_pipelined_requests_are_answered_in_order(web):
    asked = [b"GET /healthz HTTP/1.1\r\n" + HOST + b"\r\n", b"GET /nowhere HTTP/1.1\r\n" + HOST + b"\r\n"]
    assert statuses(web, asked[0] + asked[1] + asked[0]) == [200, 404, 200]


def test_an_unread_body_is_not_parsed_as_the_next_request(web):
    smuggled = b"GET /healthz HTTP/1.1\r\n" + HOST + b"\r\n"
    refused = b"POST /nowhere HTTP/1.1\r\n" + HOST + b"Content-Length: %d\r\n\r\n" % len(smuggled)
    assert statuses(web, refused + smuggled) == [404]


def test_the_log_contains_no_traceback(web):
    assert statuses(web, b"GARBAGE\r\n\r\n") == [400]
    assert "Traceback" not in web.log.read_text()
