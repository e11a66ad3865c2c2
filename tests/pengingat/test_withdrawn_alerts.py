"""Alerts that are not sent because the permission, the caregiver link or the reminder was deleted."""

import pytest
import sqlalchemy as sa

from app.caregivers import service as caregivers
from app.core.database.session import db, unit_of_work
from app.pengingat.ledger import answers
from app.pengingat.ledger.schemas import QuickAnswer
from app.pengingat.models import AnsweredVia, Occurrence
from tests.helpers.factories import PASSWORD
from tests.pengingat.alerts import make, tick, told
from tests.pengingat.ledgers import allow


@pytest.mark.parametrize("cut", ["scope", "link"])
def test_removing_the_scope_or_the_link_cancels_waiting_alerts(siti, siti_id, moment, obat, caregiver_id, cut):
    make(siti, obat, "02:00", "02:30", "03:30")
    tick(moment, "03:00")
    tick(moment, "03:30")
    if cut == "scope":
        allow(siti_id, caregiver_id, "history")
    else:
        with unit_of_work():
            caregivers.delete(caregiver_id, siti_id)
    for jam in ("04:30", "05:00", "07:00"):
        tick(moment, jam)
    assert len(told()) == 1


def stop(siti, how):
    if how == "takes back":
        assert siti.put("/profile/persetujuan", {"health_data": False}).status_code == 200
    else:
        assert siti.delete("/profile", {"password": PASSWORD, "forum": "delete"}).status_code == 202


@pytest.mark.parametrize("how", ["takes back", "leaves"])
def test_no_alert_is_sent_after_withdrawn_consent_or_a_deleted_account(siti, moment, obat, caregiver_id, how):
    make(siti, obat, "02:00", "02:30", "03:00")
    tick(moment, "03:00")
    tick(moment, "03:30")
    stop(siti, how)
    tick(moment, "04:00")
    tick(moment, "07:00")
    assert len(told()) == 1


def test_the_caregiver_is_not_alerted_about_a_late_answer_of_a_person_who_leaves(
    siti, siti_id, moment, obat, caregiver_id
):
    make(siti, obat, "02:00")
    tick(moment, "03:00")
    stop(siti, "leaves")
    row = db.session.scalars(sa.select(Occurrence).filter_by(user_id=siti_id, state="missed")).one()
    with unit_of_work():
        answers.answer_all([row], QuickAnswer("done"), AnsweredVia.LINK)
    tick(moment, "03:30")
    assert len(told()) == 1


def test_the_caregiver_is_not_alerted_about_a_deleted_reminder(siti, moment, obat, caregiver_id):
    make(siti, obat, "02:00")
    second = make(siti, obat, "02:30")
    tick(moment, "03:00")
    tick(moment, "03:30")
    siti.delete(second.path)
    tick(moment, "05:00")
    assert len(told()) == 1
