"""Credentials: find the account of a login text, and verify the password of the account.

A login text is the e-mail, the username or the phone number that a person types to log in.
"""

from __future__ import annotations

import sqlalchemy as sa

from app.core.database.session import db
from app.core.errors import BadRequest, Unauthorized
from app.identity import erasure, passwords, phones
from app.identity.models import User


class WrongCredentials(Unauthorized):
    """No person has this login text and password."""

    code = "wrong_credentials"
    message = "Nama pengguna atau kata sandi salah."


class WrongPassword(BadRequest):
    """The caller's own password is wrong. The status is 400, because clients log out after a 401."""

    code = "wrong_current_password"
    message = "Kata sandi saat ini salah."


def by_login(text: str) -> User | None:
    """Return the person with this e-mail, username or phone number. The number may have any notation."""
    return db.session.scalar(sa.select(User).where(_has_login(text)))


def login_key(text: str) -> str:
    """Return the key under which wrong passwords for a login text are counted.

    The key is the account, or the text itself if no account matches.
    """
    user_id = db.session.scalar(sa.select(User.id).where(_has_login(text)))
    return f"user:{user_id}" if user_id else (phones.normalise(text) or text.lower())[:100]


def _has_login(text: str) -> sa.ColumnElement[bool]:
    """Return an SQL condition that is true for the person with this e-mail, phone number or username.

    A text can be only one of the three: only an e-mail has an `@`, and only a phone number has no letter.
    """
    if "@" in text:
        return sa.func.lower(User.email) == text.lower()
    if phone := phones.normalise(text):
        return User.phone == phone
    return sa.func.lower(User.username) == text.lower()


def authenticate(login: str, password: str) -> User | None:
    """Return the person with these credentials, or None.

    The response time does not reveal whether the login name exists. The person's row stays locked until the commit. A
    simultaneous change of the password waits for this lock, and then ends the session that the login created. If the
    change of the password got the lock before this function, return None.
    """
    user = by_login(login)
    if not passwords.matches(password, user.password_hash if user else None) or user is None:
        return None
    if not _lock_password(user):
        return None
    if user.password_hash and passwords.is_outdated(user.password_hash):
        user.password_hash = passwords.hash_password(password)
    return user


def check_password(user: User, password: str) -> None:
    """Raise `WrongPassword` if this is not the person's password. Otherwise lock their row until the commit."""
    if not passwords.matches(password, user.password_hash) or not _lock_password(user):
        raise WrongPassword


def _lock_password(user: User) -> bool:
    """Lock the person's row. Return whether the password is unchanged and the person may still log in.

    The password may have changed, or the person may have been deleted, during the slow check of the password.
    """
    unchanged = sa.select(User.erasure_due_at).where(User.id == user.id, User.password_hash == user.password_hash)
    row = db.session.execute(unchanged.with_for_update(key_share=True)).one_or_none()
    return row is not None and erasure.may_log_in(user, row.erasure_due_at)
