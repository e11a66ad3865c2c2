"""Texts of reminders and stock notices. A text is made when its message is sent.

An occurrence is one due time of a reminder.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import sqlalchemy as sa
from sqlalchemy import orm
from sqlalchemy.dialects.postgresql import ARRAY

from app.core.database import db_time
from app.core.database.session import db
from app.identity import consents, dependents, erasure
from app.identity.consents import Purpose
from app.identity.models import User
from app.notifications.delivery.claims import Claimed
from app.notifications.delivery.message_format import AS_TEMPLATE
from app.notifications.delivery.sealing import Words
from app.notifications.models import Channel
from app.pengingat.ledger import stock, tokens, upcoming
from app.pengingat.models import Occurrence, OccurrenceState, Pengingat
from app.pengingat.outgoing import shared_links, texts
from app.pengingat.outgoing.texts import Recipient

#: States of an occurrence in which its message is still sent. `MISSED` is included, because the answer `done` is
#: still possible for a missed occurrence.
ASKED = (OccurrenceState.PENDING, OccurrenceState.MISSED)

#: Columns of occurrences and of reminders that are needed to make the texts.
_OCCURRENCE = ("id", "state", "tipe", "slot", "due_at", "link_hash")
_REMINDER = ("user_id", "tipe", "judul", "timezone", "details", "first_at")
_occurrence = [Occurrence.__table__.c[name] for name in _OCCURRENCE]
_reminder = [Pengingat.__table__.c[name] for name in _REMINDER]

_receiver = orm.aliased(User)
_receiver_name = sa.case((User.guardian_id.is_not(None), _receiver.nama_ktp))
_details = (
    sa.select(
        User.nama_ktp,
        _receiver_name,
        sa.func.coalesce(Occurrence.snoozed_until > sa.func.statement_timestamp(), sa.false()),
        *_occurrence,
        *_reminder,
    )
    .join(Pengingat, Pengingat.id == Occurrence.reminder_id)
    .join(User, User.id == Pengingat.user_id)
    .join(_receiver, _receiver.id == dependents.RECEIVER_ID)
    .where(
        Occurrence.id == sa.any_(sa.bindparam("ids", type_=ARRAY(sa.BigInteger))),
        ~consents.is_withdrawn(User.id, Purpose.HEALTH_DATA),
    )
)


def render(deliveries: Sequence[Claimed]) -> dict[int, Words]:
    """Return the texts of reminders by delivery id. Leave out reminders that were answered, snoozed or deleted.

    Also leave out reminders of people who have withdrawn the consent to health data.
    """
    rows = db.session.execute(_details, {"ids": [each.occurrence_id for each in deliveries]}).all()
    details = {values[3]: _OccurrenceDetails.of(*values) for values in rows}
    if changed := {id_: row.link_hash for id_, row in details.items() if row.has_another_link}:
        shared_links.renew(changed)
    found = [(each, details[each.occurrence_id]) for each in deliveries if each.occurrence_id in details]
    return {each.id: row.words(each) for each, row in found if row.must_be_sent(each)}


@dataclass(frozen=True)
class _OccurrenceDetails:
    """Occurrence with its reminder and its recipient."""

    occurrence: Occurrence
    pengingat: Pengingat
    recipient: Recipient
    is_snoozed: bool

    @classmethod
    def of(cls, name: str, reader: str | None, is_snoozed: bool, *values: object) -> Self:
        first, rest = values[: len(_OCCURRENCE)], values[len(_OCCURRENCE) :]
        occurrence = Occurrence(**dict(zip(_OCCURRENCE, first, strict=True)))
        return cls(occurrence, _reminder_of(rest), Recipient(name, reader), is_snoozed)

    @property
    def token(self) -> str:
        return tokens.push_token(self.pengingat.user_id, self.occurrence.due_at)

    @property
    def link_hash(self) -> str:
        return tokens.hash_of(tokens.link_token_of(self.token))

    @property
    def has_another_link(self) -> bool:
        """Return whether the stored link hash was made with an older secret key."""
        return self.occurrence.link_hash not in (None, self.link_hash)

    def must_be_sent(self, delivery: Claimed) -> bool:
        """Return whether the message must be sent. Return False if the occurrence is answered, cancelled or snoozed."""
        return self.occurrence.state in ASKED and not (self.is_snoozed and _may_be_overtaken(delivery))

    def words(self, delivery: Claimed) -> Words:
        due = upcoming.due_of(self.occurrence)
        if self.occurrence.tipe != self.pengingat.tipe or not self.pengingat.schedule.has_slot(due.slot):
            due = replace(due, slot=texts.REMOVED)
        if delivery.channel == Channel.MESSAGING:
            again = is_repeat(delivery)
            return texts.payload(self.pengingat, due, self.recipient, tokens.link_token_of(self.token), again=again)
        return {**texts.push(self.pengingat, due, self.recipient), "actions": texts.ACTIONS, "token": self.token}


def _reminder_of(values: Sequence[Any]) -> Pengingat:
    return Pengingat(**dict(zip(_REMINDER, values, strict=True)))


def _may_be_overtaken(delivery: Claimed) -> bool:
    """Return whether this delivery may have been added to the outbox after the reminder was snoozed.

    A snooze cancels only the deliveries that exist at that time. Deliveries of templates and of pushes to one browser
    are added later than the original delivery. So they may be added after the snooze.
    """
    return bool(delivery.payload.get(AS_TEMPLATE)) or delivery.target is not None


_stock_of = (
    sa.select(Pengingat.id, User.nama_ktp, _receiver_name, *_reminder)
    .join(User, User.id == Pengingat.user_id)
    .join(_receiver, _receiver.id == dependents.RECEIVER_ID)
    .where(
        Pengingat.id.in_(sa.bindparam("ids", expanding=True)),
        erasure.IS_PRESENT,
        ~consents.is_withdrawn(User.id, Purpose.HEALTH_DATA),
    )
)


def render_stock(deliveries: Sequence[Claimed]) -> dict[int, Words]:
    """Return the texts of stock notices by delivery id. Leave out medicines of which there is enough again."""
    now = db_time.now()
    rows = db.session.execute(_stock_of, {"ids": [each.about_id for each in deliveries]}).all()
    found = {id_: (_reminder_of(values), Recipient(name, reader)) for id_, name, reader, *values in rows}
    known = [(each, *found[each.about_id]) for each in deliveries if each.about_id in found]
    return {
        each.id: texts.stock(pengingat, day, recipient, is_push=each.channel != Channel.MESSAGING)
        for each, pengingat, recipient in known
        if (day := stock.runs_out_on(pengingat, now))
    }


def is_repeat(delivery: Claimed) -> bool:
    return bool(delivery.payload.get("again"))
