"""Cache headers of public reads: lifetime, ETag and 304 responses."""

import hashlib

import pytest

from app.core.web.blueprint import Blueprint
from app.core.web.caching import cached
from app.identity.access import authenticated, optional, public
from tests.helpers.client import assert_error
from tests.helpers.factories import make_user

#: Expected `Cache-Control` by kind of route.
PEOPLE = "public, max-age=1, stale-while-revalidate=1, stale-if-error=600"
ADMINISTRATORS = "public, max-age=60, stale-while-revalidate=60, stale-if-error=600"
EMERGENCY = "public, max-age=60, stale-while-revalidate=60, stale-if-error=86400"

JAKARTA = "?lat=-6.2&lng=106.8"


LIFETIMES = {
    "/forum/threads": PEOPLE,
    "/forum/categories": PEOPLE,
    "/kategori": ADMINISTRATORS,
    "/roles": ADMINISTRATORS,
    "/articles/all": ADMINISTRATORS,
    "/videoplatform/videos": ADMINISTRATORS,
    "/komunitas": ADMINISTRATORS,
    "/dokter": ADMINISTRATORS,
    "/faskes": ADMINISTRATORS,
    "/provinces": EMERGENCY,
    f"/emergency/nearby{JAKARTA}": EMERGENCY,
    "/province-config/default": EMERGENCY,
}


def test_a_public_read_has_the_cache_control_of_its_kind_and_an_etag(admin, client):
    admin.put("/province-config/default", {"sections": [{"id": "video", "enabled": True}]})
    for path, line in LIFETIMES.items():
        response = client.get(path)
        assert (response.status_code, response.headers["Cache-Control"]) == (200, line), path
        assert response.headers["ETag"].startswith('"')


def test_a_response_to_a_token_is_no_store_and_has_no_etag(client):
    etag = client.get("/kategori").headers["ETag"]
    for someone in (client.as_(make_user()), client.with_token("bad")):
        response = someone.get("/kategori", headers={"If-None-Match": etag})
        assert (response.status_code, response.headers["Cache-Control"]) == (200, "no-store")
        assert "ETag" not in response.headers


def test_no_error_is_cacheable(client):
    for method, path, status in (
        ("GET", "/forum/threads?page=0", 400),
        ("GET", "/forum/threads?mine=true", 401),
        ("GET", "/forum/threads/999999", 404),
        ("GET", "/nowhere", 404),
        ("GET", "/profile", 401),
        ("DELETE", "/kategori", 405),
    ):
        response = client.open(method, path)
        assert_error(response, status)
        assert response.headers["Cache-Control"] == "no-store", path
        assert "ETag" not in response.headers, path


def test_only_a_request_with_the_hash_of_the_body_gets_304(client):
    first = client.get("/roles?per_page=1")
    assert first.headers["ETag"] == f'"{hashlib.sha1(first.data, usedforsecurity=False).hexdigest()}"'
    for method, sent in (("GET", "{}"), ("HEAD", "{}"), ("GET", "W/{}"), ("GET", '"other", W/{}'), ("GET", "*")):
        headers = {"If-None-Match": sent.format(first.headers["ETag"])}
        again = client.open(method, "/roles?per_page=1", headers=headers)
        assert (again.status_code, again.data) == (304, b""), (method, sent)
        assert not {"Content-Type", "Content-Length"} & set(again.headers.keys())
        for name in ("ETag", "Cache-Control", "Vary", "X-Total-Count", "Link"):
            assert again.headers[name] == first.headers[name]
    for sent in ('"other"', 'W/"other"', "", "garbage,,", '"'):
        response = client.get("/roles?per_page=1", headers={"If-None-Match": sent})
        assert (response.status_code, response.data) == (200, first.data), sent


def test_head_has_the_headers_of_get_and_no_body(client):
    get, head = client.get("/kategori"), client.open("HEAD", "/kategori")
    assert (head.status_code, head.data) == (200, b"")
    for name in ("ETag", "Cache-Control", "Content-Length", "X-Total-Count"):
        assert head.headers[name] == get.headers[name]


def test_only_a_public_read_can_declare_caching():
    for method, access in (("get", authenticated), ("post", public), ("delete", optional)):
        bp = Blueprint("broken", __name__)

        @access
        @cached(60)
        def view(): ...

        with pytest.raises(TypeError, match="only a public read"):
            getattr(bp, method)("/broken")(view)
