"""Access tokens, and opaque tokens for refreshes and password resets.

Access tokens are signed JWTs that expire soon. Every invalid token raises `Unauthorized`, every claim is required, and
HS256 is the only algorithm. The library flask-jwt-extended creates and verifies the tokens. The library's decorators
respond to some invalid tokens with status 500 or 422, and accept a token without expiry. So `app.identity.access`
replaces these decorators.
"""

from __future__ import annotations

import hashlib
import re
import secrets
import uuid
from dataclasses import dataclass
from datetime import timedelta
from functools import lru_cache
from time import time

import jwt
from flask_jwt_extended import JWTManager, create_access_token, decode_token
from flask_jwt_extended.exceptions import JWTExtendedException

from app.core.errors import Unauthorized
from app.core.settings import settings

ISSUER = "health-support"
AUDIENCE = "health-support-api"
TYPE = "access"
CLAIMS = ("sub", "role", "roles", "sid", "type", "fresh", "jti", "iat", "nbf", "exp", "iss", "aud")

#: Claims that may be null. `role` is null for a person without a role, who can still log in.
NULLABLE = frozenset({"role"})

#: Regular expression for the claim `sub`, the id of a user. Numbers of this length fit into a 64-bit column.
SUBJECT = re.compile(r"[1-9][0-9]{0,17}")

#: Number of seconds by which the clocks of two machines may differ.
LEEWAY_S = 5

#: Maximum characters of an access token. Longer tokens are rejected without a further check.
MAX_TOKEN_LENGTH = 4096

#: Settings of flask-jwt-extended. The library accepts only the algorithm in `JWT_ALGORITHM`.
OPTIONS: dict[str, object] = {
    "JWT_ALGORITHM": "HS256",
    "JWT_ENCODE_ISSUER": ISSUER,
    "JWT_DECODE_ISSUER": ISSUER,
    "JWT_ENCODE_AUDIENCE": AUDIENCE,
    "JWT_DECODE_AUDIENCE": AUDIENCE,
    "JWT_DECODE_LEEWAY": LEEWAY_S,
    "JWT_TOKEN_LOCATION": ["headers"],
    "JWT_COOKIE_CSRF_PROTECT": False,  # otherwise the library adds a claim for cookies
}

#: The manager object of flask-jwt-extended. `access.init_app` binds it to the application.
manager = JWTManager()


@dataclass(frozen=True)
class AccessToken:
    """Data of a verified access token. The caller must also check that the session has not ended."""

    user_id: int
    session_id: uuid.UUID


def issue_access(
    *, user_id: int, role: str | None, roles: list[str], session_id: uuid.UUID, lifetime: timedelta
) -> str:
    token: str = create_access_token(
        str(user_id),
        additional_claims={"role": role, "roles": roles, "sid": str(session_id)},
        additional_headers={"kid": key_id(settings.jwt_secret_keys[0])},
        expires_delta=lifetime,
    )
    return token


def read_access(token: str) -> AccessToken:
    """Verify an access token and return its data. Raise `Unauthorized` for an invalid or expired token."""
    verified, expires_at = _verified(token, settings.jwt_secret_keys)
    if expires_at + LEEWAY_S <= time():
        raise _expired()
    return verified


@lru_cache(maxsize=4096)
def _verified(token: str, _keys: tuple[str, ...]) -> tuple[AccessToken, int]:
    """Return a token's data and its expiry as Unix time in seconds. Results are cached for speed.

    The argument `_keys` is only a part of the cache key. So a change of the signing keys makes all cached results
    invalid.
    """
    try:
        if len(token) > MAX_TOKEN_LENGTH:
            raise Unauthorized(code="invalid_token")
        claims = decode_token(token)
        if claims["type"] != TYPE or not SUBJECT.fullmatch(claims["sub"]):
            raise Unauthorized("Token tidak valid.", code="invalid_token")
        return AccessToken(user_id=int(claims["sub"]), session_id=uuid.UUID(claims["sid"])), int(claims["exp"])
    except jwt.ExpiredSignatureError:
        raise _expired() from None
    except (jwt.PyJWTError, JWTExtendedException, ValueError, TypeError, AttributeError, RecursionError):
        raise Unauthorized("Token tidak valid.", code="invalid_token") from None


@manager.encode_key_loader
def _signing_key(_identity: str) -> str:
    return settings.jwt_secret_keys[0]


@manager.decode_key_loader
def _verification_key(header: dict[str, object], claims: dict[str, object]) -> str:
    """Return the key that the token names in its header `kid`. Raise an error if a claim is missing.

    Claims are checked here, because `decode_token` adds a missing `type`, `fresh` or `jti`, and does not require `exp`.
    Afterwards the library verifies the signature.
    """
    for name in CLAIMS:
        if claims.get(name) is None and not (name in claims and name in NULLABLE):
            raise jwt.MissingRequiredClaimError(name)
    for key in settings.jwt_secret_keys:
        if key_id(key) == header.get("kid"):
            return key
    raise jwt.InvalidTokenError("no such key")


def _expired() -> Unauthorized:
    return Unauthorized("Sesi telah berakhir. Silakan masuk kembali.", code="token_expired")


def key_id(key: str) -> str:
    """Return the public id of a signing key. Tokens have this id in their header `kid`."""
    return hashlib.sha256(b"kid:" + key.encode()).hexdigest()[:12]


def new_opaque() -> str:
    """Return a new random token of 256 bits, for refreshes or password resets."""
    return secrets.token_urlsafe(32)


def digest(opaque: str) -> str:
    """Return the SHA-256 of an opaque token for storage. The hash needs no salt, because the token is random."""
    return hashlib.sha256(opaque.encode("utf-8", "replace")).hexdigest()
