"""Login sessions: begin, refresh, end. How long a session lasts depends on the roles that its person has now."""

from __future__ import annotations

import uuid
from collections.abc import Collection
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import timedelta
from functools import lru_cache

import orjson
import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY

from app.core.database.prepared import PreparedStatement
from app.core.database.session import autocommit, db
from app.core.errors import NotFound, Unauthorized
from app.core.lib.clock import now
from app.core.settings import current, settings
from app.identity import tokens
from app.identity.models import (
    PRIVILEGED,
    LoginSession,
    PasswordReset,
    PhoneVerification,
    Role,
    RoleName,
    SessionKind,
    User,
    highest,
    user_roles,
)
from config import Config

NOT_FOUND = "Perangkat tidak ditemukan."

#: A table of `app.push`, which this package cannot import.
_subscriptions = sa.table("push_subscriptions", *(sa.column(name) for name in ("user_id", "session_id", "is_verified")))


@dataclass(frozen=True)
class Caller:
    """Who makes the request, with the roles that the database has for them now."""

    id: int
    roles: frozenset[str]
    session_id: uuid.UUID
    kind: SessionKind
    #: The address that the request came from, for the audit log.
    ip: str | None = None

    def has(self, *names: str) -> bool:
        return not self.roles.isdisjoint(names)

    @property
    def is_superadmin(self) -> bool:
        """Whether the caller holds a super-admin session; the role alone, from `/login`, is not enough."""
        return self.kind is SessionKind.SUPERADMIN and RoleName.SUPERADMIN in self.roles


@dataclass(frozen=True)
class TokenPair:
    access_token: str
    refresh_token: str


def ended() -> Unauthorized:
    """Return the error that a caller gets whose session has ended."""
    return Unauthorized("Sesi telah berakhir. Silakan masuk kembali.", code="session_ended")


def begin(user: User, device: str | None = None) -> TokenPair:
    """Log `user` in on one more device, of this plain name."""
    refresh = tokens.new_opaque()
    session = LoginSession(
        id=uuid.uuid4(), user_id=user.id, kind=SessionKind.USER, refresh_hash=tokens.digest(refresh), device=device
    )
    db.session.add(session)
    db.session.flush()
    delete_expired(user.id)
    return TokenPair(_access(user.id, user.role_names, session.id), refresh)


def begin_superadmin(user: User, device: str | None = None) -> str:
    """A super-admin session: one short access token, no refresh."""
    session = LoginSession(id=uuid.uuid4(), user_id=user.id, kind=SessionKind.SUPERADMIN, device=device)
    db.session.add(session)
    db.session.flush()
    return _access(user.id, user.role_names, session.id, minutes=settings.superadmin_token_minutes)


def refresh(refresh_token: str) -> str:
    """A new access token; the refresh token stays valid and its idle time starts again."""
    row = db.session.execute(
        sa.select(LoginSession, is_alive().label("is_alive"))
        .where(LoginSession.refresh_hash == tokens.digest(refresh_token))
        .with_for_update(of=LoginSession, key_share=True)
    ).one_or_none()
    if row is None:
        raise Unauthorized("Sesi tidak valid. Silakan masuk kembali.", code="invalid_refresh_token")
    session, is_still_alive = row
    if not is_still_alive:
        raise Unauthorized("Sesi telah berakhir. Silakan masuk kembali.", code="invalid_refresh_token")
    session.last_used_at = now()
    user = db.session.get_one(User, session.user_id)
    return _access(user.id, user.role_names, session.id)


def end(caller: Caller) -> None:
    """Log out the caller's device, its access tokens included."""
    _lock_person(caller.id)
    db.session.execute(sa.delete(LoginSession).where(LoginSession.id == caller.session_id))


def end_all(user_id: int, *, keep: uuid.UUID | None = None) -> None:
    """Log out all devices but the session `keep`, and end whatever could open the account again.

    These are an open reset link, an open proof of a number, and verified browsers whose session was not noted.
    """
    _lock_person(user_id)
    db.session.execute(sa.delete(LoginSession).where(LoginSession.user_id == user_id, LoginSession.id != keep))
    for table in (PasswordReset, PhoneVerification):
        db.session.execute(sa.delete(table).where(table.user_id == user_id))
    db.session.execute(
        sa.delete(_subscriptions).where(
            _subscriptions.c.user_id == user_id, _subscriptions.c.session_id.is_(None), _subscriptions.c.is_verified
        )
    )


