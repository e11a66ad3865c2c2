"""Tests of the settings of notifications."""

import pytest

from app.core.database.session import db
from app.identity import notification_settings
from app.notifications.models import Delivery
from tests.caregivers.dependents import delete, keep
from tests.helpers.client import assert_error
from tests.helpers.factories import make_user
from tests.personal_data.leaving import OBAT
from tests.privacy.answers import DEFAULTS

ROUTE = "/profile/notifikasi"


@pytest.mark.parametrize(
    "changes",
    [
        {"messages": False},
        {"push": False, "quiet_hours": {"start": "22:00", "end": "05:00"}},
        {"messages": False, "push": False, "quiet_hours": None},
        {"quiet_hours": {"start": "12:00", "end": "12:01"}, "broadcasts": False},
    ],
)
def test_only_the_settings_in_the_body_are_changed(client, siti, changes):
    assert siti.get(ROUTE).json == DEFAULTS
    siti.put(ROUTE, {"quiet_hours": {"start": "21:00", "end": "04:30"}})
    expected = {**DEFAULTS, "quiet_hours": {"start": "21:00", "end": "04:30"}, **changes}
    response = siti.put(ROUTE, changes)
    assert (response.status_code, response.json) == (200, expected)
    assert siti.get(ROUTE).json == siti.put(ROUTE, expected).json == expected, "PUT accepts the answer of GET"
    assert client.as_(make_user()).get(ROUTE).json == DEFAULTS


def test_bad_quiet_hours_change_nothing(siti):
    refused = siti.put(ROUTE, {"messages": False, "quiet_hours": {"start": "05:00", "end": "05:00"}})
    assert_error(refused, 400, "validation_error", "quiet_hours")
    refused = siti.put(ROUTE, {"messages": False, "quiet_hours": {"start": "x", "end": "05:00"}})
    assert refused.json["message"] == "Jam mulai pada jam tenang: tulis seperti 07:30."
    assert siti.get(ROUTE).json == DEFAULTS


def test_the_last_channel_cannot_be_switched_off_with_active_reminders(siti):
    reminder = siti.post("/pengingat/obat", OBAT).json["id"]
    assert siti.put(ROUTE, {"messages": False}).status_code == 200
    assert set(db.session.scalars(db.select(Delivery.state))) == {"pending"}, "deliveries of the channel stay"
    assert_error(siti.put(ROUTE, {"push": False}), 400, "channel_needed")
    off = {"messages": False, "push": False, "broadcasts": False}
    assert_error(siti.put(ROUTE, off), 400, "channel_needed")
    assert siti.get(ROUTE).json == {**DEFAULTS, "messages": False}
    siti.delete(f"/pengingat/{reminder}")
    assert siti.put(ROUTE, {"push": False}).status_code == 200


def test_a_caregiver_who_receives_the_reminders_of_a_dependent_keeps_one_channel(budi):
    ibu = keep(budi)
    off = {"messages": False, "push": False}
    assert budi.post(f"/pengingat/obat?patient_id={ibu}", OBAT).status_code == 201
    assert_error(budi.put(ROUTE, off), 400, "channel_needed")
    delete(budi, ibu)
    assert budi.put(ROUTE, off).status_code == 200


def test_put_accepts_the_response_of_get_after_an_opt_out_by_message(siti):
    siti.post("/pengingat/obat", OBAT)
    siti.put(ROUTE, {"push": False})
    notification_settings.switch_messages(siti.id, False)
    settings = siti.get(ROUTE).json
    assert (settings["messages"], settings["push"]) == (False, False)
    quiet = {**settings, "quiet_hours": {"start": "22:00", "end": "06:00"}}
    assert siti.put(ROUTE, quiet).json == quiet
    assert siti.put(ROUTE, {"messages": True}).status_code == 200
    assert_error(siti.put(ROUTE, {"messages": False}), 400, "channel_needed")
