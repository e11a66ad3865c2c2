"""Checks of all routes: callers, records of others, statements, access log, caching, privileges, rate limits.

The test client compares each response with the OpenAPI document.
"""

import re

import pytest
import sqlalchemy as sa
from limits import parse_many

from app.core.database.session import db
from app.core.errors import TooManyRequests
from app.core.web.blueprint import api
from app.core.web.rate_limits import RateLimits
from app.forum.models import Post
from app.identity import sessions
from app.identity.access_log import AccessLogEntry
from app.identity.models import User
from app.pengingat.models import Pengingat
from tests.caregivers.dependents import keep
from tests.helpers.document import answer_fields
from tests.helpers.factories import make_admin, make_user
from tests.helpers.offenders import assert_none
from tests.routes.limits import ROUTE_LIMITS
from tests.routes.registry import NOT_KEPT, PUBLIC_READS, ROUTES, routes
from tests.routes.requests import send, undone
from tests.routes.world import PRIVATE

pytestmark = pytest.mark.takes(seconds=25)

PEOPLE = {"pasien", "pendamping", "pendamping of a dependent", "admin", "superadmin", "superadmin console"}
#: Allowed callers for each access value of the registry. Other callers get 401 without a token and 403 with a token.
LETS_IN = {
    "public": {"nobody", *PEOPLE},
    "optional": {"nobody", *PEOPLE},
    "anybody": PEOPLE,
    "pasien": {"pasien"},
    "pendamping": {"pendamping", "pendamping of a dependent"},
    "admin": {"admin", "superadmin", "superadmin console"},
    "superadmin": {"superadmin console"},
}
#: Private fields of a person. A route that shows those of others adds an entry to their access log.
PRIVATE_FIELDS = {"email", "nomor_hp", "nik", "nama_samaran", "preferences"}


def assert_each(check, message, among=ROUTES):
    """Run a check for each route. It returns what is wrong, and its changes are undone."""
    faults = []
    for route in among:
        with undone():
            faults += [f"{route}: {fault}" for fault in [check(route, ROUTES[route])] if fault]
    assert_none(faults, message)


def test_the_registry_has_exactly_the_routes_of_the_application(real_app):
    assert set(ROUTES) == routes(real_app)


def test_every_good_request_succeeds_as_its_row_says(world, statements):
    """Compare the status, the number of statements and the new entries of the access log with the row."""
    logged = sa.select(AccessLogEntry.action).order_by(AccessLogEntry.id)
    before = len(db.session.scalars(logged).all())

    def check(route, row):
        seen = len(statements.seen)
        response = send(world, route)
        run = len(statements.seen) - seen
        if response.status_code != row.status:
            return f"{response.status_code} {response.text[:300]}"
        if run > row.sql:
            return f"{run} SQL statements, {row.sql} allowed"
        log = " ".join(db.session.scalars(logged).all()[before:])
        return log != row.logs and f"the access log says `{log}`"

    assert_each(check, "Correct the route, or its row in tests/routes/registry.py:")


def _login(client, identity):
    """Return a client of a person who has nothing to do with the world."""
    if identity == "nobody":
        return client
    user = make_user(identity.split(maxsplit=1)[0])
    if identity.endswith("dependent"):
        keep(client.as_(user))
    return client.as_superadmin(user) if identity.endswith("console") else client.as_(user)


@pytest.mark.parametrize("identity", ["nobody", *sorted(PEOPLE)])
def test_every_route_refuses_other_callers_and_hides_the_records_of_others(world, identity):
    caller = _login(world.nobody, identity)
    is_privileged = "admin" in identity

    def check(route, row):
        response = send(world, route, caller)
        status, kept = response.status_code, response.headers["Cache-Control"]
        if kept != "no-store" and not (identity == "nobody" and route in PUBLIC_READS - NOT_KEPT):
            return f"may be cached: {kept}"
        if identity not in LETS_IN[row.callers]:
            return status != (401 if identity == "nobody" else 403) and f"is answered {status}"
        if row.other and status != row.other and not (is_privileged and 403 in (status, row.other)):
            return f"the record of somebody else is answered {status}"
        if not row.other and row.callers != "admin" and status in (401, 403):
            return f"is answered {status}, {response.text[:200]}"
        return not is_privileged and PRIVATE.encode() in response.data and "tells a stranger the name"

    assert_each(check, f"What {identity} is answered:")


def test_an_unknown_record_is_404(world):
    def check(route, row):
        status = send(world, route, unknown=True).status_code
        return status != 404 and f"is answered {status}"

    named = [route for route in ROUTES if "<" in route and route != "PUT /province-config/<province>"]
    assert_each(check, "Nothing has the id in the path:", named)


@pytest.mark.parametrize("role", ["pasien", "pendamping", "admin"])
def test_nobody_but_a_caregiver_uses_the_id_of_a_dependent(world, role):
    stranger = world.nobody.as_(make_user(role))

    def check(route, row):
        response = send(world, route, stranger, query=f"patient_id={world.dependent_id}")
        if PRIVATE.encode() in response.data or b"Metformin" in response.data:
            return f"tells of the dependent: {response.text}"
        return "/pengingat" in route and response.status_code != 404 and f"is answered {response.status_code}"

    open_to_all = [r for r, row in ROUTES.items() if row.callers in ("anybody", "pendamping") and "/users/" not in r]
    assert_each(check, f"What a {role} is answered:", open_to_all)


