"""Who may call a route: each says so with one of these decorators, next to its `@bp.get`.

`public` ignores tokens; `optional` accepts a valid one and refuses an invalid one, so that the client refreshes it;
`authenticated` needs any role; `requires` needs one of the named roles. Session and roles are read from the database
for this request, before anything else.
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

#: Of the rules that name no role, for the OpenAPI document.
DESCRIPTIONS = {
    "public": "Needs no token.",
    "optional": "Needs no token; one that is sent must be valid.",
    "authenticated": "Needs a token.",
}


def init_app(app: Flask) -> None:
    """Let the application issue and read access tokens."""
    app.config.update(tokens.OPTIONS)
    tokens.manager.init_app(app)


@dataclass(frozen=True)
class Rule:
    """A route's access rule: `app.core.web.edge.around` enforces it, `Blueprint` beside it documents it."""

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
        full = _sent_caller()
        if full is None:
            if self.name != "optional":
                raise Unauthorized
            return
        allowed = second_factor.allowed_roles(full.id, full.roles)
        g.caller = full if allowed is full.roles else replace(full, roles=allowed)
        if self.roles and not self._admits(g.caller):
            raise second_factor.setup_required() if self._admits(full) else Forbidden

    def record(self) -> None:
        """Record a deletion that a privileged role allowed in the audit log, unless the section has recorded it."""
        if not PRIVILEGED.isdisjoint(self.roles) and request.method == "DELETE" and not audit.is_recorded():
            audit.record(g.caller, audit.Action.DELETED, request.path.removeprefix("/api/"))

    def _admits(self, caller: Caller) -> bool:
        if RoleName.SUPERADMIN in self.roles:
            return caller.is_superadmin
        # A super-admin may do what an admin may.
        return caller.has(*self.roles) or (RoleName.ADMIN in self.roles and caller.has(RoleName.SUPERADMIN))


def public(view: View) -> View:
    """Anybody; a token that is sent is ignored."""
    return _mark(view, Rule("public"))


def optional(view: View) -> View:
    """Anybody; a token that is sent must be valid."""
    return _mark(view, Rule("optional"))


def authenticated(view: View) -> View:
    """Anybody who is logged in."""
    return _mark(view, Rule("authenticated"))


def requires(*roles: RoleName) -> Callable[[View], View]:
    """Everybody who has one of `roles` now."""
    return lambda view: _mark(view, Rule("roles", roles))


#: The caller of the present request, where the route needs one.
caller: Caller = cast(Caller, LocalProxy(lambda: _required_caller()))  # noqa: PLW0108  # it is defined below


def superadmin() -> Caller:
    """The caller, verified once more: `Forbidden` without a super-admin session, whatever the route's rule says."""
    required = _required_caller()
    if not required.is_superadmin:
        raise Forbidden
    return required


def caller_id() -> int | None:
    """The caller's id, on a route where a caller is optional."""
    current = optional_caller()
    return current.id if current else None


def optional_caller() -> Caller | None:
    """The caller, on a route where one is optional."""
    current: Caller | None = g.get("caller")
    return current


def by_caller() -> str:
    """The key of a rate limit that counts each person by themselves, wherever they call from."""
    return f"user:{_required_caller().id}"


def _mark(view: View, rule: Rule) -> View:
    view.access = rule  # type: ignore[attr-defined]
    return view


def _required_caller() -> Caller:
    current = optional_caller()
    if current is None:
        raise Unauthorized
    return current


def _sent_caller() -> Caller | None:
    """Return the holder of the token that the request sends; None when it sends none."""
    header: str | None = request.environ.get("HTTP_AUTHORIZATION")
    if header is None or not header.strip():
        return None
    scheme, _, token = header.strip().partition(" ")
    if scheme.lower() != "bearer" or not token.strip():
        raise Unauthorized("Token tidak valid.", code="invalid_token")
    return get_caller(token.strip(), request.remote_addr)
