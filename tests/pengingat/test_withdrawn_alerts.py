"""Alerts that are not sent because the permission, the caregiver link or the reminder was deleted."""

import sqlalchemy as sa

from app.caregivers import service as caregivers
from app.core.database.session import db, unit_of_work
from app.pengingat.ledger import answers
from app.pengingat.ledger.schemas import QuickAnswer
from app.pengingat.models import AnsweredVia, Occurrence
from tests.helpers.factories import PASSWORD
from tests.pengingat.alerts import make, tick, told
from tests.pengingat.ledgers import allow
from tests.routes.requests import undone

LEAVE = {"password": PASSWORD, "forum": "delete"}


def test_a_waiting_alert_ends_with_its_permission_or_its_reminder(siti, siti_id, moment, obat, caregiver_id, subtests):
    def cut_the_link():
        with unit_of_work():
            caregivers.delete(caregiver_id, siti_id)

    first, second = make(siti, obat, "02:00", "03:15"), make(siti, obat, "02:30", "03:00")
    tick(moment, "03:00")
    tick(moment, "03:30")
    assert len(told()) == 1
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
    tick(moment, "03:30")
    assert len(told()) == 1
