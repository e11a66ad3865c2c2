"""Credentials: whom a login belongs to, and whether a password is theirs."""

from __future__ import annotations

import sqlalchemy as sa

from app.core.database.session import db
from app.core.errors import BadRequest
from app.identity import erasure, networks, passwords, phones
from app.identity.models import User


class WrongPassword(BadRequest):
    """What they typed is not the caller's own password: no 401, which a client takes for the end of the session."""

    code = "wrong_current_password"
    message = "Kata sandi saat ini salah."


def by_login(text: str) -> User | None:
    """The one person whom an e-mail, username or phone number in any form belongs to."""
    return db.session.scalar(sa.select(User).where(_has_login(text)))


def login_key(text: str) -> str:
    """What a login resolves to, for counting guesses: the account, or the text where nobody has it."""
    return _login_key(text, db.session.scalar(sa.select(User.id).where(_has_login(text))))


def stranger_key(text: str, network: str) -> str | None:
    """As `login_key`, but None where the account has logged in from this network within `networks.KNOWN`."""
    row = db.session.execute(
        sa.select(User.id, networks.is_known(User.id, network)).where(_has_login(text))
    ).one_or_none()
    user_id, is_known = row or (None, False)
    return None if is_known else _login_key(text, user_id)


def _login_key(text: str, user_id: int | None) -> str:
    return f"user:{user_id}" if user_id else (phones.normalise(text) or text.lower())[:100]


def _has_login(text: str) -> sa.ColumnElement[bool]:
    """Only an e-mail has an `@`, and a phone number no letter, which every username has: a text is one of the three."""
    if "@" in text:
        return sa.func.lower(User.email) == text.lower()
    if phone := phones.normalise(text):
        return User.phone == phone
    return sa.func.lower(User.username) == text.lower()


def authenticate(login: str, password: str) -> User | None:
    """The person with these credentials; an unknown one costs the same time as a known one.

    The person's row stays locked until the unit of work ends, so a session that begins in it cannot miss a change of
    the password: the change came first and there is nobody, or it waits and ends the session with all others.
    """
    user = by_login(login)
    if not passwords.matches(password, user.password_hash if user else None) or user is None:
        return None
    if not _lock_password(user):
        return None
    if user.password_hash and passwords.is_outdated(user.password_hash):
        user.password_hash = passwords.hash_password(password)
    return user


def has_password(user: User, password: str) -> bool:
    """Whether this is the person's password; if so, their row is locked until the unit of work ends."""
    return passwords.matches(password, user.password_hash) and _lock_password(user)


def check_password(user: User, password: str) -> None:
    """`WrongPassword` unless it is the person's; their row is locked until the unit of work ends."""
    if not has_password(user, password):
        raise WrongPassword


def _lock_password(user: User) -> bool:
    """Lock the person's row, and return whether it still has the password hash that was verified and may log in.

    Verifying takes a while, in which the password may have been changed or the person deleted.
    """
    unchanged = sa.select(User.erasure_due_at).where(User.id == user.id, User.password_hash == user.password_hash)
    row = db.session.execute(unchanged.with_for_update(key_share=True)).one_or_none()
    return row is not None and erasure.may_log_in(user, row.erasure_due_at)
