"""`is_done` of a reminder while messages about its earlier doses are late."""

import pytest
import sqlalchemy as sa

from app.core.database.session import db
from app.notifications.models import Delivery
from app.pengingat import jobs
from app.pengingat.models import Occurrence
from tests.pengingat.alerts import make
from tests.pengingat.ledgers import ledger, settle, waiting


@pytest.fixture
def path(siti, moment, obat):
    """Return a medicine with doses at 12:00, 12:30 and 20:00 UTC. No message has been sent yet."""
    return make(siti, obat, "12:00", "12:30", "20:00")


def mark(siti, path):
    assert siti.put(path, {"is_done": True}).status_code == 200


@pytest.mark.parametrize("channel", ["messaging", "push_fan_out"])
def test_is_done_cancels_only_the_message_of_its_own_dose(siti, moment, path, channel):
    moment.move(hours=11, minutes=35)
    mark(siti, path)
    assert ledger()[:2] == ["02 12:00 0 pending", "02 12:30 1 done"]
    assert waiting(channel)[:2] == ["02 12:00", "02 20:00"]


def test_a_late_message_that_fails_after_is_done_makes_its_dose_undelivered(siti, moment, path):
    moment.move(hours=11, minutes=35)
    mark(siti, path)
    moment.move(minutes=30)
    settle("missed", Delivery.state == "pending", Delivery.expires_at <= moment.now)
    jobs.miss_overdue()
    row = db.session.scalars(sa.select(Occurrence).filter_by(state="missed")).one()
    assert row.undelivered is True
