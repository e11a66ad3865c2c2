"""Pushes for a dependent go to the browsers of the caregiver."""

import pytest

from app.core.database.session import unit_of_work
from app.identity.models import RoleName
from app.notifications import jobs
from tests.helpers.client import Client
from tests.helpers.factories import make_user
from tests.push.pushes import PAYLOAD, remind, shown, subscribe

SAID = {"title": "Pengingat: obat", "body": "Waktunya minum Metformin."}


@pytest.fixture
def client(committed, keys):
    return Client(committed)


@pytest.fixture
def people(client):
    """Return the ids of a caregiver and of a dependent."""
    with unit_of_work():
        budi, ibu = make_user(RoleName.PENDAMPING), make_user()
        ibu.guardian_id, ibu.password_hash = budi.id, None
        return budi.id, ibu.id


def test_a_reminder_for_a_dependent_reaches_all_browsers_of_the_caregiver(client, sim, keys, people):
    browsers = [sim.push.subscribe(keys) for _ in range(2)]
    for browser in browsers:
        subscribe(client, browser, people[0], proven=True)
    remind(people[1])
    jobs.drain("urgent")
    jobs.drain("urgent")
    assert [shown(sim, browser) for browser in browsers] == [[SAID], [SAID]]


def test_an_unverified_browser_of_a_dependent_shows_no_reminder(client, sim, browser, people):
    subscribe(client, browser, people[1])
    remind(people[1])
    jobs.drain("urgent")
    jobs.drain("urgent")
    assert shown(sim, browser) == []


def test_a_public_push_to_a_dependent_reaches_the_caregiver(client, sim, browser, people):
    subscribe(client, browser, people[0], proven=True)
    response = client.post("/push/send", {"user_id": people[1], "payload": PAYLOAD})
    assert response.json["queued"] == 1
    jobs.drain("urgent")
    assert len(shown(sim, browser)) == 1
