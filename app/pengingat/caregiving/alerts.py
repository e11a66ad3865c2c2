"""Alerts to caregivers about missed reminders of their patients, if the patients allow these alerts.

1. `ledger.missed` inserts rows into the table `caregiver_alerts`.
2. `notify_caregiver` moves due alerts to the outbox. Several schedulers may do this in parallel without duplicates.
3. `render` makes the text before sending. It checks the patient's permission and the state of the reminder again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import sqlalchemy as sa
from sqlalchemy import orm
from sqlalchemy.dialects.postgresql import ARRAY, JSONB

from app.core.database import db_time
from app.core.database.session import db
from app.identity import care, consents, erasure, notification_settings
from app.identity.care import CaregiverLink, Scope
from app.identity.consents import Purpose
from app.identity.models import User
from app.identity.notification_settings import DeliveryPreferences, zone_of
from app.notifications import outbox
from app.notifications.delivery import rendering
from app.notifications.delivery.claims import Claimed, UnwantedError
from app.notifications.delivery.sealing import Words
from app.notifications.models import About as Of
from app.notifications.models import Channel, Delivery, DeliveryState, Receipt
from app.pengingat.caregiving import alert_texts, pacing
from app.pengingat.caregiving.alert_texts import Line, News
from app.pengingat.caregiving.pacing import AlertHistory
from app.pengingat.models import AlertMode, AlertReason, CaregiverAlert, Occurrence, OccurrenceState, Pengingat

KIND = "alert"

#: Time after which an unsent alert expires.
LIFETIME = timedelta(hours=12)
#: Maximum caregiver links that one tick of the scheduler processes.
PAGE = 100

#: Reason stored with a cancelled delivery.
NOT_ALLOWED = "not allowed by the patient any more"


# --- from the ledger to alerts ---------------------------------------------------------------------------------------

_alerts = CaregiverAlert.__table__.c
_is_waiting = sa.and_(CaregiverAlert.told_at.is_(None), CaregiverAlert.due_at <= sa.bindparam("now"))
_first_waiting = sa.select(sa.exists().where(_is_waiting))


def is_any_due(now: datetime) -> bool:
    """Return whether any alert is due. If no alert is due, the scheduler runs only this SQL statement."""
    ((is_any,),) = db.session.execute(_first_waiting, {"now": now}).all()
    return bool(is_any)


def delete_waiting(patient_id: int) -> None:
    """Delete all unsent alerts about this patient, including queued ones.

    The calling function has locked the patient's row.
    """
    theirs = sa.select(Occurrence.id).where(Occurrence.user_id == patient_id).scalar_subquery()
    unsent = sa.delete(CaregiverAlert).where(_alerts.occurrence_id.in_(theirs), _alerts.told_at.is_(None))
    db.session.execute(unsent.execution_options(synchronize_session=False))
    # Cancel the alerts in the outbox as the last step. This step then also cancels alerts that `notify_caregiver` has
    # just moved to the outbox.
    outbox.cancel(Of(care.PATIENT, patient_id))


# --- from alerts to the outbox ---------------------------------------------------------------------------------------


def links_due(now: datetime) -> Sequence[int]:
    """Return the ids of at most 100 (`PAGE`) caregiver links that have due alerts."""
    due = sa.select(CaregiverAlert.link_id).where(_is_waiting).distinct().limit(PAGE)
    return db.session.scalars(due, {"now": now}).all()


def notify_caregiver(link_id: int, now: datetime) -> None:
    """Put the due alerts of a caregiver link into the outbox, or set a later `due_at`.

    The link is locked, so that only one scheduler sends the link's alerts and nobody deletes the link. The occurrences
    are locked too, so that an answer waits until this transaction ends. Such an answer then causes a correction. Rows
    that another transaction has locked are left for the next tick.
    """
    held = sa.select(CaregiverLink).where(CaregiverLink.id == link_id)
    link = db.session.scalar(held.with_for_update(key_share=True, skip_locked=True))
    people = _staying({link.caregiver_id, link.patient_id}) if link else {}
    if link is None or len(people) < 2:
        return
    waiting = _waiting(link_id, now)
    lines = {alert: line for alert, row, pengingat in waiting if (line := _line(alert.about, row, pengingat))}
    if Scope.ALERTS not in link.scopes or not people[link.patient_id].allows_alerts:
        lines = {}
    unneeded = [alert.id for alert, *_ in waiting if alert not in lines]
    db.session.execute(sa.delete(CaregiverAlert).where(CaregiverAlert.id.in_(unneeded)))
    preferences = notification_settings.delivery_preferences(link.caregiver_id)
    sender = _AlertSender(link, zone_of(people[link.caregiver_id].domicile), preferences, now)
    outbox.add_all(list(sender.drafts(lines)))


@dataclass(frozen=True)
class _Person:
    domicile: str | None
    #: False after this person has requested erasure, or has withdrawn the consent for health data.
    allows_alerts: bool


@dataclass(frozen=True)
class _AlertSender:
    """Creates the deliveries of alerts to one caregiver about one patient."""

    link: CaregiverLink
    zone: ZoneInfo
    preferences: DeliveryPreferences
    now: datetime

    def drafts(self, lines: dict[CaregiverAlert, Line]) -> Iterator[outbox.NewDelivery]:
        for alert, ends in [(alert, self._quiet_until(line)) for alert, line in lines.items()]:
            if ends is not None:
                alert.due_at = ends
                del lines[alert]
        follow_ups = {alert: line for alert, line in lines.items() if alert.about != AlertReason.MISSED}
        paced = {alert: line for alert, line in lines.items() if alert.about == AlertReason.MISSED}
        if follow_ups:
            yield from self._message(follow_ups, AlertMode.FOLLOW_UP)
        if not paced:
            return
        since = min(alert.created_at for alert in paced)
        sent = _sent(self.link.id, pacing.midnight(self.zone, self.now), self.now)
        step = pacing.next_step(sent, since, self.zone, self.now)
        if isinstance(step, AlertMode):
            yield from self._message(paced, step)
        else:
            for alert in paced:
                alert.due_at = step

    def _quiet_until(self, line: Line) -> datetime | None:
        """Return when the quiet hours and the night end that delay this alert, or None if it may be sent now.

        The caregiver's own quiet hours delay all alerts. The night delays all alerts except important ones.
        """
        night = None if _is_important(line) else pacing.night_until(self.zone, self.now)
        return max(filter(None, (self.preferences.quiet_until(self.now), night)), default=None)

    def _message(self, lines: dict[CaregiverAlert, Line], way: AlertMode) -> Iterator[outbox.NewDelivery]:
        """Yield one message and one push with the content of these alerts, and mark the alerts as sent."""
        for alert in lines:
            alert.told_at, alert.way = self.now, way
        for channel in (Channel.MESSAGING, Channel.PUSH_FAN_OUT):
            yield outbox.NewDelivery(
                kind=KIND,
                channel=channel,
                dedupe_key=f"alert:{min(alert.id for alert in lines)}:{channel}",
                payload={"news": [[alert.id, line.news.name] for alert, line in lines.items()]},
                expires_at=self.now + LIFETIME,
                user_id=self.link.caregiver_id,
                about=Of(care.PATIENT, self.link.patient_id),
            )


_ALLOWS_ALERTS = sa.and_(erasure.IS_PRESENT, ~consents.is_withdrawn(User.id, Purpose.HEALTH_DATA))


def _staying(user_ids: set[int]) -> dict[int, _Person]:
    """Lock and return these people by id. Leave out people who are being deleted.

    The lock prevents the deletion of these people until the transaction ends.
    """
    columns = (User.id, User.domicile, _ALLOWS_ALERTS)
    query = sa.select(*columns).where(User.id.in_(user_ids))
    rows = db.session.execute(query.with_for_update(of=User, read=True, key_share=True, skip_locked=True))
    return {id_: _Person(domicile, allows_alerts) for id_, domicile, allows_alerts in rows}


def _waiting(link_id: int, now: datetime) -> Sequence[sa.Row[CaregiverAlert, Occurrence, Pengingat | None]]:
    query = (
        sa.select(CaregiverAlert, Occurrence, Pengingat)
        .join(Occurrence, Occurrence.id == CaregiverAlert.occurrence_id)
        .outerjoin(Pengingat, Pengingat.id == Occurrence.reminder_id)
        .where(CaregiverAlert.link_id == link_id, _is_waiting)
        .order_by(Occurrence.due_at, CaregiverAlert.id)
    )
    return db.session.execute(query.with_for_update(of=Occurrence, read=True, skip_locked=True), {"now": now}).all()


def _line(about: str, occurrence: Occurrence, pengingat: Pengingat | None) -> Line | None:
    """Return the alert content for an occurrence in its present state, or None if no alert is needed any more."""
    if pengingat is None:
        return None
    if about == AlertReason.LATE:
        is_done, news = occurrence.state == OccurrenceState.DONE, News.LATE if occurrence.late else News.IN_TIME
        return Line(news, occurrence, pengingat) if is_done else None
    if occurrence.state != OccurrenceState.MISSED:
        return None
    if occurrence.undelivered:
        return Line(News.UNDELIVERED, occurrence, pengingat)
    return Line(News.MISSED, occurrence, pengingat) if about == AlertReason.MISSED else None


def _is_important(line: Line) -> bool:
    return line.pengingat.details.get("penting") is True


def _sent(link_id: int, today: datetime, now: datetime) -> AlertHistory:
    """Return the alerts that were sent for a caregiver link and count towards the limits of the next alert.

    `today` is the most recent midnight in the caregiver's time zone.
    """
    at_once, together, digest = (
        CaregiverAlert.way == way for way in (AlertMode.AT_ONCE, AlertMode.TOGETHER, AlertMode.DIGEST)
    )
    is_today = CaregiverAlert.told_at >= today
    query = sa.select(
        sa.func.max(CaregiverAlert.told_at).filter(at_once),
        sa.func.count(CaregiverAlert.told_at.distinct()).filter(sa.or_(at_once, together), is_today),
        sa.func.count().filter(digest, is_today),
    ).where(CaregiverAlert.link_id == link_id, CaregiverAlert.told_at >= min(today, now - pacing.WINDOW))
    at_once_at, messages, digests = db.session.execute(query).one()
    return AlertHistory(at_once_at, messages, digests > 0)


# --- sending ---------------------------------------------------------------------------------------------------------

_OTHER_LINK, _OTHER = orm.aliased(CaregiverLink), orm.aliased(User)
_NAMES_OF_OTHERS = sa.func.array(
    sa.select(_OTHER.nama_ktp)
    .join(_OTHER_LINK, _OTHER_LINK.patient_id == _OTHER.id)
    .where(_OTHER_LINK.caregiver_id == CaregiverLink.caregiver_id, _OTHER.id != CaregiverLink.patient_id)
    .scalar_subquery(),
    type_=ARRAY(sa.Text),
)

_first, _message = orm.aliased(CaregiverAlert), orm.aliased(Delivery)
#: SQL condition: the `MISSED` alert about the same occurrence has left, or may have left. Otherwise the caregiver does
#: not know about the missed dose, and needs no correction.
_FIRST_HAS_LEFT = (
    sa.exists()
    .where(
        _first.link_id == CaregiverAlert.link_id,
        _first.occurrence_id == CaregiverAlert.occurrence_id,
        _first.about == AlertReason.MISSED,
        _message.user_id == CaregiverLink.caregiver_id,
        _message.kind == KIND,
        # A delivery of the channel PUSH_FAN_OUT becomes SENT even if the caregiver has no browser.
        _message.channel.in_([Channel.MESSAGING, Channel.PUSH]),
        sa.or_(_message.state == DeliveryState.SENT, _message.unconfirmed_calls > 0),
        _message.receipt.is_distinct_from(Receipt.FAILED),
        _message.payload["news"].contains(sa.func.jsonb_build_array(sa.func.jsonb_build_array(_first.id), type_=JSONB)),
    )
    .correlate_except(_first, _message)
)


def render(deliveries: Sequence[Claimed]) -> dict[int, Words]:
    """Return the texts of alerts by delivery id. Alerts that no longer match the state of the reminder are left out.

    Raise `UnwantedError` if the patient does not allow alerts any more.
    """
    return {each.id: words for each in deliveries if (words := _words(each))}


def _words(delivery: Claimed) -> Words | None:
    news = dict(delivery.payload["news"])  # type: ignore[call-overload]  # pairs, see `_message`
    query = (
        sa.select(
            *(CaregiverLink.scopes, User.nama_ktp, _NAMES_OF_OTHERS, db_time.now_sql()),
            *(CaregiverAlert.id, CaregiverAlert.about),
            *(Occurrence.state, Occurrence.undelivered, Occurrence.tipe, Occurrence.due_at),
            *(Occurrence.answered_at, Occurrence.snoozed_until),
            *(Pengingat.timezone, Pengingat.details),
            _FIRST_HAS_LEFT.label("first_has_left"),
        )
        .select_from(CaregiverLink)
        .join(User, sa.and_(User.id == CaregiverLink.patient_id, _ALLOWS_ALERTS))
        .outerjoin(CaregiverAlert, sa.and_(CaregiverAlert.link_id == CaregiverLink.id, CaregiverAlert.id.in_(news)))
        .outerjoin(Occurrence, Occurrence.id == CaregiverAlert.occurrence_id)
        .outerjoin(Pengingat, Pengingat.id == Occurrence.reminder_id)
        .where(CaregiverLink.caregiver_id == delivery.user_id, CaregiverLink.patient_id == delivery.about_id)
        .order_by(Occurrence.due_at, CaregiverAlert.id)
    )
    rows = db.session.execute(query).all()
    if not rows or Scope.ALERTS not in rows[0].scopes:
        raise UnwantedError(NOT_ALLOWED)
    scopes, patient, others, now, *_ = rows[0]
    lines = [line for row in rows if row.id and (line := _line_of(row)) and line.news.name == news[row.id]]
    if not lines:
        return None
    words = alert_texts.words(lines, patient, now, named=Scope.HISTORY in scopes, others=others)
    return rendering.notice(delivery, **words)


def _line_of(row: sa.Row[*tuple[object, ...]]) -> Line | None:
    if row.about == AlertReason.LATE and not row.first_has_left:
        return None
    names = ("state", "undelivered", "tipe", "due_at", "answered_at", "snoozed_until")
    occurrence = Occurrence(**{name: getattr(row, name) for name in names})
    pengingat = Pengingat(timezone=row.timezone, details=row.details) if row.timezone else None
    return _line(row.about, occurrence, pengingat)
