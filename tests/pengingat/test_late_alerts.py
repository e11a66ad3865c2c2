"""Alerts to caregivers after the first one: news of late answers, and alerts that end before they leave."""

import pytest
import sqlalchemy as sa

from app.caregivers import service as caregivers
from app.core.database.session import db, unit_of_work
from app.notifications.models import Delivery
from app.pengingat.ledger import answers
from app.pengingat.ledger.schemas import QuickAnswer
from app.pengingat.models import AnsweredVia, Occurrence
from tests.helpers.factories import PASSWORD
from tests.pengingat.alerts import MISSED, at, done, leave, make, tick, told
from tests.pengingat.ledgers import allow
from tests.routes.requests import undone

DONE = "Siti Aminah sudah menandai obat pukul 19.00 WIB."


@pytest.fixture
def missed(siti, moment, obat, caregiver_id):
    """Return a dose whose alert has left."""
    medicine = make(siti, obat)
    assert tick(moment, "13:00") == [MISSED]
    return medicine


@pytest.mark.parametrize("answer", [{}, {"answered_at": "2026-03-02T12:01:00Z"}])
def test_a_late_or_late_arriving_answer_is_told_once(moment, missed, answer):
    moment.move(minutes=10)
    done(missed, moment, **answer)
    assert told()[1:] == told("push_fan_out")[1:] == [DONE]
    missed.say("undo")
    done(missed, moment)
    moment.move(hours=3)
    leave(moment)
    assert told()[1:] == [DONE]


def test_is_done_is_told_like_an_answer(moment, missed):
    for is_done in (True, False, True):
        missed.put(is_done=is_done)
        leave(moment)
    assert told()[1:] == [DONE]


def test_only_an_alert_that_may_have_left_is_followed_by_the_answer(moment, missed, subtests):
    for values, is_told in (
        ({"state": "cancelled"}, False),
        ({"state": "missed"}, False),
        ({"state": "failed"}, False),
        ({"state": "sent", "receipt": "failed"}, False),
        ({"state": "sent", "channel": "push"}, True),
        ({"state": "claimed", "unconfirmed_calls": 1}, True),
        ({"state": "claimed"}, False),  # its worker died before the call
    ):
        with subtests.test(str(values)), undone():
            # The delivery of the other channel becomes sent even if the caregiver has no browser.
            message = sa.update(Delivery).filter_by(kind="alert", channel="messaging")
            db.session.execute(message.values(**values))
            before = len(told())
            done(missed, moment)
            assert told()[before:] == ([DONE] if is_told else [])


def test_an_alert_that_waits_is_dropped_when_the_dose_is_done(siti, moment, obat, missed):
    at(moment, "12:30")
    second = make(siti, obat, "12:31")
    tick(moment, "13:31")
    done(second, moment, "2026-03-02T12:31:00Z")
    assert tick(moment, "15:00") == [MISSED]


def test_the_night_holds_the_news_of_a_late_answer(moment, missed):
    tick(moment, "14:05")  # 21.05 in Jakarta
    done(missed, moment)
    assert told() == [MISSED]
    assert tick(moment, "23:00")[1:] == ["Siti Aminah sudah menandai obat kemarin pukul 19.00 WIB."]


# --- alerts whose permission, link or reminder ended ------------------------------------------------------------------


LEAVE = {"password": PASSWORD, "forum": "delete"}


def test_a_waiting_alert_ends_with_its_permission_or_its_reminder(siti, siti_id, moment, obat, caregiver_id, subtests):
    def cut_the_link():
        with unit_of_work():
            caregivers.delete(caregiver_id, siti_id)

    first, second = make(siti, obat, "02:00", "03:15"), make(siti, obat, "02:30", "03:00")
    tick(moment, "03:00")
    assert len(tick(moment, "03:30")) == 1
    for ended, end, left in (
        ("nothing", lambda: None, 2),
        ("the scope", lambda: allow(siti_id, caregiver_id, "history"), 1),
        ("the link", cut_the_link, 1),
        ("the consent", lambda: siti.put("/profile/persetujuan", {"health_data": False}), 1),
        ("the account", lambda: siti.delete("/profile", LEAVE), 1),
        ("the reminders", lambda: [siti.delete(each.path) for each in (first, second)], 1),
    ):
        with subtests.test(ended), undone():
            response = end()
            assert getattr(response, "status_code", 200) in (200, 202), response.text
            for jam in ("04:00", "04:30", "05:00", "07:00"):
                tick(moment, jam)
            assert len(told()) == left


def test_the_caregiver_is_not_alerted_about_a_late_answer_of_a_person_who_leaves(
    siti, siti_id, moment, obat, caregiver_id
):
    make(siti, obat, "02:00")
    tick(moment, "03:00")
    assert siti.delete("/profile", LEAVE).status_code == 202
    row = db.session.scalars(sa.select(Occurrence).filter_by(user_id=siti_id, state="missed")).one()
    with unit_of_work():
        answers.answer_all([row], QuickAnswer("done"), AnsweredVia.LINK)
    assert len(tick(moment, "03:30")) == 1
