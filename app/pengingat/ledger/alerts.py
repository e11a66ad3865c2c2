"""Alerts to caregivers: deliveries about missed occurrences and about late answers.

An alert is a delivery to one caregiver about one patient. Its payload has the ids of the occurrences. While an alert
waits, later occurrences are added to it. The text is read when the alert leaves, see `app.pengingat.caregiving.alerts`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from enum import StrEnum
from typing import NamedTuple, cast

import sqlalchemy as sa

from app.core.database.session import db
from app.identity import care
from app.identity.care import CaregiverLink, Scope
from app.identity.models import User
from app.notifications import outbox
from app.notifications.models import Channel, Delivery, DeliveryState
from app.pengingat.models import Occurrence, OccurrenceState, Pengingat

KIND = "alert"

#: Time after which an unsent alert expires. If quiet hours hold it for longer, it leaves when they end.
LIFETIME = timedelta(hours=12)
#: Maximum age of a due time for which an alert is still created.
FRESH = timedelta(hours=24)
#: After an alert that left at once, the alerts of this time leave together.
WINDOW = timedelta(hours=2)

LEAVING = (DeliveryState.CLAIMED, DeliveryState.SENT)


class Topic(StrEnum):
    """Content of an alert."""

    MISSED = "missed"
    #: The patient marked the occurrence as done after the alert of the topic `MISSED`.
    LATE = "late"


class Subject(NamedTuple):
    """Properties of all occurrences of an alert. Important ones have own alerts, because the night holds others."""

    patient_id: int
    topic: Topic
    is_important: bool


def add_missed(occurrence_ids: Collection[int], now: datetime) -> None:
    """Alert the caregivers about these missed occurrences, about each of them once."""
    which = Occurrence.state == OccurrenceState.MISSED, Occurrence.due_at > now - FRESH
    _add(Topic.MISSED, now, Occurrence.id.in_(occurrence_ids), *which)


def add_late(occurrence_ids: Collection[int], now: datetime) -> None:
    """Inform the caregivers that these occurrences are done, if they may have got an alert about them before."""
    _add(Topic.LATE, now, Occurrence.id.in_(occurrence_ids))


def _add(topic: Topic, now: datetime, *which: sa.ColumnElement[bool]) -> None:
    found = (
        sa.select(CaregiverLink.caregiver_id, Occurrence, Pengingat.details)
        .join(Occurrence, Occurrence.user_id == CaregiverLink.patient_id)
        .join(Pengingat, Pengingat.id == Occurrence.reminder_id)
        .join(User, User.id == CaregiverLink.caregiver_id)
        .where(care.has(Scope.ALERTS), *which)
        .order_by(CaregiverLink.id, Occurrence.due_at, Occurrence.id)
        # Wait for the deletion of a caregiver. A change of the username or the number takes the same lock for a moment.
        .with_for_update(of=User, read=True, key_share=True)
    )
    rows = db.session.execute(found).all()
    if not rows:
        return
    # Without this lock, two schedulers could each add the first alert of a caregiver.
    db.session.execute(sa.select(sa.func.pg_advisory_xact_lock(sa.func.hashtextextended("alerts", 0))))
    since = min(now - FRESH, *(occurrence.due_at for _, occurrence, _ in rows))
    alerts: dict[int | None, list[Delivery]] = defaultdict(list)
    for alert in _alerts({caregiver_id for caregiver_id, *_ in rows}, since):
        alerts[alert.user_id].append(alert)
    news: dict[tuple[int, Subject], list[int]] = defaultdict(list)
    for caregiver_id, occurrence, details in rows:
        if _is_news(topic, occurrence.id, alerts[caregiver_id]):
            subject = Subject(occurrence.user_id, topic, details.get("penting") is True)
            news[caregiver_id, subject].append(occurrence.id)
    for (caregiver_id, subject), ids in news.items():
        for channel in (Channel.MESSAGING, Channel.PUSH_FAN_OUT):
            _tell(caregiver_id, subject, ids, channel, alerts[caregiver_id], now)


def _alerts(caregiver_ids: Collection[int], since: datetime) -> Sequence[Delivery]:
    """Lock and return the alerts to these caregivers since this time. A locked alert is not sent before the commit."""
    alerts = sa.select(Delivery).where(
        Delivery.user_id.in_(caregiver_ids),
        Delivery.kind == KIND,
        Delivery.channel.in_([Channel.MESSAGING, Channel.PUSH_FAN_OUT]),
        Delivery.due_at > since,
    )
    lock = alerts.order_by(Delivery.id).with_for_update(key_share=True)
    return db.session.scalars(lock.execution_options(populate_existing=True)).all()


def _is_news(topic: Topic, occurrence_id: int, alerts: Sequence[Delivery]) -> bool:
    """Return whether a caregiver with these alerts must get an alert about the occurrence."""
    told = [row for row in alerts if occurrence_id in _ids(row)]
    if topic is Topic.LATE:
        may_know = any(row.state in LEAVING or row.unconfirmed_calls for row in told)
        return may_know and all(row.payload["topic"] != topic for row in told)
    return not told


def _ids(row: Delivery) -> list[int]:
    return cast(list[int], row.payload["occurrence_ids"])


def _tell(
    caregiver_id: int, subject: Subject, ids: list[int], channel: Channel, alerts: Sequence[Delivery], now: datetime
) -> None:
    """Add the occurrences to the caregiver's alert of this subject that waits, or else to a new one.

    The first alert leaves at once. What follows within two hours leaves together when they end.
    """
    same = [row for row in alerts if row.channel == channel and row.payload.items() >= subject._asdict().items()]
    for row in same:
        # A worker that has tried to send the alert may have said what was in it. A receipt can still settle it.
        if row.state == DeliveryState.PENDING and not row.attempts and row.expires_at > now:
            row.payload = {**row.payload, "occurrence_ids": [*_ids(row), *ids]}
            return
    left = [row.settled_at or row.due_at for row in same if row.payload["is_first"] and row.state in LEAVING]
    due_at = max([now, *(moment + WINDOW for moment in left)])
    outbox.send(
        outbox.NewDelivery(
            kind=KIND,
            channel=channel,
            dedupe_key=f"alert:{caregiver_id}:{subject.topic}:{ids[0]}:{channel}",
            payload={**subject._asdict(), "is_first": due_at == now, "occurrence_ids": ids},
            due_at=due_at,
            expires_in=LIFETIME,
            user_id=caregiver_id,
        )
    )
