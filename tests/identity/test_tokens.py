"""Access tokens: every invalid token gives 401, because clients refresh after a 401."""

import base64
import json
import time
import uuid

import jwt

from app.core.database.session import db
from app.core.settings import settings
from app.identity import sessions, tokens
from app.identity.models import Role, RoleName
from tests.conftest import config_for_tests
from tests.helpers.client import assert_error
from tests.helpers.factories import PASSWORD, make_user


def claims_of(user, **changes):
    """Return the claims of a valid token for a live session of `user`."""
    good = jwt.decode(sessions.begin(user).access_token, options={"verify_signature": False})
    return {**good, **changes}


def sign(claims, key=None, algorithm="HS256", kid=None):
    own = settings.jwt_secret_keys[0]
    return jwt.encode(
        claims, own if key is None else key, algorithm=algorithm, headers={"kid": kid or tokens.key_id(own)}
    )


def test_an_access_token_contains_exactly_the_required_claims(client, siti):
    claims = claims_of(siti.user)
    assert set(claims) == set(tokens.CLAIMS)
    assert (claims["sub"], claims["role"], claims["roles"]) == (str(siti.id), "pasien", ["pasien"])
    assert claims["exp"] - claims["iat"] == 15 * 60


def _without(name):
    return lambda user: sign({k: v for k, v in claims_of(user).items() if k != name})


def _unsigned(user):
    parts = ({"alg": "none", "typ": "JWT", "kid": tokens.key_id(settings.jwt_secret_keys[0])}, claims_of(user))
    return ".".join(base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=").decode() for part in parts) + "."


def _signed_bytes(payload):
    own = settings.jwt_secret_keys[0]
    return jwt.PyJWS().encode(payload, own, algorithm="HS256", headers={"kid": tokens.key_id(own)})


FORGERIES = {
    "nonsense": lambda _: "nonsense",
    "not base64": lambda _: "ä.ö.ü",
    "no signature": _unsigned,
    "another key": lambda user: sign(claims_of(user), key="x" * 40),
    "a damaged signature": lambda user: sign(claims_of(user))[:-4] + "AAAA",
    "another algorithm": lambda user: sign(claims_of(user), algorithm="HS384"),
    "unknown key id": lambda user: sign(claims_of(user), kid="123456789abc"),
    "expired": lambda user: sign(claims_of(user, exp=int(time.time()) - 60)),
    "not yet valid": lambda user: sign(claims_of(user, nbf=int(time.time()) + 600)),
    "from the future": lambda user: sign(claims_of(user, iat=int(time.time()) + 600)),
    "another issuer": lambda user: sign(claims_of(user, iss="somebody")),
    "another audience": lambda user: sign(claims_of(user, aud="somebody")),
    "another session": lambda user: sign(claims_of(user, sid=str(uuid.uuid4()))),
    "session is no uuid": lambda user: sign(claims_of(user, sid="x")),
    "subject is no number": lambda user: sign(claims_of(user, sub="siti")),
    "subject is huge": lambda user: sign(claims_of(user, sub="9" * 30)),
    "somebody else": lambda user: sign(claims_of(user, sub=str(user.id + 1))),
    "a refresh token": lambda user: sign(claims_of(user, type="refresh")),
    "jti is null": lambda user: sign(claims_of(user, jti=None)),
    "never expires": lambda user: sign(claims_of(user, exp=None)),
    "claims are a list": lambda _: _signed_bytes(b"[]"),
    "very long": lambda user: sign(claims_of(user, jti="x" * 10_000)),
    **{f"no {name}": _without(name) for name in tokens.CLAIMS},
}


def test_a_user_without_a_role_can_log_in_and_refresh(client, siti, admin):
    """An administrator may remove a person's last role. The person can still log in and read their profile."""
    assert admin.put(f"/admins/users/{siti.id}", {"role_ids": []}).json["role"] is None
    tokens_of = client.post("/login", {"username": "siti", "password": PASSWORD}).json
    assert client.with_token(tokens_of["access_token"]).get("/profile").json["roles"] == []
    anew = client.post("/refresh", {"refresh_token": tokens_of["refresh_token"]}).json["access_token"]
    assert client.with_token(anew).get("/profile").status_code == 200
    assert_error(client.with_token(anew).get("/admins"), 403, "forbidden")


def test_every_invalid_token_is_401_on_a_route_that_needs_a_token(client, siti, subtests):
    assert client.with_token(sign(claims_of(siti.user))).get("/profile").status_code == 200
    for name, forge in FORGERIES.items():
        with subtests.test(name):
            header = {"Authorization": f"Bearer {forge(siti.user)}".encode().decode("latin-1")}
            assert_error(client.get("/profile", headers=header), 401)


def test_an_invalid_token_or_header_is_401_also_where_a_token_is_optional(client, siti):
    forged = [f"Bearer {FORGERIES[name](siti.user)}" for name in ("a damaged signature", "no exp")]
    for header in (*forged, "Bearer", "Bearer ", "Basic c2l0aTp4", ", ,", "Token x", "bearer\tx", "Bearer a b"):
        for path in ("/profile", "/forum/threads"):
            assert_error(client.get(path, headers={"Authorization": header}), 401, "invalid_token")


def test_a_token_in_a_cookie_or_in_the_query_is_ignored(client, siti):
    token = sessions.begin(siti.user).access_token
    assert_error(client.get("/profile", headers={"Cookie": f"access_token_cookie={token}"}), 401, "unauthorized")
    assert_error(client.get("/profile", query_string={"jwt": token}), 401, "unauthorized")


def test_a_public_route_ignores_an_invalid_token(client):
    assert client.with_token("nonsense").get("/kategori").status_code == 200


def test_the_first_key_signs_tokens_and_an_older_key_still_verifies_them(app, client, siti, monkeypatch):
    old = siti
    keys = ",".join(["n" * 40, *settings.jwt_secret_keys])
    monkeypatch.setitem(app.extensions, "config", config_for_tests(JWT_SECRET_KEYS=keys))
    assert old.get("/profile").status_code == 200
    new = sessions.begin(siti.user).access_token
    assert jwt.get_unverified_header(new)["kid"] == tokens.key_id("n" * 40)
    monkeypatch.setitem(app.extensions, "config", config_for_tests(JWT_SECRET_KEYS="n" * 40))
    assert client.with_token(new).get("/profile").status_code == 200
    assert_error(old.get("/profile"), 401, "invalid_token")


def test_role_names_one_of_several_roles(client):
    for name in ("perawat", "ahli gizi"):
        db.session.add(Role(name=name))
        db.session.flush()
    for roles, role in (
        (("superadmin", "admin", "pasien"), "admin"),
        (("superadmin", "pendamping"), "superadmin"),
        (("pasien", "pendamping"), "pendamping"),
        (("perawat", "ahli gizi", "pasien"), "pasien"),
        (("perawat", "ahli gizi"), "perawat"),  # the first by id
    ):
        person = client.as_(make_user(*roles))
        assert person.get("/profile").json["role"] == role
        fresh = sessions.begin(person.user).access_token
        assert jwt.decode(fresh, options={"verify_signature": False})["role"] == role


def test_a_superadmin_token_expires_after_15_minutes(client):
    token = sessions.begin_superadmin(make_user("admin", "superadmin"))
    claims = jwt.decode(token, options={"verify_signature": False})
    assert claims["role"] == RoleName.SUPERADMIN
    assert claims["exp"] - claims["iat"] == 15 * 60
