"""Pushes for a dependent go to the browsers of the caregiver."""

from __future__ import annotations

from typing import Any

import pytest
from flask import Flask

from app.core.database.session import db, unit_of_work
from app.identity.models import RoleName, User
from app.notifications import jobs
from app.notifications.models import Channel, Delivery, DeliveryState
from dev.simulators import Server
from tests.helpers.client import Client
from tests.helpers.factories import make_user
from tests.notifications.deliveries import add
from tests.push.pushes import PAYLOAD, remind, shown, subscribe

SAID = {"title": "Pengingat: obat", "body": "Waktunya minum Metformin."}


@pytest.fixture
def client(committed: Flask, keys: str) -> Client:
    return Client(committed)


@pytest.fixture
def people(client: Client) -> tuple[int, int]:
    """Return the ids of a caregiver and of a dependent."""
    with unit_of_work():
        budi, ibu = make_user(RoleName.PENDAMPING), make_user()
        ibu.guardian_id, ibu.password_hash = budi.id, None
        return budi.id, ibu.id


def release(user_id: int) -> None:
    """Give the dependent a password and remove the caregiver, as a handover does."""
    with unit_of_work():
        user = db.session.get_one(User, user_id)
        user.guardian_id, user.password_hash = None, "x"


def test_a_reminder_for_a_dependent_reaches_all_browsers_of_the_caregiver(
    client: Client, sim: Server, keys: str, people: tuple[int, int]
) -> None:
    browsers = [sim.push.subscribe(keys) for _ in range(2)]
    for browser in browsers:
        subscribe(client, browser, people[0], proven=True)
    remind(people[1])
    jobs.drain("urgent")
    jobs.drain("urgent")
    assert [shown(sim, browser) for browser in browsers] == [[SAID], [SAID]]


def test_an_unverified_browser_of_a_dependent_shows_no_reminder(
    client: Client, sim: Server, browser: dict[str, Any], people: tuple[int, int]
) -> None:
    subscribe(client, browser, people[1])
    remind(people[1])
    jobs.drain("urgent")
    jobs.drain("urgent")
    assert shown(sim, browser) == []


def test_after_the_handover_the_browsers_of_the_caregiver_show_no_push(
    client: Client, sim: Server, browser: dict[str, Any], people: tuple[int, int]
) -> None:
    """The caregiver's browsers also get no pushes that were created before the handover."""
    id_ = subscribe(client, browser, people[0], proven=True)
    row = add(kind="reminder", channel=Channel.PUSH, user_id=people[1], target=str(id_), words=SAID)
    remind(people[1])
    release(people[1])
    jobs.drain("urgent")
    jobs.drain("urgent")
    assert shown(sim, browser) == []
    assert db.session.get_one(Delivery, row.id).state == DeliveryState.FAILED


def test_a_public_push_to_a_dependent_reaches_the_caregiver(
    client: Client, sim: Server, browser: dict[str, Any], people: tuple[int, int]
) -> None:
    subscribe(client, browser, people[0], proven=True)
    response = client.post("/push/send", {"user_id": people[1], "payload": PAYLOAD})
    assert response.json["queued"] == 1
    jobs.drain("urgent")
    assert len(shown(sim, browser)) == 1
