"""Caching rules: public reads declare caching, and personal responses are never cached."""

import re

import pytest

from app.core.web.blueprint import Blueprint
from app.core.web.caching import cached
from app.identity.access import authenticated, optional, public
from tests.architecture.table import ACCESS, NOT_KEPT, PUBLIC_READS
from tests.helpers.factories import make_user


def kept(app):
    return {
        f"GET {rule.rule.removeprefix('/api')}"
        for rule in app.url_map.iter_rules()
        if hasattr(app.view_functions[rule.endpoint], "caching")
    }


def test_every_public_read_declares_caching_or_is_a_listed_exception(real_app):
    assert kept(real_app) == PUBLIC_READS - set(NOT_KEPT)
    assert set(NOT_KEPT) <= PUBLIC_READS


@pytest.mark.parametrize(("method", "access"), [("get", authenticated), ("post", public), ("delete", optional)])
def test_only_a_public_read_can_declare_caching(method, access):
    bp = Blueprint("broken", __name__)

    @access
    @cached(60)
    def view(): ...

    with pytest.raises(TypeError, match="only a public read"):
        getattr(bp, method)("/broken")(view)


def test_the_openapi_document_describes_which_reads_are_cached(client, real_app):
    paths = client.get("/api/openapi.json").json["paths"]
    gets = {path: item["get"]["responses"] for path, item in paths.items() if "get" in item}
    reads = {path: responses for path, responses in gets.items() if "304" in responses}
    assert len(reads) == len(kept(real_app))


@pytest.mark.parametrize("identity", [None, "pasien", "admin"])
def test_only_declared_public_reads_without_a_token_allow_caching(client, real_app, identity):
    """nginx caches every response whose headers allow it, so all other responses must have `no-store`."""
    reads = kept(real_app)
    keepable = set()
    for route in ACCESS:
        # A new session for each call, because some routes end the session.
        reader = client.as_(make_user(identity)) if identity else client
        method, path = route.split(" ")
        path = re.sub(r"<int:\w+>", "999999999", re.sub(r"<(?!int:)[^>]*>", "tidak-ada", path))
        response = reader.open(method, path, None if method == "GET" else {})
        if response.headers["Cache-Control"] != "no-store":
            assert response.headers["Cache-Control"].startswith("public, max-age="), route
            assert response.status_code in (200, 404), route
            keepable.add(route)
    assert keepable <= (set() if identity else reads)
    assert bool(keepable) is (identity is None)
