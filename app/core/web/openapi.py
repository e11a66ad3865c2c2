"""What the OpenAPI document says beyond what flask-smorest makes of the decorators."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

#: The document, or a piece of it.
Document = dict[str, Any]


def complete(document: Document) -> None:
    """Change the document in place: bodies, pages, caching, limits, unknown fields, patterns."""
    _describe_bodies(document)
    _describe_pages(document)
    _describe_caching(document)
    _describe_limits(document)
    _allow_unknown_fields(document)
    _translate_patterns(document)


def _operations(document: Document) -> Iterator[Document]:
    for path in document["paths"].values():
        yield from (each for name, each in path.items() if name != "parameters")  # those of the address itself


def _describe_bodies(document: Document) -> None:
    """A body is needed when one of its fields is; a multipart route takes plain JSON too, when there is no file."""
    schemas = document["components"]["schemas"]
    for body in (op["requestBody"] for op in _operations(document) if "requestBody" in op):
        content = body["content"]
        schema = next(iter(content.values()))["schema"]
        body["required"] = bool(schemas.get(schema.get("$ref", "").rpartition("/")[2], schema).get("required"))
        if "multipart/form-data" in content:
            content["application/json"] = dict(content["multipart/form-data"])


#: What a paged list tells beside its rows.
PAGE_HEADERS = {
    "X-Total-Count": {"description": "Rows on all pages", "schema": {"type": "integer"}},
    "Link": {
        "description": "RFC 8288: first, prev, next and last page, as paths relative to this address",
        "schema": {"type": "string"},
    },
}


def _describe_pages(document: Document) -> None:
    for op in _operations(document):
        if any(parameter["name"] == "per_page" for parameter in op.get("parameters", ())):
            op["responses"]["200"]["headers"] = dict(PAGE_HEADERS)


#: What the good answer to a request without a token tells caches; every other says `no-store`.
CACHING_HEADERS = {
    "Cache-Control": {
        "description": "Without a token, for how long a copy may be kept and shown; with one, `no-store`",
        "schema": {"type": "string"},
    },
    "ETag": {"description": "Without a token, names this body for `If-None-Match`", "schema": {"type": "string"}},
}


def _describe_caching(document: Document) -> None:
    for op in _operations(document):
        if "304" in op["responses"]:
            for status in ("200", "304"):
                op["responses"][status].setdefault("headers", {}).update(CACHING_HEADERS)


#: What the response of a limited route tells, this one and the others; the proxy's own 429 has `Retry-After` alone.
LIMIT_HEADERS = {
    "Retry-After": {"description": "Seconds to wait", "schema": {"type": "integer"}},
    "RateLimit-Policy": {
        "description": "draft-ietf-httpapi-ratelimit-headers: the route's limits, each with its quota (q) and window in"
        " seconds (w); on every response of a limited route",
        "schema": {"type": "string", "examples": ['"10 per 5 minute";q=10;w=300']},
    },
    "RateLimit": {
        "description": "What is left of each (r), and in how many seconds there is room for more (t); likewise",
        "schema": {"type": "string", "examples": ['"10 per 5 minute";r=0;t=42']},
    },
}


def _describe_limits(document: Document) -> None:
    document["components"]["responses"]["TOO_MANY_REQUESTS"]["headers"] = LIMIT_HEADERS


def _allow_unknown_fields(document: Document) -> None:
    """Say of all that is sent what the parser does: fields that it does not know are ignored."""
    waiting = [op["requestBody"] for op in _operations(document) if "requestBody" in op]
    seen: set[str] = set()
    while waiting:
        match waiting.pop():
            case {"$ref": str(ref)}:
                name = ref.rpartition("/")[2]
                if name not in seen:
                    seen.add(name)
                    waiting.append(document["components"]["schemas"][name])
            case dict() as node:
                if node.get("additionalProperties") is False:
                    del node["additionalProperties"]
                waiting.extend(node.values())
            case list() as nodes:
                waiting.extend(nodes)


def _translate_patterns(node: object) -> None:
    """Python matches from the start and has its own word for the end; the document's patterns are JavaScript's."""
    match node:
        case dict():
            if isinstance(node.get("pattern"), str):
                node["pattern"] = "^" + node["pattern"].removeprefix("^").replace(r"\Z", "$")
            for each in node.values():
                _translate_patterns(each)
        case list():
            for each in node:
                _translate_patterns(each)
