"""Login sessions: begin, refresh and end them.

Sessions of administrators expire earlier than sessions of other people. A login sets the expiry of its session, and
each refresh sets it again. If a person becomes an administrator, their existing sessions get the earlier expiry at
once.
"""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from datetime import datetime, timedelta

import sqlalchemy as sa

from app.core.database.session import db
from app.core.errors import NotFound, Unauthorized
from app.identity import tokens
from app.identity.models import (
    PRIVILEGED,
    LoginSession,
    OfSession,
    PasswordReset,
    PhoneVerification,
    Role,
    RoleName,
    SessionKind,
    User,
    user_roles,
)

NOT_FOUND = "Perangkat tidak ditemukan."

ACCESS_TOKEN = timedelta(minutes=15)
#: Lifetime of a super-admin token, which cannot be refreshed.
SUPERADMIN_TOKEN = timedelta(minutes=15)
#: Maximum lifetime and maximum idle time of a session, and of an administrator's session.
SESSION, SESSION_IDLE = timedelta(days=30), timedelta(days=7)
ADMIN_SESSION, ADMIN_SESSION_IDLE = timedelta(hours=12), timedelta(minutes=30)

#: SQL condition that is true for a `LoginSession` that has not expired.
IS_ALIVE: sa.ColumnElement[bool] = LoginSession.expires_at > sa.func.now()


def has_live_session(model: type[OfSession]) -> sa.ColumnElement[bool]:
    """Return an SQL condition that is true for a row whose session has not expired.

    The session of a row is the session that created the row. The condition is also true for a row without a session.
    """
    is_alive = sa.exists().where(LoginSession.id == model.session_id, IS_ALIVE)
    return sa.or_(model.session_id.is_(None), is_alive)


#: The table of push subscriptions. It belongs to `app.push`, which this package must not import.
_subscriptions = sa.table("push_subscriptions", *(sa.column(name) for name in ("user_id", "session_id", "is_verified")))


@dataclass(frozen=True)
class Caller:
    """The person who sends the current request, with their current roles from the database."""

    id: int
    roles: frozenset[str]
    session_id: uuid.UUID
    kind: SessionKind
    #: IP address of the request, for the audit log.
    ip: str | None = None

    def has(self, *names: str) -> bool:
        return not self.roles.isdisjoint(names)

    @property
    def is_superadmin(self) -> bool:
        """Return whether the caller is a super-admin who logged in at `/superadmin/login`."""
        return self.kind is SessionKind.SUPERADMIN and RoleName.SUPERADMIN in self.roles


@dataclass(frozen=True)
class TokenPair:
    access_token: str
    refresh_token: str


def ended() -> Unauthorized:
    """Return the error for a caller whose session has expired or was ended."""
    return Unauthorized("Sesi telah berakhir. Silakan masuk kembali.", code="session_ended")


def begin(user: User, device: str | None = None) -> TokenPair:
    """Create a session for `user` on this device. The row of `user` must be locked."""
    refresh = tokens.new_opaque()
    session = LoginSession(
        id=uuid.uuid4(),
        user_id=user.id,
        kind=SessionKind.USER,
        refresh_hash=tokens.digest(refresh),
        expires_at=_expiry(user.id, sa.func.now()),
        device=device,
    )
    db.session.add(session)
    db.session.flush()
    delete_expired(user.id)
    return TokenPair(_access(user, user.role, session.id), refresh)


def begin_superadmin(user: User, device: str | None = None) -> str:
    """Create a super-admin session. Return its access token, which expires early and cannot be refreshed."""
    session = LoginSession(
        id=uuid.uuid4(),
        user_id=user.id,
        kind=SessionKind.SUPERADMIN,
        expires_at=sa.func.now() + SUPERADMIN_TOKEN,
        device=device,
    )
    db.session.add(session)
    db.session.flush()
    return _access(user, RoleName.SUPERADMIN, session.id, SUPERADMIN_TOKEN)


def refresh(refresh_token: str) -> str:
    """Return a new access token. The refresh token stays valid, and its maximum idle time begins again."""
    row = db.session.execute(
        sa.select(LoginSession, IS_ALIVE.label("is_alive"))
        .where(LoginSession.refresh_hash == tokens.digest(refresh_token))
        .with_for_update(of=LoginSession, key_share=True)
    ).one_or_none()
    if row is None:
        raise Unauthorized("Sesi tidak valid. Silakan masuk kembali.", code="invalid_refresh_token")
    session, is_alive = row
    if not is_alive:
        raise Unauthorized("Sesi telah berakhir. Silakan masuk kembali.", code="invalid_refresh_token")
    session.last_used_at = sa.func.now()
    session.expires_at = _expiry(session.user_id, session.created_at)
    user = db.session.get_one(User, session.user_id)
    return _access(user, user.role, session.id)


def shorten(user_id: int) -> None:
    """Shorten all sessions of a new administrator to the lifetime of administrators' sessions."""
    _lock_person(user_id)  # a simultaneous login waits for this lock, and then reads the new role
    longest, idle = ADMIN_SESSION, ADMIN_SESSION_IDLE
    expiry = sa.func.least(LoginSession.created_at + longest, LoginSession.last_used_at + idle)
    db.session.execute(
        sa.update(LoginSession)
        .where(LoginSession.user_id == user_id, LoginSession.kind == SessionKind.USER)
        .values(expires_at=sa.func.least(LoginSession.expires_at, expiry))
    )


