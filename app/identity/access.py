"""Who may call a route: each says so with one of these decorators, next to its `@bp.get`.

`public` ignores tokens; `optional` accepts a valid one and refuses an invalid one, so that the client refreshes it;
`authenticated` needs any role (`optional_reader` and `authenticated_reader` are the same, asked in fewer round trips);
`requires` needs one of the named roles, read from the database for this request.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeVar, cast

from flask import Flask, g, request
from werkzeug.local import LocalProxy

from app.core.errors import Forbidden, Unauthorized
from app.identity import audit, second_factor, tokens
from app.identity.models import RoleName
from app.identity.sessions import Caller, Reader, reader_of

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
    #: Whether the view's own statement asks for the caller's session.
    is_deferred: bool = False

    @property
    def security(self) -> list[dict[str, list[str]]]:
        return {"public": [], "optional": [{}, BEARER]}.get(self.name, [BEARER])

    @property
    def description(self) -> str:
        return DESCRIPTIONS.get(self.name, f"Needs the role {' or '.join(self.roles)}.")

    def enforce(self) -> None:
        if self.name == "public":
            return
        g.reader = _sent_reader()
        if g.reader is None:
            if self.name != "optional":
                raise Unauthorized
            return
        if self.is_deferred:
            return
        full = g.reader.ask()
        allowed = second_factor.allowed_roles(full.id, full.roles)
        g.caller = full if allowed is full.roles else replace(full, roles=allowed)
        if self.roles and not self._admits(g.caller):
            raise second_factor.setup_required() if self._admits(full) else Forbidden

    def confirm(self) -> None:
        """Ask for the caller's session, where the view was to and has not."""
        if self.is_deferred and g.reader is not None:
            g.caller = g.reader.ask()

    def record(self) -> None:
        """Record a deletion that a role allowed in the audit log, unless the section has recorded it itself.

        A view that should have asked for the caller's session and has not answers nobody.
        """
        if self.is_deferred and g.reader is not None:
            if g.reader.caller is None:
                raise RuntimeError("nothing has asked for the caller's session")
            g.caller = g.reader.caller
        if self.roles and request.method == "DELETE" and not audit.is_recorded():
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


def optional_reader(view: View) -> View:
    """As `optional`, for a view whose own statement confirms the `reader`: that saves a round trip to the database."""
    return _mark(view, Rule("optional", is_deferred=True))


def authenticated(view: View) -> View:
    """Anybody who is logged in."""
    return _mark(view, Rule("authenticated"))


def authenticated_reader(view: View) -> View:
    """As `authenticated`, for a view whose own statement confirms the `reader`."""
    return _mark(view, Rule("authenticated", is_deferred=True))


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


def reader() -> Reader | None:
    """Who reads, on a route of `optional_reader` or `authenticated_reader`."""
    current: Reader | None = g.reader
    return current


def required_reader() -> Reader:
    """Who calls a route of `authenticated_reader`."""
    current = reader()
    if current is None:
        raise Unauthorized
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


def _sent_reader() -> Reader | None:
    header: str | None = request.environ.get("HTTP_AUTHORIZATION")
    if header is None or not header.strip():
        return None
    scheme, _, token = header.strip().partition(" ")
    if scheme.lower() != "bearer" or not token.strip():
        raise Unauthorized("Token tidak valid.", code="invalid_token")
    return reader_of(token.strip(), request.remote_addr)
