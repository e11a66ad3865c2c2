"""Tombstones: records of erased people. After a restore, they show which of these people the backup brought back.

A tombstone is a file next to the pictures, so that it survives a loss of the database. `deploy/backup` includes the
files. The file is stored before the first row is erased.

The name of a tombstone is an HMAC of the user id and the registration time, with a key of `NIK_KEYS`. The name
identifies a person only if the person's row exists again.
"""

from __future__ import annotations

import hmac
from datetime import datetime
from io import BytesIO

import sqlalchemy as sa

from app.core.database.session import db, on_rollback
from app.core.media import storage
from app.core.media.storage import Area
from app.core.operations.failures import OperatorError
from app.core.settings import settings
from app.identity.erasure import Posts
from app.identity.models import LoginSession, User

CONTENT_TYPE = "text/plain"


def create(user: User, posts: Posts) -> None:
    """Store a tombstone. Remove it again if the open transaction is rolled back."""
    name = _name(user.id, user.created_at, *settings.nik_keys[0])
    area = _area()
    area.put(name, BytesIO(posts.encode()), CONTENT_TYPE)
    on_rollback(lambda: area.remove(name))


def reconcile() -> list[int]:
    """Find erased people whom a backup brought back, and make their erasure due now. Return the ids of these people.

    Skip a tombstone if its key is not configured.
    """
    names = stored_names()
    used = {_key_of(name) for name in names}
    keys = [(kid, key) for kid, key in settings.nik_keys if kid in used]
    people = sa.select(User.id, User.created_at).order_by(User.id).execution_options(yield_per=1000)
    found = {
        user_id: name
        for user_id, created_at in db.session.execute(people)
        for kid, key in keys
        if (name := _name(user_id, created_at, kid, key)) in names
    }
    for user_id, name in found.items():
        db.session.execute(
            sa.update(User)
            .where(User.id == user_id)
            .values(erasure_due_at=sa.func.now(), erasure_posts=Posts(_area().get(name).decode()))
            .execution_options(synchronize_session=False)
        )
        db.session.execute(sa.delete(LoginSession).where(LoginSession.user_id == user_id))
    return list(found)


def stored_names() -> set[str]:
    return {name for name, _ in _area().names() if not name.endswith(storage.UNFINISHED)}


def check_keys() -> None:
    """Raise `OperatorError` if the key of a tombstone is not configured."""
    if missing := {_key_of(name) for name in stored_names()} - dict(settings.nik_keys).keys():
        raise OperatorError(
            f"Tombstones are of other keys ({', '.join(sorted(missing))}): with these in NIK_KEYS, the worker erases"
            " whom else the backup brought back"
        )


def _name(user_id: int, created_at: datetime, kid: str, key: bytes) -> str:
    own_key = hmac.digest(key, b"tombstone", "sha256")  # derive a key that is used only for tombstones
    return f"{hmac.digest(own_key, f'{user_id}:{created_at.timestamp():.6f}'.encode(), 'sha256').hex()}.{kid}"


def _key_of(name: str) -> str:
    return name.rpartition(".")[2]


def _area() -> storage.Store:
    return storage.area(Area.TOMBSTONES)
