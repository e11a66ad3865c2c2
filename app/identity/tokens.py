"""Access tokens (signed, short), and the opaque tokens that are stored hashed (refresh, password reset).

PyJWT is used directly: every failure is one `Unauthorized`, every claim is required, and the algorithm is ours alone.
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
from typing import Any

import jwt

from app.core.errors import Unauthorized
from app.core.lib.clock import now
from app.core.settings import settings

ISSUER = "health-support"
AUDIENCE = "health-support-api"
ALGORITHM = "HS256"
CLAIMS = ("sub", "role", "roles", "sid", "jti", "iat", "nbf", "exp", "iss", "aud")

#: A user's id, which a 64-bit column holds.
SUBJECT = re.compile(r"[1-9][0-9]{0,17}")

#: By how much the clocks of two machines may differ.
LEEWAY_S = 5

#: A header longer than this is nobody's token.
MAX_TOKEN_LENGTH = 4096


@dataclass(frozen=True)
class AccessToken:
    """What a verified access token says; the session row decides whether it still holds."""

    user_id: int
    session_id: uuid.UUID


def issue_access(
    *, user_id: int, role: str | None, roles: list[str], session_id: uuid.UUID, lifetime: timedelta
) -> str:
    """A signed access token for one session."""
    moment = now()
    claims: dict[str, Any] = {
        "sub": str(user_id),
        "role": role,
        "roles": roles,
        "sid": str(session_id),
        "jti": uuid.uuid4().hex,
        "iat": moment,
        "nbf": moment,
        "exp": moment + lifetime,
        "iss": ISSUER,
        "aud": AUDIENCE,
    }
    key = settings.jwt_secret_keys[0]
    return jwt.encode(claims, key, algorithm=ALGORITHM, headers={"kid": key_id(key)})


def read_access(token: str) -> AccessToken:
    """Verify signature and claims; `Unauthorized` for every way in which a token can be wrong."""
    verified, expires_at = _verified(token, settings.jwt_secret_keys)
    if expires_at + LEEWAY_S <= time():
        raise _expired()
    return verified


@lru_cache(maxsize=4096)
def _verified(token: str, keys: tuple[str, ...]) -> tuple[AccessToken, int]:
    """What a token says, and until when (seconds since 1970). Neither a signature nor a claim changes with time."""
    try:
        if len(token) > MAX_TOKEN_LENGTH:
            raise Unauthorized(code="invalid_token")
        kid = jwt.get_unverified_header(token).get("kid")
        key = next(key for key in keys if key_id(key) == kid)
        claims = jwt.decode(
            token,
            key,
            algorithms=[ALGORITHM],
            issuer=ISSUER,
            audience=AUDIENCE,
            options={"require": list(CLAIMS)},
            leeway=LEEWAY_S,
        )
        if not SUBJECT.fullmatch(claims["sub"]):
            raise Unauthorized("Token tidak valid.", code="invalid_token")
        return AccessToken(user_id=int(claims["sub"]), session_id=uuid.UUID(claims["sid"])), claims["exp"]
    except jwt.ExpiredSignatureError:
        raise _expired() from None
    except (jwt.PyJWTError, StopIteration, ValueError, TypeError, AttributeError, RecursionError):
        raise Unauthorized("Token tidak valid.", code="invalid_token") from None


def _expired() -> Unauthorized:
    return Unauthorized("Sesi telah berakhir. Silakan masuk kembali.", code="token_expired")


def key_id(key: str) -> str:
    """The public name of a signing key, so that a rotated one is found without trying all."""
    return hashlib.sha256(b"kid:" + key.encode()).hexdigest()[:12]


def new_opaque() -> str:
    """256 random bits for a refresh token or a reset code."""
    return secrets.token_urlsafe(32)


def digest(opaque: str) -> str:
    """What is stored of an opaque token. It is random, so a plain hash is enough."""
    return hashlib.sha256(opaque.encode("utf-8", "replace")).hexdigest()
