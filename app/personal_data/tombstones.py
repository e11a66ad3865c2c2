"""Tombstones: by whom a restored backup is told apart from the people of today.

Each is a row, and an object beside the pictures, which outlives the database; `flask backup` takes them along. Its name
is a hash, under a key of `NIK_KEYS`, of the id and the time of registration, which no two people share: it says of
nobody who it was, unless they are there again.
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
from app.core.media.storage import Room
from app.core.operations.backup import BackupError
from app.core.settings import settings
from app.identity.erasure import Posts
from app.identity.models import LoginSession, User
from app.personal_data.models import Tombstone

CONTENT_TYPE = "text/plain"


def raise_for(user: User, posts: Posts) -> None:
    """Note that the person is erased, in the open unit of work and, once it has committed, beside the pictures."""
    name = _name(user.id, user.created_at, *settings.nik_keys[0])
    _insert({name: posts})
    after_commit(partial(_put, name, posts))


def tend() -> list[int]:
    """Put rows beside the pictures that are missing there, and mark who came back, to be erased at once.

    A tombstone that the database does not know was made after what was restored into it. Returns whose those are. One
    under a key that is not configured stays unknown until it is.
    """
    rows = {row.name: Posts(row.posts) for row in db.session.scalars(sa.select(Tombstone))}
    stored = stored_names()
    for name in rows.keys() - stored:
        _put(name, rows[name])
    readable = {name for name in stored - rows.keys() if _key_of(name) in dict(settings.nik_keys)}
    unknown = {name: Posts(_room().get(name).decode()) for name in readable}
    ids = list(_mark(unknown)) if unknown else []
    _insert(unknown)
    return ids


def stored_names() -> set[str]:
    return set(storage.whole(_room()))


def check_keys() -> None:
    """`BackupError` unless everybody can be compared with every tombstone."""
    if missing := {_key_of(name) for name in stored_names()} - dict(settings.nik_keys).keys():
        raise BackupError(
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
    own_key = hmac.digest(key, b"tombstone", "sha256")  # every purpose has its own
    return f"{hmac.digest(own_key, f'{user_id}:{created_at.timestamp():.6f}'.encode(), 'sha256').hex()}.{kid}"


def _key_of(name: str) -> str:
    return name.rpartition(".")[2]


def _insert(tombstones: Mapping[str, Posts]) -> None:
    if tombstones:
        values = [{"name": name, "posts": posts} for name, posts in tombstones.items()]
        db.session.execute(insert(Tombstone).on_conflict_do_nothing(), values)


def _put(name: str, posts: Posts) -> None:
    _room().put(name, posts.encode(), CONTENT_TYPE)


def _room() -> storage.Store:
    return storage.room(Room.TOMBSTONES)
