"""Data of the outbox page. One entry contains all messages and pushes of one event."""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from app.core.database.session import db, unit_of_work
from app.identity.models import User
from app.inbox import limits
from app.inbox import service as inbox
from app.notifications.delivery import drain, rendering
from app.notifications.delivery.claims import Claimed, UndeliverableError, UnwantedError
from app.notifications.delivery.sealing import Words
from app.notifications.models import OPEN, DeliveryState, InboundKind, deliveries, inbound
from app.providers.webhooks import WebhookEvent

#: Maximum number of upcoming deliveries to read, and maximum number of other deliveries to read.
SHOWN = 200
#: `HEARD` is the maximum number of incoming messages on the page. `PEOPLE` is the maximum number of
#: recipients whom the developer can choose as the sender of a message.
HEARD, PEOPLE = 20, 30
#: Number of upcoming entries and number of latest entries that the page shows in full. The page collapses the others.
UNFOLDED_NEXT, UNFOLDED_LATEST = 4, 12

Row = Mapping[Any, Any]


@dataclass(frozen=True)
class OutboxEntry:
    """All deliveries of one event, for example of a due dose, a reply in the forum or a password reset."""

    rows: list[Row]

    @property
    def first(self) -> Row:
        return self.rows[0]

    @property
    def moment(self) -> datetime:
        """Return the latest time of the entry's deliveries. The time of an open delivery is its due time."""
        return max(row["moment"] for row in self.rows)

    @property
    def is_withdrawn(self) -> bool:
        return all(row["state"] == DeliveryState.CANCELLED for row in self.rows)


@dataclass(frozen=True)
class OutboxPage:
    upcoming: list[OutboxEntry]
    latest: list[OutboxEntry]
    withdrawn: list[OutboxEntry]
    #: Incoming messages, newest first.
    received: Sequence[Row]
    #: Name of each recent or upcoming recipient, by phone number.
    people: dict[str, str]


_rows = deliveries.c
_moment = sa.func.coalesce(_rows.settled_at, _rows.due_at)
_is_upcoming = sa.and_(_rows.state.in_(OPEN), _rows.due_at > sa.func.now())
_shown = sa.select(deliveries, _moment.label("moment"), User.username, User.nama_ktp, User.phone).outerjoin(
    User, User.id == _rows.user_id
)
_upcoming = _shown.where(_is_upcoming).order_by(_rows.due_at, _rows.id).limit(SHOWN)
_received = (
    sa.select(inbound, User.username, User.nama_ktp)
    .outerjoin(User, User.phone == inbound.c.phone)
    .where(inbound.c.kind == InboundKind.MESSAGE)
    .order_by(inbound.c.id.desc())
    .limit(HEARD)
)
_latest = _shown.where(~_is_upcoming).order_by(_moment.desc(), _rows.id.desc()).limit(SHOWN)


def read() -> OutboxPage:
    """Return the data of the page. Upcoming entries begin with the earliest, all other lists with the newest."""
    rows = [db.session.execute(which).mappings().all() for which in (_upcoming, _latest)]
    received = [{**row, "shown": _shown_text(row)} for row in db.session.execute(_received).mappings()]
    upcoming, latest = (_entries({**row, "words": words_of(row)} for row in part) for part in rows)
    people = {
        str(entry.first["phone"]): f"{entry.first['nama_ktp']} ({entry.first['phone']})"
        for entry in [*latest, *upcoming]
        if entry.first["phone"]
    }
    return OutboxPage(
        upcoming,
        [entry for entry in latest if not entry.is_withdrawn],
        [entry for entry in latest if entry.is_withdrawn],
        received,
        dict(list(people.items())[:PEOPLE]),
    )


def words_of(row: Row) -> Words:
    """Return the text of a delivery: the sent text, or for an unsent delivery the text that would be sent now.

    Return {} if nothing would be sent.
    """
    delivery = Claimed(**{name: row[name] for name in Claimed.__dataclass_fields__})
    try:
        return rendering.words_of([delivery], drain.routing().render).get(delivery.id, {})
    except (KeyError, UnwantedError, UndeliverableError):  # Its words are gone, or nobody should get it now.
        return {}


def write_as(phone: str, text: str) -> None:
    """Store an incoming message from this phone number, as the webhook of a provider would."""
    event = WebhookEvent(
        "outbox", f"dev:{uuid.uuid4()}", InboundKind.MESSAGE, phone=phone, text=text, payload={"type": "text"}
    )
    with unit_of_work():
        inbox.keep([event])


def _shown_text(row: Row) -> str:
    """Return the text of an incoming message, or hide the text if it may be about a crisis.

    An unhandled or failed message may be about a crisis, because the service has not checked the message yet.
    """
    outcome = row["outcome"] or ""
    if row["handled_at"] is None or outcome.startswith("failed") or outcome.endswith(limits.CRISIS):
        return "(not shown)"
    return str(row["text"] or "(no words)")


#: The end of a dedupe key that names the channel and the browser. The keys of one event differ only there.
_EVENT = re.compile(r"(:(messaging|push_fan_out))?(:\d+)?$")


def _entries(rows: Iterable[Row]) -> list[OutboxEntry]:
    """Group the deliveries by event. The events have the order of their first deliveries in `rows`."""
    entries: dict[tuple[object, ...], list[Row]] = {}
    for row in rows:
        key = (_EVENT.sub("", row["dedupe_key"]), row["kind"], row["user_id"], row["due_at"])
        entries.setdefault(key, []).append(row)
    return [OutboxEntry(sorted(group, key=lambda row: (row["channel"], row["id"]))) for group in entries.values()]
