"""Comparison of responses with the OpenAPI document. The test client compares every response."""

import re
from functools import cache
from typing import Any

import orjson
from jsonschema_rs import Draft202012Validator
from werkzeug.exceptions import HTTPException

from app.core.web.blueprint import PREFIX, api

#: A part of the OpenAPI document, as parsed JSON.
Node = dict[str, Any]

#: Responses of an unknown address or method. The document has no operation for them.
ELSEWHERE = {"responses": {"default": "DEFAULT_ERROR"}}


def check(app, response):
    """Fail if the document does not describe the status, type, body or headers of this response."""
    request = response.request
    if not request.path.startswith(PREFIX + "/") or request.method == "OPTIONS":
        return
    operation = _operation(app, request.method, request.path)
    if operation is None:
        return
    try:
        _check(operation, response)
    except AssertionError as error:
        raise AssertionError(f"{request.method} {request.path} -> {response.status_code}: {error}") from None


def answer_fields(method, path):
    """Return the names of all fields in successful responses of a route. `path` is written as in the access table."""
    operation = _operations()[PREFIX + re.sub("<[^>]*>", "{}", path), method.lower()]
    answers = [_resolved(answer) for status, answer in operation["responses"].items() if str(status).startswith("2")]
    return _fields(answers, frozenset())


def _fields(node, seen):
    if isinstance(node, list):
        return {name for part in node for name in _fields(part, seen)}
    if not isinstance(node, dict):
        return set()
    if "$ref" in node:
        return set() if node["$ref"] in seen else _fields(_resolved(node), seen | {node["$ref"]})
    properties = node.get("properties", {})
    return {*(properties if isinstance(properties, dict) else ()), *_fields(list(node.values()), seen)}


def _check(operation, response):
    status = str(response.status_code)
    described = operation["responses"].get("default" if status >= "400" else status)
    assert described is not None, f"a status that the document does not know: {response.text[:300]}"
    described = _resolved(described)
    if response.request.method != "HEAD":
        _check_body(described.get("content"), response)


def _check_body(content, response):
    if content is None:
        assert not response.data, f"a body where the document knows none: {response.text[:300]}"
        return
    assert response.mimetype in content, f"an unknown type {response.mimetype}"
    if response.mimetype == "application/json":
        faults = _faults(orjson.dumps(content[response.mimetype]["schema"]), orjson.loads(response.data))
        assert not faults, f"a body that is not as the document says: {faults}"


def _faults(schema, body):
    validator = _validator(schema)
    if validator.is_valid(body):
        return ""
    return "; ".join(
        f"{'/'.join(map(str, each.instance_path))}: {each.message}" for each in validator.iter_errors(body)
    )


def _operation(app, method, path):
    """Return the document's operation for a request.

    Return None for paths that the document does not describe, such as its own path.
    """
    try:
        rule, _ = app.url_map.bind("").match(path, method, return_rule=True)
    except HTTPException:
        return ELSEWHERE
    if "." not in rule.endpoint or rule.endpoint.startswith(("api-docs.", "swagger_ui.")):
        return None
    shape = re.sub("<[^>]*>", "{}", rule.rule)
    return _operations()[shape, method.replace("HEAD", "GET").lower()]


@cache
def _operations():
    return {
        (re.sub(r"\{\w+\}", "{}", path), method): operation
        for path, item in _document()["paths"].items()
        for method, operation in item.items()
    }


@cache
def _validator(schema):
    asked = {**orjson.loads(schema), "components": _document()["components"]}
    return Draft202012Validator(asked, validate_formats=True)


@cache
def _document():
    return api.spec.to_dict()


def _resolved(node):
    """Return the definition of a response or a header, after following its reference."""
    if isinstance(node, str):
        node = {"$ref": f"#/components/responses/{node}"}
    if "$ref" not in node:
        return node
    _, _, kind, name = node["$ref"].split("/")
    return _document()["components"][kind][name]
