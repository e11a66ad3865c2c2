"""Who may call what: a table of all routes. A route without a row fails, and so does a row without a route."""

from __future__ import annotations

import pytest
from flask import Flask

from app.core.web.blueprint import Blueprint
from app.identity import sessions
from app.identity.access import authenticated_reader
from app.identity.models import RoleName
from tests.architecture.table import ACCESS
from tests.client import Client
from tests.factories import make_user

#: Whom each word of the table lets in; everybody else gets 401 without a token, 403 with one.
LETS_IN = {
    "public": {"nobody", "pasien", "pendamping", "admin", "superadmin", "superadmin console"},
    "optional": {"nobody", "pasien", "pendamping", "admin", "superadmin", "superadmin console"},
    "anybody": {"pasien", "pendamping", "admin", "superadmin", "superadmin console"},
    "pasien": {"pasien"},
    "pendamping": {"pendamping"},
    "admin": {"admin", "superadmin", "superadmin console"},
    "superadmin": {"superadmin console"},
}

#: In this order all of them meet every route; `superadmin` came through `/login`, the console through its own.
IDENTITIES = ("nobody", "pasien", "pendamping", "admin", "superadmin", "superadmin console")


#: The OpenAPI document, its page, and where a program begins.
NO_SECTION = ("api-docs.", "swagger_ui.", "list_entry_points")


def routes(app: Flask) -> set[str]:
    return {
        f"{method} {rule.rule.removeprefix('/api')}"
        for rule in app.url_map.iter_rules()
        if rule.rule.startswith("/api/")
        and not rule.endpoint.startswith(("api-docs", "swagger_ui", "list_entry_points"))
        for method in (rule.methods or set()) - {"HEAD", "OPTIONS"}
    }


def test_the_table_names_every_route_and_no_other(real_app: Flask) -> None:
    assert set(ACCESS) == routes(real_app)


def _concrete(path: str) -> str:
    """The path with values that no record has."""
    import re

    return re.sub(r"<int:\w+>", "999999999", re.sub(r"<(?!int:)[^>]*>", "tidak-ada", path))


@pytest.mark.parametrize("route", ACCESS)
def test_a_route_lets_in_whom_the_table_names(client: Client, route: str) -> None:
    method, path = route.split(" ")
    clients = {"nobody": client}
    for role in RoleName:
        clients[role.value] = client.as_(make_user(role))
    clients["superadmin console"] = client.as_superadmin(make_user(RoleName.SUPERADMIN))
    for identity in IDENTITIES:
        # An empty body: whoever is let in gets 400 or 404 at the worst, and nothing happens.
        status = clients[identity].open(method, _concrete(path), None if method == "GET" else {}).status_code
        if identity in LETS_IN[ACCESS[route]]:
            assert status not in (401, 403) or (status == 403 and ACCESS[route] == "anybody"), (identity, status)
        else:
            assert status == (401 if identity == "nobody" else 403), (identity, status)


@pytest.mark.parametrize("route", ACCESS)
def test_a_bad_token_is_refused_wherever_tokens_count(client: Client, route: str) -> None:
    method, path = route.split(" ")
    status = client.with_token("bad").open(method, _concrete(path), None if method == "GET" else {}).status_code
    assert (status == 401) is (ACCESS[route] != "public"), status


@pytest.mark.parametrize("route", ACCESS)
def test_a_session_that_has_ended_is_refused_wherever_tokens_count(client: Client, route: str) -> None:
    method, path = route.split(" ")
    pair = sessions.begin(make_user())
    token = client.with_token(pair.access_token)
    assert token.post("/logout").status_code == 200
    status = token.open(method, _concrete(path), None if method == "GET" else {}).status_code
    assert (status == 401) is (ACCESS[route] != "public"), status


def test_a_create_asks_for_its_caller_before_the_view(app: Flask) -> None:
    """Its `Idempotency-Key` is looked for under their name."""
    bp = Blueprint("broken", __name__)

    @authenticated_reader
    @bp.response(201)
    def view() -> None: ...

    with pytest.raises(TypeError, match="has to know its caller"):
        bp.post("/broken")(view)