def test_an_empty_filter_is_no_filter(world):
    """A form sends an empty text for an input that the user left blank."""
    paths = api.spec.to_dict()["paths"]

    def check(route, row):
        operation = paths["/api" + re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", route.split(" ")[1])]["get"]
        named = {each["name"] for each in operation.get("parameters", ()) if each["in"] == "query"}
        response = send(world, route, query="&".join(f"{name}=" for name in named if f"{name}=" not in row.query))
        return response.status_code != row.status and response.text

    reads = [r for r in ROUTES if r.startswith("GET ") and r != "GET /admins/<username>"]
    assert_each(check, "Every optional parameter is empty:", reads)


@pytest.mark.parametrize("kind", ["bad", "of a session that has ended"])
def test_an_invalid_token_gets_401_on_every_route_that_is_not_public(world, kind):
    siti = world.nobody.as_(make_user())
    if kind == "bad":
        stranger = world.nobody.with_token("not.a.token")
    else:
        sessions.end_all(siti.id)
        stranger = siti

    def check(route, row):
        status = send(world, route, stranger).status_code
        return (status == 401) == (row.callers == "public") and f"is answered {status}"

    assert_each(check, f"A token that is {kind}:")


def test_every_public_read_declares_caching_or_says_why_not(real_app):
    views = real_app.view_functions
    cached = (rule.rule for rule in real_app.url_map.iter_rules() if hasattr(views[rule.endpoint], "caching"))
    kept = {f"GET {path.removeprefix('/api')}" for path in cached}
    assert kept == PUBLIC_READS - NOT_KEPT
    assert PUBLIC_READS.issuperset(route for route, row in ROUTES.items() if row.uncached)


def test_no_other_route_has_private_fields_in_its_response():
    """Routes of administrators, and of the caller's own data, may have them."""
    others = [r for r, row in ROUTES.items() if row.callers != "admin" and not re.match(r"\w+ /(profile|register)", r)]
    shown = {route: sorted(PRIVATE_FIELDS & answer_fields(*route.split(" "))) for route in others}
    assert_none(
        (f"{route} answers with {fields}" for route, fields in shown.items() if fields), "Leave an entry in the log:"
    )


def test_a_route_whose_rate_limit_is_exceeded_returns_429(world, monkeypatch, limited):
    def check(route, _):
        for rate in ROUTE_LIMITS[route].split(", "):
            with monkeypatch.context() as patch:
                for name in ("hit", "test"):
                    patch.setattr(RateLimits, name, _full(getattr(RateLimits, name), parse_many(rate)))
                if (status := send(world, route).status_code) != 429:
                    return f"is answered {status} beyond {rate}"
        return None

    assert_each(check, "Correct the limit, or its row in tests/routes/limits.py:", ROUTE_LIMITS)


def _full(check, items):
    def is_full(self, item, *key):
        if item in items:
            raise TooManyRequests(retry_after=1)
        check(self, item, *key)

    return is_full


def test_additional_fields_of_a_body_give_no_privileges(world):
    """Send fields that would give a privilege or another identity, with each body of people without privileges."""
    admin = make_admin()
    words = {
        "id": admin.id, "user_id": admin.id, "author_id": admin.id, "owner_id": admin.id, "created_by": admin.id,
        "is_verified": True, "is_admin": True, "is_superadmin": True, "is_owner": True, "is_editable": True,
        "admin": True, "verified": True, "roles": ["admin"], "kind": "superadmin", "sid": "x",
        "password_hash": "x", "accepts_broadcasts": False, "phone_invalid_at": None,
        "likes_count": 9999, "saves_count": 9999, "replies_count": 9999,
        "created_at": "2000-01-01T00:00:00Z", "planned_until": "2000-01-01T00:00:00Z",
    }  # fmt: skip
    known = set(db.session.scalars(sa.select(User.id)))

    def privileges():
        """Return the privileges of known people, and new people and records that have too many."""
        db.session.expire_all()
        users = db.session.scalars(sa.select(User)).all()
        rows = {user.id: (user.is_verified, user.role_names, user.created_at) for user in users if user.id in known}
        above = [user.id for user in users if user.id not in known and (user.is_verified or user.role != "pasien")]
        owners = {*db.session.scalars(sa.select(Post.user_id)), *db.session.scalars(sa.select(Pengingat.user_id))}
        forged = [user.id for user in users if user.password_hash == "x" or (user.id == admin.id and user.id in owners)]
        return rows, above, forged, db.session.scalar(sa.select(sa.func.max(Post.likes_count))) > 100

    before = privileges()
    bodies = [
        r for r, row in ROUTES.items() if "admin" not in row.callers and not isinstance(row.body, (bytes, type(None)))
    ]

    def check(route, _):
        send(world, route, extra=words)
        return privileges() != before and "gives a privilege"

    assert len(bodies) > 20
    assert_each(check, "Fields that the schema does not name:", bodies)
