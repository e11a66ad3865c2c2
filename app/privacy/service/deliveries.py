"""A person's past and pending deliveries. A message and the pushes with the same content are one delivery."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

import sqlalchemy as sa

from app.core.database import db_time
from app.core.database.session import db
from app.core.web.pagination import Listing, Page, paginate_rows
from app.identity import consents, notification_settings
from app.identity.consents import Purpose
from app.identity.notification_settings import DeliveryPreferences
from app.identity.sessions import Caller
from app.notifications.delivery.delivery_preferences import ALWAYS_WANTED, AT_ANY_HOUR, SWITCHED_OFF
from app.notifications.delivery.rendering import NOT_ANY_MORE
from app.notifications.models import OPEN, Channel, Delivery, DeliveryState, Receipt
from app.pengingat.ledger import bells, stock
from app.pengingat.models import LATE, Occurrence, Pengingat
from app.pengingat.models import OccurrenceState as Answer
from app.privacy.schemas import Status
from app.privacy.service import delivery_labels

RANKS = {status: rank for rank, status in enumerate(Status)}
SETTLED = {
    DeliveryState.FAILED: Status.FAILED,
    DeliveryState.MISSED: Status.LATE,
    DeliveryState.CANCELLED: Status.CANCELLED,
}
RECEIVED = {Receipt.READ: Status.READ, Receipt.DELIVERED: Status.DELIVERED, Receipt.FAILED: Status.FAILED}
#: The reason that is shown for a status if the outbox recorded no reason.
DEFAULT_REASONS = {
    Status.FAILED: delivery_labels.FAILED,
    Status.LATE: delivery_labels.LATE,
    Status.CANCELLED: delivery_labels.CANCELLED,
}


@dataclass(frozen=True)
class Part:
    """The result of a delivery on one channel: message or push."""

    channel: str
    status: Status
    #: Time of the status. None while the delivery is pending.
    at: datetime | None
    reason: str | None


@dataclass(frozen=True)
class Sent:
    id: int
    kind: str
    title: str
    due_at: datetime
    channels: list[Part]


def list_own(caller: Caller, page: Page) -> Listing[Sent]:
    """Return the caller's past and pending deliveries, latest due time first."""
    return list_of(caller.id, page)


def list_of(user_id: int, page: Page, *which: sa.ColumnElement[bool]) -> Listing[Sent]:
    """Return a person's deliveries that match the condition `which`, latest due time first."""
    listing = paginate_rows(_grouped(user_id, _ringing(user_id), *which), page)
    preferences, now = notification_settings.delivery_preferences(user_id), db_time.now()
    times = _times(user_id, [row for row in listing.rows if row.bell is not None])
    rows = [
        Sent(
            row.id,
            row.kind,
            delivery_labels.title_of(row.kind, row.judul or _titles(times.get(row.id, ()))),
            row.due_at,
            _parts(row, times.get(row.id, ()), preferences, now),
        )
        for row in listing.rows
    ]
    return Listing(rows, listing.total, page)


def _ringing(user_id: int) -> set[tuple[str, datetime]]:
    """Return kind and moment of the bells that would say something now."""
    open_rows = (
        sa.select(Occurrence, Pengingat)
        .join(Pengingat, Pengingat.id == Occurrence.reminder_id)
        .where(
            Occurrence.user_id == user_id,
            Occurrence.state.in_([Answer.PENDING, Answer.MISSED]),
            Occurrence.due_at > db_time.now_sql() - 12 * LATE,
            ~consents.is_withdrawn(user_id, Purpose.HEALTH_DATA),
        )
    )
    rows = db.session.execute(open_rows).all()
    return {(bell.kind, bell.moment) for row, pengingat in rows for bell in bells.of_row(pengingat, row)}


def _grouped(
    user_id: int, ringing: Collection[tuple[str, datetime]], *which: sa.ColumnElement[bool]
) -> sa.Select[*tuple[object, ...]]:
    """Return a query for a person's deliveries. Each row combines a message and the pushes with the same content."""
    delivery = sa.func.json_build_array(
        Delivery.channel,
        Delivery.state,
        Delivery.receipt,
        Delivery.last_error,
        Delivery.settled_at,
        Delivery.receipt_at,
        Delivery.said,
    )
    about_id = sa.cast(Delivery.payload["about_id"].astext, sa.BigInteger)
    # The keys of one event differ only in the channel and the browser.
    event = sa.func.regexp_replace(Delivery.dedupe_key, r"(:(messaging|push_fan_out))?(:\d+)?$", "")
    key = (Delivery.kind, Delivery.due_at)
    bell = Delivery.payload[bells.BELL].astext
    # Bells that say or said nothing are left out. A bell that could not leave has another reason.
    says_something = sa.case(
        (sa.or_(bell.is_(None), Delivery.said.is_not(None)), sa.true()),
        (Delivery.state.in_(OPEN), sa.tuple_(bell, Delivery.due_at).in_(ringing)),
        else_=Delivery.last_error.is_distinct_from(NOT_ANY_MORE),
    )
    groups = (
        sa.select(
            sa.func.min(Delivery.id).label("id"),
            *key,
            sa.func.max(about_id).label("about_id"),
            sa.func.max(bell).label("bell"),
            sa.func.json_agg(delivery, type_=sa.JSON).label("rows"),
        )
        .where(Delivery.user_id == user_id, says_something, *which)
        .group_by(*key, event)
        .subquery()
    )
    return (
        sa.select(groups.c.id, groups.c.kind, groups.c.due_at, groups.c.bell, groups.c.rows, Pengingat.judul)
        .outerjoin(Pengingat, sa.and_(groups.c.kind == stock.KIND, Pengingat.id == groups.c.about_id))
        .order_by(groups.c.due_at.desc(), groups.c.id.desc())
    )


