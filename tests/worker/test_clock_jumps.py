"""Jumps of a worker's clock: nothing is sent early, late or twice, and no day of a reminder is skipped."""

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial

import pytest
import sqlalchemy as sa

from app.core.database.session import db, unit_of_work
from app.notifications.models import DeliveryState, deliveries
from app.pengingat import service
from app.pengingat.ledger import bells
from app.pengingat.models import Occurrence
from dev.stack.waiting import wait_until
from dev.system_packages import require
from tests.helpers.factories import make_user
from tests.worker.running import RunningWorker

pytestmark = [pytest.mark.takes(seconds=12), pytest.mark.processes]

Start = Callable[..., RunningWorker]


@pytest.fixture
def clock_file(tmp_path):
    """Return the file with the offset of the worker's clock. libfaketime reads this file at each call."""
    file = tmp_path / "clock"
    file.write_text("+0")
    return file


@pytest.fixture
def worker(start_worker, clock_file):
    return start_worker(
        LD_PRELOAD=str(require("libfaketime")),
        FAKETIME_TIMESTAMP_FILE=str(clock_file),
        FAKETIME_NO_CACHE="1",
        # Only the wall clock jumps. The monotonic clock does not.
        FAKETIME_DONT_FAKE_MONOTONIC="1",
    )


def remind(user, title, due):
    with unit_of_work():
        service.create(
            user.id, {"tipe": "terapi", "judul": title, "timezone": "Asia/Jakarta", "details": {}, "waktu": due}
        )


def states():
    db.session.rollback()
    told = sa.select(Occurrence.judul, deliveries.c.state).join(Occurrence, bells.rang_for())
    rows = db.session.execute(told).all()
    return {word: {state for title, state in rows if word in title} for word in ("satu", "dua", "nanti")}


def is_sent(sim, title):
    return any(title in message.text for message in sim.messaging.sent)


def hours_off(log):
    """Return the offsets of the worker's clock in hours, according to its log."""
    lines = [json.loads(line) for line in log.read_text().splitlines() if line.startswith('{"time"')]
    moments = [datetime.fromisoformat(line["time"]) for line in lines]
    return {round((moment - datetime.now(UTC)).total_seconds() / 3600) for moment in moments}


def test_due_reminders_are_not_sent_early_or_twice_if_the_workers_clock_jumps(worker, clock_file, sim):
    with unit_of_work():
        user = make_user(nomor_hp="081234567890")
    worker.clock()
    now = datetime.now(UTC)
    remind(user, "nanti", now + timedelta(minutes=90))
    # Two reminders for each jump. The second one is due after the worker has run with the wrong clock for a while.
    for title, jump in (("satu", "+2h"), ("dua", "+2h"), ("tiga", "-3h"), ("empat", "-3h")):
        clock_file.write_text(jump)
        due = datetime.now(UTC) + timedelta(seconds=3)
        remind(user, title, due)
        wait_until(partial(is_sent, sim, title))  # the reminder is due in 3 s, whatever the worker's clock says
        sent = next(message for message in sim.messaging.sent if title in message.text)
        assert sent.at >= due.timestamp()
    wait_until(lambda: {-3, 2} <= hours_off(worker.log))
    assert len(sim.messaging.sent) == 4
    assert states()["nanti"] == {DeliveryState.PENDING}
