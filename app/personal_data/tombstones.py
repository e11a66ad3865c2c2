"""Tombstones: records of erased people. After a restore, they show which of these people the backup brought back.

A tombstone has a row in the database and a file. The file is stored next to the pictures, so that it survives a loss of
the database. `deploy/backup` includes the files.

The name of a tombstone is an HMAC of the user id and the registration time, with a key of `NIK_KEYS`. The name
identifies a person only if the person's row exists again.
"""

from __future__ import annotations

import hmac
from collections.abc import Iterator, Mapping
from datetime import datetime
from functools import partial

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from app.core.database.session import after_commit, db
from app.core.media import storage
from app.core.media.storage import Area
from app.core.operations.failures import OperatorError
from app.core.settings import settings
from app.identity.erasure import Posts
from app.identity.models import LoginSession, User
from app.personal_data.models import Tombstone

CONTENT_TYPE = "text/plain"


def create(user: User, posts: Posts) -> None:
    """Insert a tombstone in the open transaction. Store its file after the commit."""
    name = _name(user.id, user.created_at, *settings.nik_keys[0])
    _insert({name: posts})
    after_commit(partial(_put, name, posts))


def reconcile() -> list[int]:
    """Find erased people whom a backup brought back, and make their erasure due now. Return the ids of these people.

    A tombstone with a file but without a row is newer than the restored backup. So the backup may contain the person.
    Insert the missing row. Skip such a tombstone if its key is not configured. If a tombstone has a row but no file,
    store the file.
    """
    rows = {row.name: Posts(row.posts) for row in db.session.scalars(sa.select(Tombstone))}
    stored = stored_names()
    for name in rows.keys() - stored:
        _put(name, rows[name])
    readable = {name for name in stored - rows.keys() if _key_of(name) in dict(settings.nik_keys)}
    unknown = {name: Posts(_area().get(name).decode()) for name in readable}
    ids = list(_mark(unknown)) if unknown else []
    _insert(unknown)
    return ids


def stored_names() -> set[str]:
    return set(storage.whole(_area()))


def check_keys() -> None:
    """Raise `OperatorError` if the key of a tombstone is not configured."""
    if missing := {_key_of(name) for name in stored_names()} - dict(settings.nik_keys).keys():
        raise OperatorError(
            f"Tombstones are of other keys ({', '.join(sorted(missing))}): with these in NIK_KEYS, the worker erases"
            " whom else the backup brought back"
        )


def _mark(unknown: Mapping[str, Posts]) -> Iterator[int]:
    used = {_key_of(name) for name in unknown}
    keys = [(kid, key) for kid, key in settings.nik_keys if kid in used]
    people = sa.select(User.id, User.created_at).order_by(User.id).execution_options(yield_per=1000)
    found = {
        user_id: unknown[name]
        for user_id, created_at in db.session.execute(people)
        for kid, key in keys
        if (name := _name(user_id, created_at, kid, key)) in unknown
    }
    for user_id, posts in found.items():
        db.session.execute(
            sa.update(User)
            .where(User.id == user_id)
            .values(erasure_due_at=sa.func.now(), erasure_posts=posts)
            .execution_options(synchronize_session=False)
        )
        db.session.execute(sa.delete(LoginSession).where(LoginSession.user_id == user_id))
        yield user_id


def _name(user_id: int, created_at: datetime, kid: str, key: bytes) -> str:
    own_key = hmac.digest(key, b"tombstone", "sha256")  # derive a key that is used only for tombstones
    return f"{hmac.digest(own_key, f'{user_id}:{created_at.timestamp():.6f}'.encode(), 'sha256').hex()}.{kid}"


def _key_of(name: str) -> str:
    return name.rpartition(".")[2]


def _insert(tombstones: Mapping[str, Posts]) -> None:
    if tombstones:
        values = [{"name": name, "posts": posts} for name, posts in tombstones.items()]
        db.session.execute(insert(Tombstone).on_conflict_do_nothing(), values)


def _put(name: str, posts: Posts) -> None:
    _area().put(name, posts.encode(), CONTENT_TYPE)


def _area() -> storage.Store:
    return storage.area(Area.TOMBSTONES)
