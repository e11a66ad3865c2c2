"""Renders reminders and stock notices, and checks reminders before they leave."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any, Self

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY

from app.core.database.prepared import PreparedStatement
from app.core.database.session import autocommit, db, unit_of_work
from app.identity import consents, erasure
from app.identity.consents import Purpose
from app.identity.models import PHONE_IS_PROVEN, User
from app.notifications import outbox
from app.notifications.delivery.claims import Claimed
from app.notifications.delivery.forms import AS_TEMPLATE
from app.notifications.delivery.sealing import Words
from app.notifications.models import OPEN, Channel, Delivery, Receipt
from app.notifications.models import State as DeliveryState
from app.pengingat import occurrences, shared_links, texts, tokens
from app.pengingat.models import Occurrence, Pengingat, State, Tipe
from app.pengingat.plans import doses_on
from app.pengingat.texts import Recipient

#: A dose whose message left so lately, because it was late, is not asked about again. Below half of the shortest span.
JUST_NOW = timedelta(minutes=4)

#: States of an occurrence that is still asked about. What was missed can still be done.
ASKED = (State.PENDING, State.MISSED)

#: What the words are made of.
_OCCURRENCE = ("id", "state", "tipe", "slot", "due_at", "link_hash")
_REMINDER = ("user_id", "tipe", "judul", "timezone", "details", "plan")
_occurrence = [Occurrence.__table__.c[name] for name in _OCCURRENCE]
_reminder = [Pengingat.__table__.c[name] for name in _REMINDER]

_told_of = PreparedStatement(
    sa.select(
        User.nama_ktp,
        PHONE_IS_PROVEN,
        sa.func.coalesce(Occurrence.snoozed_until > sa.func.statement_timestamp(), sa.false()),
        *_occurrence,
        *_reminder,
    )
    .join(Pengingat, Pengingat.id == Occurrence.reminder_id)
    .join(User, User.id == Pengingat.user_id)
    .where(Occurrence.id == sa.any_(sa.bindparam("ids", type_=ARRAY(sa.BigInteger))))
)


def render(deliveries: Sequence[Claimed]) -> dict[int, Words]:
    """Read the words of reminders. One that was answered, put off or deleted since has none."""
    with autocommit() as connection:
        rows = _told_of.rows(connection, {"ids": [each.occurrence_id for each in deliveries]})
    told = {values[3]: _Told.of(*values) for values in rows}
    if changed := {id_: row.link_hash for id_, row in told.items() if row.has_another_link}:
        shared_links.renew(changed)
    asked = [(each, told[each.occurrence_id]) for each in deliveries if each.occurrence_id in told]
    return {each.id: row.words(each) for each, row in asked if row.is_asked(each)}


@dataclass(frozen=True)
class _Told:
    """An occurrence, its reminder and its person."""

    occurrence: Occurrence
    pengingat: Pengingat
    recipient: Recipient
    is_put_off: bool

    @classmethod
    def of(cls, name: str, is_proven: bool, is_put_off: bool, *values: object) -> Self:
        first, rest = values[: len(_OCCURRENCE)], values[len(_OCCURRENCE) :]
        occurrence = Occurrence(**dict(zip(_OCCURRENCE, first, strict=True)))
        return cls(occurrence, _reminder_of(rest), Recipient(name, is_proven), is_put_off)

    @property
    def token(self) -> str:
        return tokens.push_token(self.pengingat.user_id, self.occurrence.due_at)

    @property
    def link_hash(self) -> str:
        return tokens.hash_of(tokens.link_token_of(self.token))

    @property
    def has_another_link(self) -> bool:
        """Return whether its link was made with a secret that has changed since."""
        return self.occurrence.link_hash not in (None, self.link_hash)

    def is_asked(self, delivery: Claimed) -> bool:
        """Return whether it can still be answered and was not put off."""
        row, slot = self.occurrence, self.occurrence.slot
        if row.state not in ASKED or (self.is_put_off and _may_be_overtaken(delivery)):
            return False
        if self.pengingat.tipe != Tipe.OBAT:
            return True
        return slot.isdigit() and int(slot) < len(doses_on(self.pengingat, row.due_at))  # they may be fewer since

    def words(self, delivery: Claimed) -> Words:
        due = occurrences.due_of(self.occurrence)
        if delivery.channel == Channel.MESSAGING:
            again = _asks_again(delivery)
            return texts.payload(self.pengingat, due, self.recipient, tokens.link_token_of(self.token), again=again)
        return {**texts.push(self.pengingat, due, self.recipient), "actions": texts.ACTIONS, "token": self.token}


def _reminder_of(values: Sequence[Any]) -> Pengingat:
    return Pengingat(**dict(zip(_REMINDER, values, strict=True)))


def _may_be_overtaken(delivery: Claimed) -> bool:
    """Return whether an answer may have missed it: a second form or a push to one browser is added later."""
    return bool(delivery.payload.get(AS_TEMPLATE)) or delivery.target is not None


_stock_of = (
    sa.select(Pengingat.id, User.nama_ktp, *_reminder)
    .join(User, User.id == Pengingat.user_id)
    .where(
        Pengingat.id.in_(sa.bindparam("ids", expanding=True)),
        Pengingat.stock_told.is_not(None),
        erasure.IS_PRESENT,
        ~consents.is_withdrawn(User.id, Purpose.HEALTH_DATA),
    )
)


def render_stock(deliveries: Sequence[Claimed]) -> dict[int, Words]:
    """Read the words of stock notices. A reminder that was refilled, or is no medicine any more, has none."""
    with autocommit() as connection:
        rows = connection.execute(_stock_of, {"ids": [each.about_id for each in deliveries]}).all()
    found = {id_: (_reminder_of(values), name) for id_, name, *values in rows}
    told = [(each, *found[each.about_id]) for each in deliveries if each.about_id in found]
    return {
        each.id: texts.stock(
            pengingat,
            date.fromisoformat(str(each.payload["day"])),
            name,
            is_push=each.channel != Channel.MESSAGING,
        )
        for each, pengingat, name in told
        if pengingat.tipe == Tipe.OBAT
    }


def check(delivery: Claimed) -> None:
    """Cancel reminders that ask again too soon. Note which links the others share."""
    if again := {each.occurrence_id: each.dedupe_key for each in delivery.together if _asks_again(each)}:
        _cancel_too_soon(delivery, again)
    shared_links.note(delivery)


def _cancel_too_soon(delivery: Claimed, again: dict[int | None, str]) -> None:
    """Cancel those that ask again if the first has just left, or leaves now instead."""
    now = sa.func.statement_timestamp()
    has_just_left = sa.and_(
        Delivery.state == DeliveryState.SENT,
        Delivery.settled_at > now - JUST_NOW,
        Delivery.receipt.is_distinct_from(Receipt.FAILED),
    )
    can_leave = sa.and_(Delivery.state.in_(OPEN), Delivery.expires_at > now)
    late = sa.select(Delivery).where(
        Delivery.occurrence_id.in_(again),
        Delivery.channel == delivery.channel,
        Delivery.target.is_not_distinct_from(delivery.target),
        ~Delivery.payload.has_key("again"),
        sa.or_(has_just_left, can_leave),
    )
    with unit_of_work():
        for first in db.session.scalars(late.with_for_update(key_share=True)).all():
            outbox.cancel_one(again[first.occurrence_id])
            if first.state == DeliveryState.PENDING:  # it may have been waiting for its next attempt
                first.next_try_at = now


def _asks_again(delivery: Claimed) -> bool:
    return bool(delivery.payload.get("again"))
