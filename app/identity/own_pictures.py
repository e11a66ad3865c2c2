"""The pictures that people have in their profile and in what they wrote in the forum: whose each is, and how much room
all take.

What administrators store for the service (doctors, communities, articles) is nobody's own and takes no room of theirs.
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

#: Bytes that the pictures which a person still has may take together, as stored.
MOST_BYTES = 100 * 1024 * 1024


class PicturesFull(Conflict):
    code = "pictures_full"
    message = "Gambar Anda sudah memakai 100 MB. Hapus gambar lama sebelum mengunggah yang baru."


def keep(user_id: int, columns: Mapping[str, object], *, replaces: str | None = None) -> None:
    """Note that the picture which `pictures.columns` stored is this person's, and discard the one that it replaces.

    `PicturesFull` when the person has no room for it; as any limit it is off with `RATE_LIMITS=off`. Posts are locked
    before this, for it locks the person: of two uploads at once the second sees the first.
    """
    if "image" not in columns:
        return
    discard(replaces)
    image = columns["image"]
    if not isinstance(image, StoredName):
        return
    db.session.execute(sa.select(User.id).where(User.id == user_id).with_for_update(key_share=True))
    db.session.execute(insert(OwnPicture).values(name=image, user_id=user_id, bytes=image.size))
    if rate_limits.are_enabled() and _bytes_of(user_id) > MOST_BYTES:
        raise PicturesFull


def discard(*names: str | None) -> None:
    """Remove people's own pictures once the open unit of work has committed; they take no room any more."""
    if any(names):
        gone = sa.delete(OwnPicture).where(OwnPicture.name.in_(filter(None, names)))
        db.session.execute(gone.execution_options(synchronize_session=False))
    for name in names:
        pictures.discard(name)


def sweep() -> int:
    """Remove the pictures that no row names, and what is noted of them; returns how many pictures went."""
    db.session.execute(
        sa.delete(OwnPicture)
        .where(OwnPicture.name.not_in(pictures.named()))
        .execution_options(synchronize_session=False)
    )
    return pictures.sweep()


def _bytes_of(user_id: int) -> int:
    """What a person's pictures take."""
    taken = sa.select(sa.func.coalesce(sa.func.sum(OwnPicture.bytes), 0)).where(OwnPicture.user_id == user_id)
    return db.session.scalar(taken) or 0