def _lock_person(user_id: int) -> None:
    """Lock the person before their rows: the end of a session deletes rows of several tables."""
    db.session.execute(sa.select(User.id).where(User.id == user_id).with_for_update(key_share=True))


def own(caller: Caller) -> sa.Select[LoginSession]:
    """Select the sessions that the caller is signed in with now, the latest login first."""
    alive = sa.select(LoginSession).where(LoginSession.user_id == caller.id, is_alive())
    return alive.order_by(LoginSession.created_at.desc(), LoginSession.id)


def is_alive() -> sa.ColumnElement[bool]:
    """Return whether a session may still be refreshed, as a condition on `LoginSession`."""
    is_privileged = sa.exists().where(
        user_roles.c.user_id == LoginSession.user_id, user_roles.c.role_id == Role.id, Role.name.in_(PRIVILEGED)
    )
    return sa.case(
        (LoginSession.kind == SessionKind.SUPERADMIN, _is_within(SessionKind.SUPERADMIN, ())),
        (is_privileged, _is_within(SessionKind.USER, PRIVILEGED)),
        else_=_is_within(SessionKind.USER, ()),
    )


def _is_within(kind: SessionKind, roles: Collection[str]) -> sa.ColumnElement[bool]:
    longest, idle = _limits(kind, roles)
    moment = sa.func.statement_timestamp()
    return sa.and_(LoginSession.created_at > moment - longest, LoginSession.last_used_at > moment - idle)


def end_own(caller: Caller, session_id: str) -> None:
    """Log out one device of the caller's; `NotFound` for a stranger's."""
    try:
        own = sa.and_(LoginSession.id == uuid.UUID(session_id), LoginSession.user_id == caller.id)
    except ValueError:
        raise NotFound(NOT_FOUND) from None
    _lock_person(caller.id)
    if db.session.scalar(sa.delete(LoginSession).where(own).returning(LoginSession.id)) is None:
        raise NotFound(NOT_FOUND)


def delete_expired(user_id: int | None = None) -> None:
    """Delete the sessions that have expired, of one person or of all."""
    longest = timedelta(days=settings.refresh_token_days)
    idle = timedelta(days=settings.refresh_idle_days)
    moment = now()
    expired = sa.or_(
        LoginSession.created_at < moment - longest,
        LoginSession.last_used_at < moment - idle,
        sa.and_(
            LoginSession.kind == SessionKind.SUPERADMIN,
            LoginSession.created_at < moment - timedelta(minutes=settings.superadmin_token_minutes),
        ),
    )
    whose = sa.true() if user_id is None else LoginSession.user_id == user_id
    # Lock the people before their rows. Skip whoever is locked: the next sweep deletes their sessions.
    people = sa.select(User.id).where(User.id.in_(sa.select(LoginSession.user_id).where(whose, expired)))
    locked = people.with_for_update(key_share=True, skip_locked=True)
    dead = sa.delete(LoginSession).where(expired, LoginSession.user_id.in_(locked))
    db.session.execute(dead.execution_options(synchronize_session=False))


_SESSION_ID, _USER_ID = sa.bindparam("session_id", type_=sa.Uuid), sa.bindparam("user_id", type_=sa.BigInteger)
#: After which moment those of each kind have begun that still live, in seconds since 1970: as timestamps these three
#: would cost as much as all else that is asked.
_USER_SINCE, _PRIVILEGED_SINCE, _SUPERADMIN_SINCE = (
    sa.bindparam(f"{kind}_since", type_=sa.Double) for kind in ("user", "privileged", "superadmin")
)
#: What `SESSION` asks with; `Reader.session_values` has the values.
SESSION_PARAMETERS = (_SESSION_ID, _USER_ID, _USER_SINCE, _PRIVILEGED_SINCE, _SUPERADMIN_SINCE)
_roles = sa.func.array(
    sa.select(Role.name)
    .join(user_roles, user_roles.c.role_id == Role.id)
    .where(user_roles.c.user_id == LoginSession.user_id)
    .correlate(LoginSession)
    .scalar_subquery(),
    type_=ARRAY(sa.Text),
)
_begun = (
    sa.select(LoginSession.kind, LoginSession.created_at, _roles.label("roles"))
    .where(LoginSession.id == _SESSION_ID, LoginSession.user_id == _USER_ID)
    .offset(0)  # or PostgreSQL would look for the roles twice
    .subquery()
)
#: A session that lives and the roles that its person has now, as one JSON text: `[kind, roles]`. It is the only thing
#: that authentication asks the database for; as a part of another statement it comes in the same round trip. Idleness
#: ends a session at its next refresh: an access token expires before any idle time is over.
SESSION = sa.select(sa.cast(sa.func.json_build_array(_begun.c.kind, _begun.c.roles), sa.Text)).where(
    _begun.c.created_at
    > sa.func.to_timestamp(
        sa.case(
            (_begun.c.kind == SessionKind.SUPERADMIN, _SUPERADMIN_SINCE),
            (_begun.c.roles.overlap(sorted(PRIVILEGED)), _PRIVILEGED_SINCE),
            else_=_USER_SINCE,
        )
    )
)

