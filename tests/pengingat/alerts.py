"""Helpers for missed doses and the alerts to caregivers."""

import sqlalchemy as sa

from app.core.database.session import db
from app.identity import notification_settings
from app.notifications.delivery import delivery_preferences, rendering, sealing
from app.notifications.delivery.claims import Claimed, PostponedError, UnwantedError
from app.notifications.models import Channel, Delivery
from app.pengingat import jobs
from app.pengingat.caregiving import alerts
from tests.pengingat.answering import create, with_doses
from tests.pengingat.ledgers import settle

MISSED = "Siti Aminah belum menandai obat pukul 19.00 WIB. Boleh tolong ditanyakan?"


def make(siti, obat, *times, **details):
    """Create a medicine with doses at these times of day in UTC."""
    return create(siti, obat, **with_doses(obat, *(times or ("12:00",)), **details))


def at(moment, jam):
    hour, minute = map(int, jam.split(":"))
    moment.now = moment.now.replace(hour=hour, minute=minute)


def tick(moment, jam=None, *, sent=True):
    """Mark due reminders as sent or failed at this time in UTC. Then run the scheduler's jobs, and send alerts.

    Return the texts of all alerts that have left.
    """
    if jam is not None:
        at(moment, jam)
    jobs.top_up()
    settle("sent" if sent else "failed", Delivery.kind == "reminder", Delivery.due_at <= moment.now)
    jobs.miss_overdue()
    leave(moment)
    return told()


def leave(moment):
    """Send the alerts that are due, as a worker does. The sent text stays in `sealed`, as in development."""
    due = sa.select(Delivery).where(
        Delivery.kind == "alert", Delivery.state == "pending", Delivery.due_at <= moment.now
    )
    for row in db.session.scalars(due.order_by(Delivery.id)).all():
        claimed = Claimed(**{name: getattr(row, name) for name in Claimed.__dataclass_fields__})
        claimed.preferences = notification_settings.delivery_preferences(row.user_id or 0)
        try:
            delivery_preferences.check(claimed, Channel(row.channel))
            rendering.render(claimed, {"alert": alerts.render})
            alerts.check_night(claimed)
        except PostponedError as postponed:
            row.expires_at = max(row.expires_at, postponed.until + delivery_preferences.TIME_LEFT)
        except UnwantedError:
            row.state = "cancelled"
        else:
            row.state = "sent" if row.expires_at > moment.now else "missed"
            row.settled_at, row.sealed = moment.now, sealing.seal(claimed.words, row.user_id)
            row.said = claimed.words["said"]
    db.session.commit()


def told(channel="messaging", caregiver=None):
    """Return the texts of the alerts that left, oldest first."""
    rows = sa.select(Delivery).filter_by(kind="alert", channel=channel, state="sent")
    if caregiver is not None:
        rows = rows.where(Delivery.user_id == caregiver)
    found = db.session.scalars(rows.order_by(Delivery.settled_at, Delivery.id)).all()
    return [
        str(sealing.unseal(row.sealed or "", row.user_id)["text" if channel == "messaging" else "body"])
        for row in found
    ]


def done(medicine, moment, due_at="2026-03-02T12:00:00Z", **answer):
    medicine.answer("done", due_at=due_at, **answer)
    leave(moment)
