"""A person who wants everything of theirs erased: for seven days a login takes it back, then nobody can.

Meanwhile nobody is told of them and they are told of nothing, but administrators still see them. `app.personal_data`
does the erasing.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum

import sqlalchemy as sa
from sqlalchemy.orm import attributes

from app.core.database import clock
from app.core.database.personal import Person
from app.core.database.session import db
from app.identity import nik, sessions
from app.identity.models import User

#: How long a login takes it back.
GRACE = timedelta(days=7)

#: Whether a person is there for others. Not so who has asked to be erased.
IS_PRESENT: sa.ColumnElement[bool] = User.erasure_due_at.is_(None)


class Posts(StrEnum):
    """What becomes of what the person wrote in the forum."""

    #: It stays, and reads as written by "Akun dihapus".
    ANONYMISE = "anonymise"
    DELETE = "delete"


@dataclass(frozen=True, kw_only=True)
class Leaving(Person):
    """Who is being erased, and by what they are known."""

    posts: Posts
    username: str
    #: Texts that are theirs alone wherever they stand: numbers, e-mail, NIK.
    identifiers: tuple[str, ...]
    #: Names, which other people and other words may have too.
    names: tuple[str, ...]


def begin(user: User, posts: Posts) -> None:
    """Have a person erased when the grace ends, and end all their sessions. Their row is locked."""
    user.erasure_due_at, user.erasure_posts = clock.now() + GRACE, posts
    db.session.flush()
    sessions.end_all(user.id)


def take_back(user: User) -> bool:
    """Let a person stay who has logged in; returns whether they were about to be erased. Their row is locked."""
    if user.erasure_due_at is None:
        return False
    user.erasure_due_at = user.erasure_posts = None
    db.session.flush()
    return True


def may_log_in(user: User, erasure_due_at: object) -> bool:
    """Whether it is not too late; `erasure_due_at` is what their locked row holds."""
    attributes.set_committed_value(user, "erasure_due_at", erasure_due_at)
    return user.erasure_due_at is None or user.erasure_due_at > clock.now()


def leaving(user: User) -> Leaving:
    """What is looked for when this person is erased."""
    phones = [user.phone] if user.phone else []
    if user.phone_before and not _is_somebodys(user.phone_before):
        phones.append(user.phone_before)
    identifiers = {user.nomor_hp, user.email, _readable_nik(user)}
    # Without 0, 62 or +62 before it, a number is found in every form.
    identifiers |= {phone.removeprefix("+62").removeprefix("+") for phone in phones}
    return Leaving(
        user.id,
        tuple(phones),
        posts=Posts(user.erasure_posts or Posts.ANONYMISE),
        username=user.username,
        identifiers=tuple(sorted(filter(None, identifiers))),
        names=tuple(sorted(filter(None, {user.username, user.nama_ktp, user.nama_samaran}))),
    )


def _is_somebodys(phone: str) -> bool:
    """Whether the number is another person's now."""
    return db.session.scalar(sa.select(User.id).where(User.phone == phone)) is not None


def _readable_nik(user: User) -> str | None:
    try:
        return nik.decrypt(user.nik, user.id)
    except nik.UndecryptableNik:
        return None