_SESSION = PreparedStatement(SESSION)


@dataclass
class Reader:
    """The holder of a valid access token, of whom it is not known yet whether the session still lives.

    A statement that brings `SESSION` along tells that by the way: `confirm` takes its value.
    """

    token: tokens.AccessToken
    #: The address that the request came from.
    ip: str | None = None
    #: Who it is, once that is confirmed.
    caller: Caller | None = None

    @classmethod
    def of(cls, caller: Caller) -> Reader:
        return cls(tokens.AccessToken(caller.id, caller.session_id), caller.ip, caller)

    @property
    def id(self) -> int:
        return self.token.user_id

    @property
    def session_values(self) -> dict[str, object]:
        """The values for the parameters of `SESSION`."""
        moment = now().timestamp()
        since = {name: moment - longest for name, longest in _longest(current()).items()}
        return {"session_id": str(self.token.session_id), "user_id": self.id, **since}

    def confirm(self, session: str | None) -> Caller:
        """Take what `SESSION` gave, unless that is known; `Unauthorized` when the session has ended."""
        if self.caller is None:
            if session is None:
                raise ended()
            kind, roles = orjson.loads(session)
            self.caller = Caller(self.id, frozenset(roles), self.token.session_id, SessionKind(kind), self.ip)
        return self.caller

    def ask(self, connection: sa.Connection | None = None) -> Caller:
        """Confirm by a statement of its own, unless that is known; on `connection` where the caller has one."""
        if self.caller is not None:
            return self.caller
        with nullcontext(connection) if connection else autocommit() as held:
            rows = _SESSION.rows(held, self.session_values)
        return self.confirm(rows[0][0] if rows else None)


def reader_of(access_token: str, ip: str | None = None) -> Reader:
    """Who holds this access token; `Unauthorized` when it is wrong."""
    return Reader(tokens.read_access(access_token), ip)


def _limits(kind: SessionKind, roles: Collection[str]) -> tuple[timedelta, timedelta]:
    """How long a session lives, in all and unused."""
    if kind is SessionKind.SUPERADMIN:
        longest = timedelta(minutes=settings.superadmin_token_minutes)
        return longest, longest
    if PRIVILEGED.isdisjoint(roles):
        return timedelta(days=settings.refresh_token_days), timedelta(days=settings.refresh_idle_days)
    return timedelta(hours=settings.admin_session_hours), timedelta(minutes=settings.admin_idle_minutes)


@lru_cache(maxsize=4)
def _longest(_: Config) -> dict[str, float]:
    """How many seconds sessions live, by the parameters of `SESSION`; kept, for each request asks."""
    limits = {
        "user_since": _limits(SessionKind.USER, ()),
        "privileged_since": _limits(SessionKind.USER, PRIVILEGED),
        "superadmin_since": _limits(SessionKind.SUPERADMIN, ()),
    }
    return {name: longest.total_seconds() for name, (longest, _) in limits.items()}


def _access(user_id: int, roles: set[str], session_id: uuid.UUID, minutes: int | None = None) -> str:
    return tokens.issue_access(
        user_id=user_id,
        role=highest(roles),
        roles=sorted(roles),
        session_id=session_id,
        lifetime=timedelta(minutes=minutes or settings.access_token_minutes),
    )
