"""Owners of the pictures in profiles and forum posts. Pictures that administrators store have no owner."""

from __future__ import annotations

from collections.abc import Mapping

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from app.core.database.session import db
from app.core.errors import NotFound
from app.core.media import pictures
from app.identity.models import OwnPicture


def keep(user_id: int, columns: Mapping[str, object], *, replaces: str | None = None) -> None:
    """Record the owner of a picture that `pictures.columns` has stored, and discard the replaced picture."""
    if "image" not in columns:
        return
    discard(replaces)
    if image := columns["image"]:
        db.session.execute(insert(OwnPicture).values(name=image, user_id=user_id))


def rename(name: str | None) -> str | None:
    """Give a picture a new random name. Its old address no longer works after the commit. Return the new name."""
    if name is None:
        return None
    try:
        new = pictures.copy(name)
    except NotFound:
        return None  # the file is lost, which must not prevent the caller's change
    renamed = sa.update(OwnPicture).where(OwnPicture.name == name).values(name=new)
    db.session.execute(renamed.execution_options(synchronize_session=False))
    pictures.discard(name)
    return new


def discard(*names: str | None) -> None:
    """Delete pictures, and the records of their owners, after the commit of the current transaction."""
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
