"""Pictures of the sections: `save` one, keep its name in a column called `image`, show `url(name)`, `discard` it.

A picture belongs to the unit of work that saves it: a rollback takes it away again, and a discarded one goes only
after the commit. What a killed process leaves behind is found by `sweep`. A picture may be hidden for a while: it then
lies in a room that nobody is served from, nginx included.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping
from datetime import timedelta
from functools import partial
from typing import Any, BinaryIO, Self, cast

import sqlalchemy as sa
from flask import Flask, Response, current_app, request
from marshmallow import fields

from app.core.database.session import Base, after_commit, db, on_rollback
from app.core.errors import NotFound
from app.core.lib import clock
from app.core.media import images, storage
from app.core.media.storage import Room
from config import Config

PICTURE_EDGE = 1600
PROFILE_EDGE = 512

CONTENT_TYPE = "image/webp"
NAME = re.compile(r"[0-9a-f]{32}\.webp")

#: A picture younger than this may belong to a unit of work that is still open.
ORPHAN_AGE = timedelta(days=1)


class Picture(fields.String):
    """The name of a stored picture in, its address out."""

    def __init__(self, **kwargs: Any) -> None:
        kwargs.setdefault("metadata", {"example": "/media/3f0c1d0f8a5b4c6e9d2a7b1e4f5c6d7e.webp"})
        super().__init__(dump_only=True, allow_none=True, **kwargs)

    def _serialize(self, value: str | None, *_: object, **__: object) -> str | None:
        return url(value)


class StoredName(str):
    """The random name of a picture that was stored just now, and its size in bytes."""

    size: int

    def __new__(cls, name: str, size: int) -> Self:
        stored = super().__new__(cls, name)
        stored.size = size
        return stored


def save(stream: BinaryIO, *, longest_edge: int = PICTURE_EDGE) -> StoredName:
    """Store the picture in `stream` and return its random name; a rollback removes it again.

    Raises `PayloadTooLarge`, `UnsupportedMedia` or `Unavailable`.
    """
    data = images.normalise(stream, longest_edge=longest_edge)
    name = StoredName(f"{secrets.token_hex(16)}.webp", len(data))
    on_rollback(partial(store().remove, name))
    store().put(name, data, CONTENT_TYPE)
    return name


def columns(
    data: Mapping[str, object], *, replaces: str | None = None, longest_edge: int = PICTURE_EDGE
) -> dict[str, object]:
    """`data` as a row's columns: the picture that came along as `image` is stored, and its name stands in its place.

    The one that it `replaces` is discarded, as it is by a null. Where nothing was sent, nothing happens to it.
    """
    if "image" not in data:
        return dict(data)
    upload = data["image"]
    name = save(cast(BinaryIO, upload), longest_edge=longest_edge) if upload else None
    discard(replaces)
    return {**data, "image": name}


def discard(name: str | None) -> None:
    """Remove a picture once the open unit of work has committed."""
    if name is not None:
        after_commit(partial(remove, name))


def remove(name: str) -> None:
    """Remove a picture now, hidden or not."""
    store().remove(name)
    hidden().remove(name)


def get(name: str) -> bytes:
    """The whole of a picture, hidden or not; raises `NotFound`."""
    try:
        return store().get(name)
    except NotFound:
        return hidden().get(name)


def response(data: bytes, filename: str) -> Response:
    """A picture as the response of a route, which nobody keeps; `filename` is for whoever saves it."""
    return Response(data, headers={"Content-Disposition": f'inline; filename="{filename}"'}, mimetype=CONTENT_TYPE)


def hide(name: str | None) -> None:
    """Serve a picture to nobody any more once the open unit of work has committed."""
    if name is not None:
        after_commit(partial(store().move, name, hidden()))


def show(name: str | None) -> None:
    """Serve a hidden picture again once the open unit of work has committed."""
    if name is not None:
        after_commit(partial(hidden().move, name, store()))


def url(name: str | None) -> str | None:
    """The path that the picture is served at."""
    return None if name is None else f"/media/{name}"


def named() -> sa.CompoundSelect[str]:
    """The names of all pictures that rows name: in every column called `image`, whatever table it is in."""
    columns = [table.c.image for table in Base.metadata.sorted_tables if "image" in table.c]
    return sa.union_all(*(sa.select(column).where(column.is_not(None)) for column in columns))


def sweep() -> int:
    """Remove the pictures that no row names; returns how many went."""
    oldest = clock.now() - ORPHAN_AGE
    old = {name for name, stored_at in store().names() if stored_at < oldest}
    for name in db.session.scalars(named().execution_options(yield_per=1000)):
        old.discard(name)
    for name in old:
        store().remove(name)
    return len(old)


def init_app(app: Flask, config: Config) -> None:
    """Serve the pictures at `/media/<name>`, outside the API."""
    storage.init_app(app, config)

    @app.get("/media/<name>")
    def media(name: str) -> Response:
        if not NAME.fullmatch(name):
            raise NotFound
        response = store().response(name, CONTENT_TYPE)
        # A name is never used twice, so a copy of it is good for ever; but who has one is not told so of a hidden one.
        if request.if_none_match.contains(name):
            response.close()
            response = Response(status=304)
        response.headers["Cache-Control"] = "public, max-age=31536000, immutable"
        response.set_etag(name)
        return response


def store() -> storage.Store:
    """Where the pictures of the running application lie."""
    pictures: storage.Store = current_app.extensions["media"]
    return pictures


def hidden() -> storage.Store:
    """Where the hidden ones lie meanwhile."""
    return storage.room(Room.HIDDEN)
