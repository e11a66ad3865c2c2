"""Alerts to caregivers as they leave: the text, and the night. `app.pengingat.ledger.alerts` adds them.

All is read again when an alert leaves: the patient's permission, the consent, and the state of each occurrence.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import time
from typing import cast

import sqlalchemy as sa
from sqlalchemy import orm

from app.core.database import db_time
from app.core.database.session import db
from app.identity import consents, erasure, notification_settings
from app.identity.care import CaregiverLink, Scope
from app.identity.consents import Purpose
from app.identity.models import User
from app.identity.notification_settings import zone_of
from app.notifications.delivery import rendering, settlements
from app.notifications.delivery.claims import Claimed, PostponedError, UnwantedError
from app.notifications.delivery.delivery_preferences import TIME_LEFT
from app.notifications.delivery.sealing import Words
from app.notifications.models import Channel, Delivery, DeliveryState, Receipt
from app.pengingat.caregiving import alert_texts
from app.pengingat.caregiving.alert_texts import Line, News
from app.pengingat.ledger.alerts import KIND, Topic
from app.pengingat.models import Occurrence, OccurrenceState, Pengingat

#: Start and end of the night, in the caregiver's time zone.
NIGHT_FROM, NIGHT_TO = time(21), time(6)
#: Reason stored with a cancelled delivery.
NOT_ALLOWED = "not allowed by the patient any more"

_message = orm.aliased(Delivery)
#: SQL condition: the caregiver got an alert of the missed occurrence, or may have got it.
_WAS_TOLD = (
    sa.exists()
    .where(
        _message.user_id == CaregiverLink.caregiver_id,
        _message.kind == KIND,
        # A delivery of the channel PUSH_FAN_OUT becomes SENT even if the caregiver has no browser.
        _message.channel.in_([Channel.MESSAGING, Channel.PUSH]),
        sa.or_(_message.state == DeliveryState.SENT, _message.unconfirmed_calls > 0),
        _message.receipt.is_distinct_from(Receipt.FAILED),
        _message.payload.contains({"topic": Topic.MISSED}),
        Occurrence.id == sa.any_(_message.said),
    )
    .correlate_except(_message)
)


def check_night(delivery: Claimed) -> None:
    """Postpone an alert to the end of the night, unless it is important. Quiet hours are checked for all kinds."""
    if delivery.payload["is_important"]:
        return
    zone = zone_of(db.session.scalar(sa.select(User.domicile).where(User.id == delivery.user_id)))
    if until := notification_settings.quiet_until(NIGHT_FROM, NIGHT_TO, zone, db_time.now()):
        settlements.extend(delivery, until + TIME_LEFT)
        raise PostponedError(until)


def render(deliveries: Sequence[Claimed]) -> dict[int, Words]:
    """Return the texts of alerts by delivery id. Alerts that no longer match the state of the reminder are left out.

    Raise `UnwantedError` if the patient does not allow alerts any more.
    """
    return {each.id: words for each in deliveries if (words := _words(each))}


def _words(delivery: Claimed) -> Words | None:
    link = sa.select(CaregiverLink.scopes, User.nama_ktp, db_time.now_sql()).join(
        User, User.id == CaregiverLink.patient_id
    )
    allowed = link.where(
        CaregiverLink.caregiver_id == delivery.user_id,
        CaregiverLink.patient_id == delivery.payload["patient_id"],
        CaregiverLink.scopes.contains([Scope.ALERTS]),
        erasure.IS_PRESENT,
        ~consents.is_withdrawn(User.id, Purpose.HEALTH_DATA),
    )
    row = db.session.execute(allowed).one_or_none()
    if row is None:
        raise UnwantedError(NOT_ALLOWED)
    scopes, patient, now = row
    if lines := _lines(delivery):
        words = alert_texts.words(lines, patient, now, named=Scope.HISTORY in scopes)
        named = [line.occurrence.id for line in lines[: alert_texts.MAX_LINES]]
        return {**rendering.notice(delivery, **words), "said": named}
    return None


def _lines(delivery: Claimed) -> list[Line]:
    ids = cast(list[int], delivery.payload["occurrence_ids"])
    query = (
        sa.select(Occurrence, Pengingat, _WAS_TOLD)
        .join(Pengingat, Pengingat.id == Occurrence.reminder_id)
        .join(CaregiverLink, CaregiverLink.patient_id == Occurrence.user_id)
        .where(Occurrence.id.in_(ids), CaregiverLink.caregiver_id == delivery.user_id)
        .order_by(Occurrence.due_at, Occurrence.id)
        .execution_options(populate_existing=True)
    )
    lines: list[Line] = []
    for occurrence, pengingat, was_told in db.session.execute(query):
        if delivery.payload["topic"] == Topic.LATE:
            news = News.DONE if occurrence.state == OccurrenceState.DONE and was_told else None
        elif occurrence.state == OccurrenceState.MISSED:
            news = News.UNDELIVERED if occurrence.undelivered else News.MISSED
        else:
            news = None
        if news:
            lines.append(Line(news, occurrence, pengingat))
    return lines
