"""Alerts about late answers: a caregiver who was told of a missed dose is told when it is done."""

import pytest
import sqlalchemy as sa

from app.core.database.session import db
from app.notifications.models import Delivery
from tests.pengingat.alerts import MISSED, done, leave, make, tick, told

DONE = "Siti Aminah sudah menandai obat pukul 19.00 WIB."


@pytest.fixture
def missed(siti, moment, obat, caregiver_id):
    """Return a dose whose alert has left."""
    path = make(siti, obat)
    tick(moment, "13:00")
    assert told() == [MISSED]
    return path


@pytest.mark.parametrize("answer", [{}, {"answered_at": "2026-03-02T12:01:00Z"}])
def test_a_late_or_late_arriving_answer_is_told_once(siti, moment, missed, answer):
    moment.move(minutes=10)
    done(siti, missed, moment, **answer)
    assert told()[1:] == told("push_fan_out")[1:] == [DONE]
    siti.post(f"{missed}/konfirmasi", {"status": "undo", "due_at": "2026-03-02T12:00:00Z"})
    done(siti, missed, moment)
    moment.move(hours=3)
    leave(moment)
    assert told()[1:] == [DONE]


def test_is_done_is_told_like_an_answer(siti, moment, missed):
    for is_done in (True, False, True):
        siti.put(missed, {"is_done": is_done})
        leave(moment)
    assert told()[1:] == [DONE]


@pytest.mark.parametrize(
    ("values", "is_told"),
    [
        ({"state": "cancelled"}, False),
        ({"state": "missed"}, False),
        ({"state": "failed"}, False),
        ({"state": "sent", "receipt": "failed"}, False),
        ({"state": "sent", "channel": "push"}, True),
        ({"state": "claimed", "unconfirmed_calls": 1}, True),
        ({"state": "claimed"}, False),  # its worker died before the call
    ],
)
def test_only_an_alert_that_may_have_left_is_followed_by_the_answer(siti, moment, missed, values, is_told):
    # The delivery of the other channel becomes sent even if the caregiver has no browser.
    db.session.execute(sa.update(Delivery).filter_by(kind="alert", channel="messaging").values(**values))
    before = len(told())
    done(siti, missed, moment)
    assert told()[before:] == ([DONE] if is_told else [])


def test_an_alert_that_waits_is_dropped_when_the_dose_is_done(siti, moment, obat, missed):
    second = make(siti, obat, "12:31")
    moment.now = moment.now.replace(hour=12, minute=30)
    second = make(siti, obat, "12:31")
    tick(moment, "13:31")
    done(siti, second, moment, "2026-03-02T12:31:00Z")
    tick(moment, "15:00")
    assert told() == [MISSED]


def test_the_night_holds_the_news_of_a_late_answer(siti, moment, obat, missed):
    tick(moment, "14:05")  # 21.05 in Jakarta
    done(siti, missed, moment)
    assert told() == [MISSED]
    tick(moment, "23:00")
    assert told()[1:] == ["Siti Aminah sudah menandai obat kemarin pukul 19.00 WIB."]
