"""Pushes for a dependent go to the browsers of the caregiver."""

import pytest

from app.core.database.session import unit_of_work
from app.identity.models import RoleName
from app.notifications import jobs
from tests.helpers.factories import make_user
from tests.push.pushes import PAYLOAD, TEXT, push, shown, subscribe


@pytest.fixture
def people(caller):
    """Return the ids of a caregiver and of a dependent."""
    with unit_of_work():
        budi, ibu = make_user(RoleName.PENDAMPING), make_user()
        ibu.guardian_id, ibu.password_hash = budi.id, None
        return budi.id, ibu.id


def test_pushes_for_a_dependent_reach_all_browsers_of_the_caregiver(caller, sim, browser, other_browser, people):
    for each in (browser, other_browser):
        subscribe(caller, each, people[0], proven=True)
    push(people[1])
    assert caller.post("/push/send", {"user_id": people[1], "payload": PAYLOAD}).json["queued"] == 2
    jobs.drain("urgent")
    assert shown(sim, browser) == shown(sim, other_browser) == [TEXT, PAYLOAD]


def test_an_unverified_browser_of_a_dependent_shows_no_reminder(caller, sim, browser, people):
    subscribe(caller, browser, people[1])
    push(people[1])
    assert shown(sim, browser) == []