def end(caller: Caller) -> None:
    """Log out the device of the caller and revoke its access tokens. Also cancel a requested password reset."""
    _lock_person(caller.id)
    db.session.execute(sa.delete(LoginSession).where(LoginSession.id == caller.session_id))
    _end_reset(caller.id)


def end_all(user_id: int, *, keep: uuid.UUID | None = None) -> None:
    """Log out all devices of a person except the session `keep`.

    Also delete all rows of the following kinds, because an intruder may have created them: a requested password reset,
    open verifications of phone numbers, and verified push subscriptions without a session.
    """
    _lock_person(user_id)
    db.session.execute(sa.delete(LoginSession).where(LoginSession.user_id == user_id, LoginSession.id != keep))
    _end_reset(user_id)
    db.session.execute(sa.delete(PhoneVerification).where(PhoneVerification.user_id == user_id))
    db.session.execute(
        sa.delete(_subscriptions).where(
            _subscriptions.c.user_id == user_id, _subscriptions.c.session_id.is_(None), _subscriptions.c.is_verified
        )
    )


def _end_reset(user_id: int) -> None:
    db.session.execute(sa.delete(PasswordReset).where(PasswordReset.user_id == user_id))


def _lock_person(user_id: int) -> None:
    """Lock the person's row. A transaction does this before it deletes sessions and the rows that depend on them."""
    db.session.execute(sa.select(User.id).where(User.id == user_id).with_for_update(key_share=True))


def select_own(caller: Caller) -> sa.Select[LoginSession]:
    """Return the query of the caller's sessions that have not expired, latest login first."""
    alive = sa.select(LoginSession).where(LoginSession.user_id == caller.id, IS_ALIVE)
    return alive.order_by(LoginSession.created_at.desc(), LoginSession.id)


def end_own(caller: Caller, session_id: str) -> None:
    """Log out one of the caller's devices, and cancel a requested password reset.

    Raise `NotFound` for a session of another person.
    """
    try:
        own = sa.and_(LoginSession.id == uuid.UUID(session_id), LoginSession.user_id == caller.id)
    except ValueError:
        raise NotFound(NOT_FOUND) from None
    _lock_person(caller.id)
    if db.session.scalar(sa.delete(LoginSession).where(own).returning(LoginSession.id)) is None:
        raise NotFound(NOT_FOUND)
    _end_reset(caller.id)


def delete_expired(user_id: int | None = None) -> None:
    """Delete expired sessions that were not used for `SESSION_IDLE`.

    If `user_id` is None, delete the sessions of everybody. An administrator's session expires long before this
    deletion. The browser of the expired session still gets pushes about urgent moderation cases until the deletion.
    """
    expired = sa.and_(~IS_ALIVE, LoginSession.last_used_at < sa.func.now() - SESSION_IDLE)
    whose = sa.true() if user_id is None else LoginSession.user_id == user_id
    # Lock the people before their sessions. Skip people whose rows are locked. The next run deletes the sessions of
    # these people.
    people = sa.select(User.id).where(User.id.in_(sa.select(LoginSession.user_id).where(whose, expired)))
    locked = people.with_for_update(key_share=True, skip_locked=True)
    dead = sa.delete(LoginSession).where(expired, LoginSession.user_id.in_(locked))
    db.session.execute(dead.execution_options(synchronize_session=False))


_SESSION_ID, _USER_ID = sa.bindparam("session_id", type_=sa.Uuid), sa.bindparam("user_id", type_=sa.BigInteger)
#: Tables instead of models, because each request with a token runs this statement, and the ORM would double its time.
_sessions, _roles = LoginSession.__table__, Role.__table__
#: PostgreSQL plans a subquery for the name in half the time of a join.
_role_name = sa.select(_roles.c.name).where(_roles.c.id == user_roles.c.role_id).scalar_subquery()
_role_names = sa.select(_role_name)
_SESSION = sa.select(
    _sessions.c.kind, sa.func.array(_role_names.where(user_roles.c.user_id == _USER_ID).scalar_subquery())
).where(_sessions.c.id == _SESSION_ID, _sessions.c.user_id == _USER_ID, _sessions.c.expires_at > sa.func.now())


def get_caller(access_token: str, ip: str | None = None) -> Caller:
    """Return the owner of an access token. Raise `Unauthorized` if the token is invalid or its session has ended."""
    token = tokens.read_access(access_token)
    values = {"session_id": token.session_id, "user_id": token.user_id}
    row = db.session.execute(_SESSION, values).one_or_none()
    if row is None:
        raise ended()
    kind, roles = row
    return Caller(token.user_id, frozenset(roles), token.session_id, SessionKind(kind), ip)


def _expiry(user_id: int, begun: datetime | sa.ColumnElement[datetime]) -> sa.ColumnElement[datetime]:
    """Return an SQL expression for the new expiry of a session that is used now. The expiry depends on the roles."""
    is_privileged = sa.exists().where(
        user_roles.c.user_id == user_id, user_roles.c.role_id == Role.id, Role.name.in_(PRIVILEGED)
    )
    admin, other = (
        sa.func.least(begun + longest, sa.func.now() + idle)
        for longest, idle in ((ADMIN_SESSION, ADMIN_SESSION_IDLE), (SESSION, SESSION_IDLE))
    )
    return sa.case((is_privileged, admin), else_=other)


def _access(user: User, role: str | None, session_id: uuid.UUID, life: timedelta = ACCESS_TOKEN) -> str:
    return tokens.issue_access(
        user_id=user.id, role=role, roles=sorted(user.role_names), session_id=session_id, lifetime=life
    )
