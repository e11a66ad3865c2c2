"""Web links of reminders that were sent with an older secret key. The column `shared_links` keeps their hashes."""

from __future__ import annotations

from collections.abc import Mapping

import sqlalchemy as sa

from app.core.database.session import db
from app.pengingat.models import occurrences

_links = occurrences.c.shared_links
_renew = (
    sa.update(occurrences)
    .where(occurrences.c.id == sa.bindparam("occurrence_id"), occurrences.c.link_hash != sa.bindparam("new_hash"))
    .values(
        link_hash=sa.bindparam("new_hash"),
        shared_links=sa.func.array_append(_links, occurrences.c.link_hash),
    )
)


def renew(hashes: Mapping[int, str]) -> None:
    """Store new link hashes after a change of the secret key. The old links still work.

    `hashes` maps the id of each occurrence to its new link hash.
    """
    db.session.execute(_renew, [{"occurrence_id": id_, "new_hash": new} for id_, new in hashes.items()])
