"""Tests of the routes of delivery preferences."""

import sqlalchemy as sa

from app.core.database.session import db
from app.identity import notification_settings
from app.notifications.models import Delivery
from tests.helpers.client import assert_error
from tests.privacy.answers import DEFAULTS
from tests.privacy.outbox import OBAT

ROUTE = "/profile/notifikasi"


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


def test_broadcasts_have_one_value_here_and_in_the_preferences(siti):
    siti.put(ROUTE, {"broadcasts": False})
    assert siti.get("/profile").json["preferences"] == {"broadcast": False}
    siti.put("/profile", data={"preferences": '{"broadcast": true, "medical": true}'})
    assert siti.get(ROUTE).json["broadcasts"] is True


def test_the_error_for_an_invalid_hour_is_readable_indonesian(siti):
    message = siti.put(ROUTE, {"quiet_hours": {"start": "x", "end": "05:00"}}).json["message"]
    assert message == "Jam mulai pada jam tenang: tulis seperti 07:30."


def test_switching_a_channel_off_keeps_pending_deliveries(siti):
    siti.post("/pengingat/obat", OBAT)
    siti.put(ROUTE, {"push": False})
    assert set(db.session.scalars(sa.select(Delivery.state))) == {"pending"}


def test_reading_the_settings_needs_a_fixed_number_of_statements(siti, statements):
    siti.put(ROUTE, DEFAULTS)
    with statements.at_most(5):  # one statement each for session, person, roles, settings and number
        siti.get(ROUTE)
