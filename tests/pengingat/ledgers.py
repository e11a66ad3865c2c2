"""Helpers for tests of the ledger, the table `occurrences`: a clock, the stored rows, and a caregiver."""

from datetime import UTC, datetime, timedelta

import sqlalchemy as sa

from app.caregivers import service as caregivers
from app.core.database.session import db, unit_of_work
from app.core.lib import local_time
from app.identity.models import RoleName
from app.notifications.models import Delivery
from app.pengingat import jobs
from app.pengingat.ledger import bells
from app.pengingat.models import Occurrence, Pengingat
from tests.helpers.factories import make_user
from tests.notifications.deliveries import words_of

#: Start of the test clock: a Monday, 08:00 in Jakarta.
NOW = datetime(2026, 3, 2, 1, 0, tzinfo=UTC)


#: The helpers below show rows up to this time from now, so that the lists of the tests stay short.
SHOWN = timedelta(hours=36)


class Time:
    def __init__(self):
        self.now = NOW

    def move(self, **span):
        self.now += timedelta(**span)

    def elapse(self, **span):
        """Move the clock, and run the scheduler's jobs that read it."""
        self.move(**span)
        jobs.top_up()
        jobs.miss_overdue()


def caregiver_of(patient_id, *scopes, domicile="Jawa Barat"):
    """Create a caregiver with these scopes (default: `alerts`). Return the id."""
    with unit_of_work():
        caregiver_id = make_user(RoleName.PENDAMPING, domicile=domicile).id
        caregivers.create(caregiver_id, patient_id)
    allow(patient_id, caregiver_id, *(scopes or ("alerts",)))
    return caregiver_id


def allow(siti_id, caregiver, *scopes):
    with unit_of_work():
        caregivers.update_scopes(siti_id, caregiver, scopes)


def texts():
    """Return the texts of pending messages in alphabetical order."""
    query = sa.select(Delivery).filter_by(channel="messaging", state="pending")
    rows = db.session.scalars(query.where(Delivery.due_at <= local_time.now() + SHOWN))
    return sorted(words_of(row).get("text", "") for row in rows)


def first_text():
    """Return the text of the message that is due first, or an empty string if it has none any more."""
    first = sa.select(Delivery).filter_by(channel="messaging").order_by(Delivery.due_at).limit(1)
    return str(words_of(db.session.scalars(first).one()).get("text", ""))


def waiting(channel="messaging", state="pending"):
    """Return the due times of outbox rows with this channel and state, as `dd HH:MM` in UTC.

    Leave out pending bells that have nothing to say now.
    """
    query = sa.select(Delivery).filter_by(channel=channel, state=state).order_by(Delivery.due_at)
    rows = db.session.scalars(query.where(Delivery.due_at <= local_time.now() + SHOWN)).all()
    has_words = [row for row in rows if state != "pending" or row.kind != bells.KIND or _bell(row) in ringing()]
    return [f"{row.due_at.astimezone(UTC):%d %H:%M}" for row in has_words]


def ringing():
    """Return the bells of all pending occurrences."""
    query = sa.select(Occurrence, Pengingat).join(Pengingat, Pengingat.id == Occurrence.reminder_id)
    found = db.session.execute(query.filter(Occurrence.state == "pending").execution_options(populate_existing=True))
    return {bell for row, pengingat in found for bell in bells.of_row(pengingat, row)}


def _bell(row):
    return bells.Bell(row.user_id or 0, bells.BellKind(str(row.payload[bells.BELL])), row.due_at)


def ledger(within=SHOWN):
    """Return the occurrences until this time from now as `dd HH:MM slot state` in UTC, in order of their due times."""
    query = sa.select(Occurrence).where(Occurrence.due_at <= local_time.now() + within)
    rows = db.session.scalars(
        query.order_by(Occurrence.due_at, Occurrence.slot).execution_options(populate_existing=True)
    )
    return [f"{row.due_at.astimezone(UTC):%d %H:%M} {row.slot} {row.state}" for row in rows]


def settle(state, *which):
    """Set the state of these outbox rows, as a worker does."""
    db.session.execute(sa.update(Delivery).where(*which).values(state=state))


def past(user_id, day, state, *, month=2, **fields):
    """Create an occurrence at 12:00 UTC (19:00 in Jakarta) on this day.

    The year is 2026, and the default month is February.
    """
    due_at = datetime(2026, month, day, 12, tzinfo=UTC)
    values = {"tipe": "obat", "judul": "Metformin", "slot": "0", "due_at": due_at, "day": due_at.date()}
    db.session.add(row := Occurrence(user_id=user_id, state=state, **{**values, **fields}))
    db.session.flush()
    return row
