"""What others may keep: public reads that declare it, and nothing of a person."""

from __future__ import annotations

import re

import pytest
from flask import Flask

from app.core.web.blueprint import Blueprint
from app.core.web.caching import cached
from app.identity.access import authenticated, optional, public
from config import ROOT
from tests.architecture.table import ACCESS, NOT_KEPT, PUBLIC_READS
from tests.helpers.client import Client


def kept(app: Flask) -> set[str]:
    """The routes that declare caching."""
    return {
        f"GET {rule.rule.removeprefix('/api')}"
        for rule in app.url_map.iter_rules()
        if hasattr(app.view_functions[rule.endpoint], "caching")
    }


def test_every_public_read_is_kept_or_says_why_not(real_app: Flask) -> None:
    assert kept(real_app) == PUBLIC_READS - set(NOT_KEPT)
    assert set(NOT_KEPT) <= PUBLIC_READS


@pytest.mark.parametrize(("method", "access"), [("get", authenticated), ("post", public), ("delete", optional)])
def test_what_is_not_a_public_read_cannot_declare_caching(method: str, access: object) -> None:
    bp = Blueprint("broken", __name__)

    @access  # type: ignore[operator]
    @cached(60)
    def view() -> None: ...

    with pytest.raises(TypeError, match="only a public read"):
        getattr(bp, method)("/broken")(view)


def test_the_document_tells_which_reads_are_kept(client: Client, real_app: Flask) -> None:
    paths = client.get("/api/openapi.json").json["paths"]
    gets = {path: item["get"]["responses"] for path, item in paths.items() if "get" in item}
    reads = {path: responses for path, responses in gets.items() if "304" in responses}
    assert len(reads) == len(kept(real_app))
    for path, responses in reads.items():
        for status in ("200", "304"):
            assert {"Cache-Control", "ETag"} <= set(responses[status]["headers"]), path
    assert set(reads["/api/kategori"]["200"]["headers"]) == {"X-Total-Count", "Link", "Cache-Control", "ETag"}


NGINX = (ROOT / "deploy/nginx.conf").read_text()


def _example(route: str) -> str:
    return "/api" + re.sub(r"<(?!int:)[^>]*>", "a-b_c", re.sub(r"<int:\w+>", "12", route.removeprefix("GET ")))


def test_nginx_keeps_what_declares_it_and_nothing_else(real_app: Flask) -> None:
    (pattern,) = re.findall(r'location ~ "(\S+)" \{\s+error_page 418 = @web;', NGINX)
    reads = {route for route in ACCESS if route.startswith("GET ")}
    for slash in ("", "/"):
        assert {route for route in reads if re.search(pattern, _example(route) + slash)} == kept(real_app)


def test_nginx_passes_on_what_may_be_asked_of_them_and_nothing_else(client: Client) -> None:
    asked = {
        parameter["name"]: parameter["schema"].get("type")
        for item in client.get("/api/openapi.json").json["paths"].values()
        if "304" in item.get("get", {"responses": {}})["responses"]
        for parameter in item["get"].get("parameters", ())
        if parameter["in"] == "query"
    }
    maps = dict(re.findall(r'map \$args \$asked_(\w+) +\{ "~\(\?:\^\|&\)\(\?<\w+>(\w+)=\[\^&\]\*\)" ', NGINX))
    assert set(maps) == set(maps.values()) == set(asked)
    (line,) = re.findall(r'default "((?:\$asked_\w+)+)"', NGINX)
    assert line == "".join(f"$asked_{name}" for name in sorted(asked))
    (several,) = re.findall(r'"~\(\?:\^\|&\)\(([\w|]+)\)=\.\*&\\1=" 1;', NGINX)
    assert set(several.split("|")) == {name for name, kind in asked.items() if kind == "array"}
