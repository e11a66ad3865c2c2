"""Access rules of routes. Each route has one of these decorators:

- `public` ignores tokens.
- `optional` needs no token, but rejects an invalid token. The client then refreshes the token.
- `authenticated` needs a valid token. The person may have any role.
- `requires` needs a valid token of a person with one of the named roles.

Except for `public`, the session and the person's roles are read from the database for each request with a token.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeVar, cast

from flask import Flask, g, request
from werkzeug.local import LocalProxy

from app.core.errors import Forbidden, Unauthorized
from app.identity import audit, second_factor, tokens
from app.identity.models import PRIVILEGED, RoleName
from app.identity.sessions import Caller, get_caller

View = TypeVar("View", bound=Callable[..., object])

BEARER: dict[str, list[str]] = {"bearer": []}

#: Texts about access rules for the OpenAPI document, by name of the rule. `Rule.description` creates the texts of rules
#: with roles.
DESCRIPTIONS = {
    "public": "Needs no token.",
    "optional": "Needs no token; one that is sent must be valid.",
    "authenticated": "Needs a token.",
}


def init_app(app: Flask) -> None:
    app.config.update(tokens.OPTIONS)
    tokens.manager.init_app(app)


@dataclass(frozen=True)
class Rule:
    """The access rule of a route. `app.core.web.dispatch.around` enforces it before the route's code runs."""

    name: str
    roles: tuple[RoleName, ...] = ()

    @property
    def security(self) -> list[dict[str, list[str]]]:
        return {"public": [], "optional": [{}, BEARER]}.get(self.name, [BEARER])

    @property
    def description(self) -> str:
        return DESCRIPTIONS.get(self.name, f"Needs the role {' or '.join(self.roles)}.")

    def enforce(self) -> None:
        if self.name == "public":
            return
        full = sent_caller()
        if full is None:
            if self.name != "optional":
                raise Unauthorized
            return
        allowed = second_factor.allowed_roles(full.id, full.roles)
        g.caller = full if allowed is full.roles else replace(full, roles=allowed)
        if self.roles and not self._admits(g.caller):
            raise second_factor.setup_required() if self._admits(full) else Forbidden

    def record(self) -> None:
        """Record a DELETE request of an administrators' route in the audit log, unless the route has recorded it."""
        if not PRIVILEGED.isdisjoint(self.roles) and request.method == "DELETE" and not audit.is_recorded():
            audit.record(g.caller, audit.AuditAction.DELETED, request.path.removeprefix("/api/"))

    def _admits(self, caller: Caller) -> bool:
        if RoleName.SUPERADMIN in self.roles:
            return caller.is_superadmin
        # A super-admin may use all routes of administrators.
        return caller.has(*self.roles) or (RoleName.ADMIN in self.roles and caller.has(RoleName.SUPERADMIN))


def public(view: View) -> View:
    """Allow everybody, and ignore a token."""
    return _mark(view, Rule("public"))


def optional(view: View) -> View:
    """Allow everybody. If the request has a token, the token must be valid."""
    return _mark(view, Rule("optional"))


def authenticated(view: View) -> View:
    """Allow every caller who is logged in."""
    return _mark(view, Rule("authenticated"))


def requires(*roles: RoleName) -> Callable[[View], View]:
    """Allow callers who have one of `roles` at the time of the request."""
    return lambda view: _mark(view, Rule("roles", roles))


#: The person who sent the current request. Use this object only in routes that need a token.
caller: Caller = cast(Caller, LocalProxy(lambda: _required_caller()))  # noqa: PLW0108  # it is defined below


def superadmin() -> Caller:
    """Return the caller of the current request. Raise `Forbidden` if the caller has no super-admin session."""
    required = _required_caller()
    if not required.is_superadmin:
        raise Forbidden
    return required


def caller_id() -> int | None:
    """Return the id of the caller, or None if the request has no token."""
    current = optional_caller()
    return current.id if current else None


def optional_caller() -> Caller | None:
    """Return the caller of the current request, or None if the request has no token."""
    current: Caller | None = g.get("caller")
    return current


def by_caller() -> str:
    """Return the key for rate limits that count requests per person and not per IP address."""
    return f"user:{_required_caller().id}"


def _mark(view: View, rule: Rule) -> View:
    view.access = rule  # type: ignore[attr-defined]
    return view


def _required_caller() -> Caller:
    current = optional_caller()
    if current is None:
        raise Unauthorized
    return current


def sent_caller() -> Caller | None:
    """Return the owner of the request's token, or None if the request has no token."""
    header: str | None = request.environ.get("HTTP_AUTHORIZATION")
    if header is None or not header.strip():
        return None
    scheme, _, token = header.strip().partition(" ")
    if scheme.lower() != "bearer" or not token.strip():
        raise Unauthorized("Token tidak valid.", code="invalid_token")
    return get_caller(token.strip(), request.remote_addr)
