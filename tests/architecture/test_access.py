"""Access rules of all routes. Each route must have a row in the table, and each row must have a route."""

import re

import pytest

from app.identity import sessions
from tests.architecture.table import ACCESS, routes
from tests.caregivers.dependents import keep
from tests.helpers.factories import make_user
from tests.helpers.offenders import assert_none

PEOPLE = {"pasien", "pendamping", "pendamping of a dependent", "admin", "superadmin", "superadmin console"}
#: Allowed callers for each access value of the table. Other callers get 401 without a token and 403 with a token.
LETS_IN = {
    "public": {"nobody", *PEOPLE},
    "optional": {"nobody", *PEOPLE},
    "anybody": PEOPLE,
    "pasien": {"pasien"},
    "pendamping": {"pendamping", "pendamping of a dependent"},
    "admin": {"admin", "superadmin", "superadmin console"},
    "superadmin": {"superadmin console"},
}

#: Callers that the test uses for every route.
#:
#: `superadmin` has a session from `/login`, and `superadmin console` has one from `/superadmin/login`.
IDENTITIES = (
    "nobody",
    "pasien",
    "pendamping",
    "pendamping of a dependent",
    "admin",
    "superadmin",
    "superadmin console",
)


def test_the_access_table_has_exactly_the_routes_of_the_application(real_app):
    assert set(ACCESS) == routes(real_app)


def _status(client, route):
    """Call a route with an unknown id and an empty body, and return the status.

    An allowed caller gets a success, 400 or 404. No record is changed, but some routes end the session.
    """
    method, path = route.split(" ")
    path = re.sub(r"<int:\w+>", "999999999", re.sub(r"<(?!int:)[^>]*>", "tidak-ada", path))
    return client.open(method, path, None if method == "GET" else {}).status_code


def _login(client, identity):
    """Return a function that logs in again, because some routes end the session."""
    if identity == "nobody":
        return lambda: client
    user = make_user(identity.split(maxsplit=1)[0])
    if identity.endswith("dependent"):
        keep(client.as_(user))
    return lambda: client.as_superadmin(user) if identity.endswith("console") else client.as_(user)


def _is_right(identity, access, status):
    if identity not in LETS_IN[access]:
        return status == (401 if identity == "nobody" else 403)
    return status not in (401, 403) or (status == 403 and access == "anybody")


@pytest.mark.parametrize("identity", IDENTITIES)
def test_every_route_allows_only_the_callers_in_the_access_table(client, identity):
    login = _login(client, identity)
    statuses = {route: _status(login(), route) for route in ACCESS}
    assert_none(
        (
            f"{route} is for {ACCESS[route]}, and answers {identity} with {status}"
            for route, status in statuses.items()
            if not _is_right(identity, ACCESS[route], status)
        ),
        "Correct the decorator of the view, or its row in tests/architecture/table.py:",
    )


@pytest.mark.parametrize("kind", ["bad", "of a session that has ended"])
def test_an_invalid_token_gets_401_on_every_route_that_is_not_public(client, kind):
    wrong = client.with_token("bad" if kind == "bad" else sessions.begin(make_user()).access_token)
    assert kind == "bad" or wrong.post("/logout").status_code == 200
    statuses = {route: _status(wrong, route) for route in ACCESS}
    assert_none(
        (
            f"{route} is for {ACCESS[route]}, and answers a token {kind} with {status}"
            for route, status in statuses.items()
            if (status == 401) is (ACCESS[route] == "public")
        ),
        "A wrong token must give a 401, except on public routes, which read no token:",
    )
