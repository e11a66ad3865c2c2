"""Pictures of all sections of the API.

A section calls `save`, stores the returned name in the column `image`, and writes `url(name)` into responses. A
rollback removes a saved picture. `discard` removes a picture after the commit. `sweep` removes pictures that a killed
process left.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping
from datetime import timedelta
from functools import partial
from io import BytesIO
from typing import Any, BinaryIO, cast

import sqlalchemy as sa
from flask import Flask, Response, current_app, request
from marshmallow import fields

from app.core.database.session import Base, after_commit, db, on_rollback
from app.core.errors import NotFound
from app.core.lib import local_time
from app.core.media import images, storage
from config import Config

PICTURE_EDGE = 1600
PROFILE_EDGE = 512

CONTENT_TYPE = "image/webp"
NAME = re.compile(r"[0-9a-f]{32}\.webp")

#: `sweep` removes only pictures that are older than this. A newer picture may belong to an open transaction.
ORPHAN_AGE = timedelta(days=1)


class Picture(fields.String):
    """A field for a picture. Its value is the stored name, and responses contain the address."""

    def __init__(self, **kwargs: Any) -> None:
        kwargs.setdefault("metadata", {"example": "/media/3f0c1d0f8a5b4c6e9d2a7b1e4f5c6d7e.webp"})
        super().__init__(dump_only=True, allow_none=True, **kwargs)

    def _serialize(self, value: str | None, *_: object, **__: object) -> str | None:
        return url(value)


def save(stream: BinaryIO, *, longest_edge: int = PICTURE_EDGE) -> str:
    """Store the picture and return its random name. A rollback removes the picture.

    Raise `PayloadTooLarge`, `UnsupportedMedia` or `Unavailable`.
    """
    return _put(images.normalise(stream, longest_edge=longest_edge))


def copy(name: str) -> str:
    """Store a copy of a picture, and return its new random name. A rollback removes the copy."""
    return _put(store().get(name))


def _put(data: bytes) -> str:
    name = f"{secrets.token_hex(16)}.webp"
    on_rollback(partial(store().remove, name))
    store().put(name, BytesIO(data), CONTENT_TYPE)
    return name


def columns(
    data: Mapping[str, object], *, replaces: str | None = None, longest_edge: int = PICTURE_EDGE
) -> dict[str, object]:
    """Store the uploaded `image`, and return `data` with the name of the stored picture as `image`.

    If `data` has no key `image`, change nothing. Otherwise discard the old picture, whose name is `replaces`. If
    `image` is null, no picture is stored, but the old picture is discarded.
    """
    if "image" not in data:
        return dict(data)
    upload = data["image"]
    name = save(cast(BinaryIO, upload), longest_edge=longest_edge) if upload else None
    discard(replaces)
    return {**data, "image": name}


def discard(name: str | None) -> None:
    """Remove a picture after the open unit of work has committed."""
    if name is not None:
        after_commit(partial(store().remove, name))


def url(name: str | None) -> str | None:
    return None if name is None else f"/media/{name}"


def named() -> sa.CompoundSelect[str]:
    """Return a query for the names in the columns called `image` of all tables."""
    columns = [table.c.image for table in Base.metadata.sorted_tables if "image" in table.c]
    return sa.union_all(*(sa.select(column).where(column.is_not(None)) for column in columns))


def sweep() -> int:
    """Remove the pictures that no row refers to. Return the number of removed pictures."""
    oldest = local_time.now() - ORPHAN_AGE
    old = {name for name, stored_at in store().names() if stored_at < oldest}
    for name in db.session.scalars(named().execution_options(yield_per=1000)):
        old.discard(name)
    for name in old:
        store().remove(name)
    return len(old)


def init_app(app: Flask, config: Config) -> None:
    """Register the route `/media/<name>`, which is outside the API."""
    storage.init_app(app, config)

    @app.get("/media/<name>")
    def media(name: str) -> Response:
        if not NAME.fullmatch(name):
            raise NotFound
        response = store().response(name, CONTENT_TYPE)
        # A name is never reused, so a cached picture stays valid. Read the store before the check of the ETag, so that
        # a deleted picture gives 404 even if the ETag matches.
        if request.if_none_match.contains(name):
            response.close()
            response = Response(status=304)
        response.headers["Cache-Control"] = "public, max-age=31536000, immutable"
        response.set_etag(name)
        return response


def store() -> storage.Store:
    pictures: storage.Store = current_app.extensions["media"]
    return pictures
