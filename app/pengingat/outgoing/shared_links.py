"""Web links of messages whose reminders are due at different minutes.

A web link belongs to one person and one minute. One message may contain reminders of several minutes, for example
because a dose was snoozed. The column `shared_links` allows the link of the message to answer all reminders in the
message.
"""

from __future__ import annotations

from collections.abc import Mapping

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY

from app.core.database.session import db
from app.notifications.delivery.claims import Claimed
from app.pengingat.ledger.tokens import hash_of
from app.pengingat.models import occurrences
from app.pengingat.outgoing.texts import parts_of

_links = occurrences.c.shared_links
_all = sa.func.unnest(sa.func.array_cat(_links, sa.bindparam("links", type_=ARRAY(sa.Text))))
_each_once = sa.select(_all).distinct().correlate(occurrences).scalar_subquery()
_share = (
    sa.update(occurrences)
    .where(occurrences.c.id == sa.bindparam("occurrence_id"))
    .values(shared_links=sa.func.array(_each_once))
)


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


def record(delivery: Claimed) -> None:
    """Store with each reminder of a message the link hashes of the reminders before it.

    The link of a reminder then also answers all later reminders of the message. The message ends with the link of its
    first reminder. Any reminder may become the first, because reminders that are cancelled before sending are left out.
    """
    links: list[str] = []
    shared: list[dict[str, object]] = []
    for each in delivery.together if delivery.others else ():
        own = hash_of(parts_of(each.words)["token"])
        if before := [link for link in links if link != own]:
            shared.append({"occurrence_id": each.occurrence_id, "links": before})
        links.append(own)
    if shared:
        db.session.execute(_share, shared)
