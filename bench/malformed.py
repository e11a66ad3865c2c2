"""Malformed bodies and headers, made by hypothesis. Every route must refuse them in our error format, without a crash.

`make fuzz` sends 10,000 such requests, after the requests from the document. `tests/fuzz` sends a few hundred.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import hypothesis
from flask import Flask
from hypothesis import strategies as st
from werkzeug.test import TestResponse

FORMS = (
    "application/json",
    "multipart/form-data",
    "multipart/form-data; boundary=x",
    "text/plain",
    "*/*",
    "",
    "a/b;c=\xff",
)
HEADERS = (
    "Authorization", "Accept", "Accept-Encoding", "Cookie", "Forwarded", "Host", "If-Modified-Since", "If-None-Match",
    "Origin", "Range", "Referer", "Transfer-Encoding", "X-Forwarded-For", "X-Forwarded-Proto", "X-Request-ID",
)  # fmt: skip

#: Values for path parameters such as `<int:id>`.
NAMES = ("1", "0", "-1", "99999999999999999999999999", "x", "%00", "%ff", "..", "a b", "'")

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=40),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4),
    max_leaves=12,
)
header_values = st.text(st.characters(min_codepoint=32, max_codepoint=255, exclude_characters="\x7f"), max_size=60)
headers = st.dictionaries(
    st.sampled_from(HEADERS), header_values | st.builds("Bearer {}".format, header_values), max_size=4
)


def _is_object(body: bytes) -> bool:
    try:
        return isinstance(json.loads(body), dict)
    except (ValueError, RecursionError):
        return False


#: Bodies that are no JSON object.
no_objects = (
    st.binary(max_size=200)
    | values.map(lambda value: json.dumps(value).encode())
    | st.binary(max_size=60).map(lambda tail: b'{"username": "siti", ' + tail)
    | st.integers(33, 5000).map(lambda depth: b'{"a":' * depth + b"1" + b"}" * depth)
).filter(lambda body: not _is_object(body) or body.count(b"{") > 32)


@dataclass(frozen=True)
class Operation:
    method: str
    path: str
    needs_body: bool
    fields: tuple[str, ...]


def operations(document: dict[str, Any]) -> list[Operation]:
    schemas = document["components"]["schemas"]
    operations = []
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            if method == "parameters":
                continue
            body = operation.get("requestBody", {})
            schema = next(iter(body.get("content", {}).values()), {}).get("schema", {})
            schema = schemas[schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema
            operations.append(
                Operation(method.upper(), path, body.get("required", False), tuple(schema.get("properties", ())))
            )
    return operations


def ask(app: Flask, tokens: Sequence[str], *, examples: int, seed: int) -> Counter[int]:
    """Send `examples` requests, check each response, and return the number of responses by status.

    Half have the right fields with wrong values, and wrong headers. They may succeed, but never crash. Half have a body
    that is no JSON object where one is required. They must get a 4xx status.
    """
    app.config["PROPAGATE_EXCEPTIONS"] = False  # a crash must be a 500 response
    client = app.test_client()
    known = operations(client.get("/api/openapi.json").get_json())
    statuses: Counter[int] = Counter()

    def send(operation: Operation, name: str, body: bytes, sent: dict[str, str]) -> TestResponse:
        path = re.sub(r"\{\w+\}", name, operation.path)
        response = client.open(path, method=operation.method, data=body, headers=sent, buffered=True)
        response.request.environ["wsgi.input"].close()
        statuses[response.status_code] += 1
        assert response.status_code < 500, response.get_data(as_text=True)
        if response.status_code >= 400:
            assert response.mimetype == "application/json"
            error = response.json or {}
            assert set(error) <= {"error", "message", "errors", "sqlstate", "request_id"}
            assert error["message"]
            assert error["request_id"] == response.headers["X-Request-ID"]
        return response

    logins = st.sampled_from([{}, *({"Authorization": f"Bearer {token}"} for token in tokens)])
    settings = hypothesis.settings(
        max_examples=examples // 2, deadline=None, database=None, suppress_health_check=list(hypothesis.HealthCheck)
    )

    @hypothesis.seed(seed)
    @settings
    @hypothesis.given(
        st.sampled_from(known), st.sampled_from(NAMES), logins, headers, st.sampled_from(FORMS), st.data()
    )
    def wrong_values(
        operation: Operation, name: str, login: dict[str, str], sent: dict[str, str], form: str, data: st.DataObject
    ) -> None:
        fields = st.sampled_from(operation.fields) if operation.fields else st.text(max_size=10)
        body = data.draw(st.dictionaries(fields, values, max_size=8))
        send(operation, name, json.dumps(body).encode(), {"Content-Type": form, **login, **sent})

    @hypothesis.seed(seed)
    @settings
    @hypothesis.given(st.sampled_from([one for one in known if one.needs_body]), logins, headers, no_objects)
    def no_object(operation: Operation, login: dict[str, str], sent: dict[str, str], body: bytes) -> None:
        response = send(operation, "1", body, {"Content-Type": "application/json", **sent, **login})
        assert 400 <= response.status_code < 500, response.get_data(as_text=True)

    wrong_values()
    no_object()
    return statuses
