"""Requests of people to erase their account and data. A login within seven days cancels the request.

During these days the person gets no notifications, and only administrators see the account. Afterwards
`app.personal_data` erases the data.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

import sqlalchemy as sa
from sqlalchemy.orm import attributes

from app.core.database import db_time
from app.core.database.personal import DataSubject
from app.core.database.session import db
from app.identity import sessions
from app.identity.models import User

#: Time after a request for erasure in which a login cancels the erasure.
GRACE = timedelta(days=7)

#: SQL condition that is true for a person who has not requested erasure. Only administrators see people who
#: have requested erasure.
IS_PRESENT: sa.ColumnElement[bool] = User.erasure_due_at.is_(None)


class Posts(StrEnum):
    """Choice of an erased person about their forum posts."""

    #: The posts stay. Their author is shown as "Akun dihapus" ("account deleted").
    ANONYMISE = "anonymise"
    DELETE = "delete"


@dataclass(frozen=True, kw_only=True)
class ErasureSubject(DataSubject):
    """A person whose data is being erased."""

    posts: Posts


def begin(user: User, posts: Posts, grace: timedelta) -> datetime:
    """Schedule the erasure of a person after `grace`, and end all their sessions. The person's row must be locked.

    Return the time of the erasure.
    """
    due_at = db_time.now() + grace
    user.erasure_due_at, user.erasure_posts = due_at, posts
    db.session.flush()
    sessions.end_all(user.id)
    return due_at


def cancel(user: User) -> bool:
    """Cancel the erasure of a person. Return whether an erasure was scheduled. The person's row must be locked."""
    if user.erasure_due_at is None:
        return False
    user.erasure_due_at = user.erasure_posts = None
    # The loaded value may be older than the row, and None already. Without the flag, None would not be written then.
    attributes.flag_modified(user, "erasure_posts")
    db.session.flush()
    return True


def may_log_in(user: User, erasure_due_at: object) -> bool:
    """Return whether the person may log in. A person who has requested erasure may log in until the erasure is due.

    `erasure_due_at` is the value that was read from the person's locked row.
    """
    attributes.set_committed_value(user, "erasure_due_at", erasure_due_at)
    return user.erasure_due_at is None or user.erasure_due_at > db_time.now()


def subject_of(user: User) -> ErasureSubject:
    """Return the id and the phone numbers by which the erasure finds a person's rows."""
    phones = [user.phone] if user.phone else []
    of_another = sa.select(User.id).where(User.phone == user.phone_before)
    if user.phone_before and db.session.scalar(of_another) is None:
        phones.append(user.phone_before)
    return ErasureSubject(user.id, phones=tuple(phones), posts=Posts(user.erasure_posts or Posts.ANONYMISE))
