"""Owners and sizes of pictures in profiles and forum posts.

`keep` limits the total size of each person's pictures. Pictures that administrators store for the service (doctors,
communities, articles) have no owner and no limit.
"""

from __future__ import annotations

from collections.abc import Mapping

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from app.core.database.session import db
from app.core.errors import Conflict
from app.core.media import pictures
from app.core.media.pictures import StoredName
from app.core.web import rate_limits
from app.identity.models import OwnPicture, User

#: Maximum bytes of all stored pictures of one person.
MAX_BYTES = 100 * 1024 * 1024


class PicturesFull(Conflict):
    code = "pictures_full"
    message = "Gambar Anda sudah memakai 100 MB. Hapus gambar lama sebelum mengunggah yang baru."


def keep(user_id: int, columns: Mapping[str, object], *, replaces: str | None = None) -> None:
    """Record the owner of a picture that `pictures.columns` has stored, and discard the replaced picture.

    Raise `PicturesFull` above `MAX_BYTES`. The setting `RATE_LIMITS=off` disables this limit. The function locks the
    person, so that simultaneous uploads cannot exceed the limit. Lock posts before you call this function.
    """
    if "image" not in columns:
        return
    discard(replaces)
    image = columns["image"]
    if not isinstance(image, StoredName):
        return
    db.session.execute(sa.select(User.id).where(User.id == user_id).with_for_update(key_share=True))
    db.session.execute(insert(OwnPicture).values(name=image, user_id=user_id, bytes=image.size))
    if rate_limits.are_enabled() and _bytes_of(user_id) > MAX_BYTES:
        raise PicturesFull


def discard(*names: str | None) -> None:
    """Delete pictures after the commit of the current transaction. Stop counting them for `MAX_BYTES` at once."""
    if any(names):
        gone = sa.delete(OwnPicture).where(OwnPicture.name.in_(filter(None, names)))
        db.session.execute(gone.execution_options(synchronize_session=False))
    for name in names:
        pictures.discard(name)


def sweep() -> int:
    """Delete the pictures that no profile, post or other row uses. Return the number of deleted pictures."""
    db.session.execute(
        sa.delete(OwnPicture)
        .where(OwnPicture.name.not_in(pictures.named()))
        .execution_options(synchronize_session=False)
    )
    return pictures.sweep()


def _bytes_of(user_id: int) -> int:
    taken = sa.select(sa.func.coalesce(sa.func.sum(OwnPicture.bytes), 0)).where(OwnPicture.user_id == user_id)
    return db.session.scalar(taken) or 0