def _times(user_id: int, rows: Sequence[sa.Row[*tuple[object, ...]]]) -> dict[int, list[Occurrence]]:
    """Return the times that each bell has said, or else those of its moment."""
    if not rows:
        return {}
    said = {row.id: {id_ for *_, ids in row.rows for id_ in ids or ()} for row in rows}
    moments = [row.due_at for row in rows]
    is_near = Occurrence.due_at.between(min(moments) - 12 * LATE, max(moments))
    ids = [id_ for each in said.values() for id_ in each]
    near = sa.select(Occurrence, Pengingat).outerjoin(Pengingat, Pengingat.id == Occurrence.reminder_id)
    near = near.where(Occurrence.user_id == user_id, sa.or_(is_near, Occurrence.id.in_(ids)))
    found = db.session.execute(near.order_by(Occurrence.reminder_id, Occurrence.slot)).all()
    rang = {row.id: set(bells.of_row(pengingat, row)) if pengingat else set() for row, pengingat in found}
    return {
        row.id: [
            time
            for time, _ in found
            if (time.id in said[row.id] if said[row.id] else (user_id, row.bell, row.due_at) in rang[time.id])
        ]
        for row in rows
    }


def _titles(times: Sequence[Occurrence]) -> str:
    return ", ".join(dict.fromkeys(time.judul for time in times))


def _parts(
    row: sa.Row[*tuple[object, ...]], times: Sequence[Occurrence], preferences: DeliveryPreferences, now: datetime
) -> list[Part]:
    """Return the status of the message and of the push.

    If the push went to several browsers, return the most advanced status among these browsers.
    """
    parts: dict[str, list[Part]] = {}
    fanned_out = any(delivery[0] == Channel.PUSH for delivery in row.rows)
    for channel, *columns in row.rows:
        if channel == Channel.PUSH_FAN_OUT and fanned_out:
            continue
        name = "message" if channel == Channel.MESSAGING else "push"
        is_wanted = row.kind in ALWAYS_WANTED or (preferences.messages if name == "message" else preferences.push)
        state, receipt, error, settled_at, receipt_at, _ = columns
        if state in OPEN:
            part = _open(row, name, error, preferences if is_wanted else None, now)
        elif channel == Channel.PUSH_FAN_OUT and state == DeliveryState.SENT:
            part = Part(name, Status.CANCELLED, _moment(settled_at), delivery_labels.NO_BROWSER)
        elif receipt in RECEIVED and (state == DeliveryState.SENT or receipt != Receipt.FAILED):
            status, unreached = RECEIVED[Receipt(receipt)], delivery_labels.with_contact(delivery_labels.UNREACHED)
            part = Part(name, status, _moment(receipt_at), unreached if status is Status.FAILED else None)
        elif state == DeliveryState.SENT:
            part = Part(name, Status.SENT, _moment(settled_at), None)
        else:
            part = Part(
                name, SETTLED[DeliveryState(state)], _moment(settled_at), _reason(times, DeliveryState(state), error)
            )
        parts.setdefault(name, []).append(part)
    return [min(parts[name], key=lambda part: RANKS[part.status]) for name in ("message", "push") if name in parts]


def _open(
    row: sa.Row[*tuple[object, ...]],
    name: str,
    error: str | None,
    preferences: DeliveryPreferences | None,
    now: datetime,
) -> Part:
    """Return the status of a pending delivery. `preferences` is None if the person switched off the channel."""
    if preferences is None:
        return Part(name, Status.CANCELLED, None, delivery_labels.REASONS[SWITCHED_OFF])
    is_held = row.due_at <= now and row.kind not in AT_ANY_HOUR and preferences.quiet_until(now) is not None
    reason = delivery_labels.QUIET if is_held else delivery_labels.TRIED if error else None
    return Part(name, Status.WAITING, None, reason)


def _reason(times: Sequence[Occurrence], state: DeliveryState, error: str | None) -> str:
    if error in delivery_labels.REASONS:
        return delivery_labels.REASONS[error]
    answers = {time.state for time in times}
    if state is DeliveryState.CANCELLED and answers and answers <= {Answer.DONE, Answer.SKIPPED}:
        return delivery_labels.ANSWERED
    if state is DeliveryState.CANCELLED and answers == {Answer.VOID}:
        return delivery_labels.CHANGED
    reason = DEFAULT_REASONS[SETTLED[state]]
    return reason if state is DeliveryState.CANCELLED else delivery_labels.with_contact(reason)


def _moment(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None
