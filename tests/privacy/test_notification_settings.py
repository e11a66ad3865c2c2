"""The routes by which people say how they want to be reached."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import pytest
import sqlalchemy as sa
from flask import Flask

from app.core.database.session import db, unit_of_work
from app.identity import notification_settings
from app.identity.models import SessionKind, User
from app.identity.sessions import Caller
from app.notifications.models import Delivery
from app.pengingat import service as pengingat
from app.privacy.schemas import NotificationChanges
from app.privacy.service import notifications
from app.privacy.service.notifications import ChannelNeeded
from tests.helpers.client import Client, assert_error
from tests.helpers.factories import make_user
from tests.helpers.overlap import done_twice_at_once
from tests.helpers.statements import Statements

ROUTE = "/profile/notifikasi"
DEFAULTS = {"messages": True, "push": True, "quiet_hours": None, "broadcasts": True}
OBAT = {
    "judul": "Obat diabetes",
    "details": {
        "nama_obat": "Metformin",
        "frekuensi": 1,
        "aturan": "setelah makan",
        "jadwal": [{"jam": "00:00", "jumlah": 1, "satuan": "tablet"}],
    },
}


@pytest.fixture
def user(app: Flask) -> User:
    return make_user()


@pytest.fixture
def siti(client: Client, user: User) -> Client:
    return client.as_(user)


def test_who_never_said_gets_everything_at_any_hour(siti: Client) -> None:
    assert siti.get(ROUTE).json == DEFAULTS


@pytest.mark.parametrize(
    "changes",
    [
        {"messages": False},
        {"push": False, "quiet_hours": {"start": "22:00", "end": "05:00"}},
        {"messages": False, "push": False},
        {"broadcasts": False},
        {"quiet_hours": {"start": "12:00", "end": "12:01"}, "broadcasts": True},
    ],
)
def test_what_is_sent_is_changed_and_all_else_stays(siti: Client, changes: dict[str, Any]) -> None:
    siti.put(ROUTE, {"quiet_hours": {"start": "21:00", "end": "04:30"}})
    expected = {**DEFAULTS, "quiet_hours": {"start": "21:00", "end": "04:30"}, **changes}
    response = siti.put(ROUTE, changes)
    assert (response.status_code, response.json) == (200, expected)
    assert siti.get(ROUTE).json == expected


def test_put_takes_what_get_gives(siti: Client) -> None:
    for body in (DEFAULTS, {**DEFAULTS, "quiet_hours": {"start": "22:00", "end": "05:00"}, "broadcasts": False}):
        assert siti.put(ROUTE, body).json == body
        assert siti.put(ROUTE, siti.get(ROUTE).json).json == body


def test_put_takes_what_get_gives_to_who_ended_reminders_by_a_word(siti: Client, user: User) -> None:
    siti.post("/pengingat/obat", OBAT)
    siti.put(ROUTE, {"push": False})
    notification_settings.switch_messages(user.id, False)
    settings = siti.get(ROUTE).json
    assert (settings["messages"], settings["push"]) == (False, False)
    quiet = {**settings, "quiet_hours": {"start": "22:00", "end": "06:00"}}
    assert siti.put(ROUTE, quiet).json == quiet
    assert siti.put(ROUTE, {"messages": True}).status_code == 200
    assert_error(siti.put(ROUTE, {"messages": False}), 400, "channel_needed")


def test_broadcasts_are_one_value_here_and_in_the_preferences(siti: Client) -> None:
    siti.put(ROUTE, {"broadcasts": False})
    assert siti.get("/profile").json["preferences"] == {"broadcast": False}
    siti.put("/profile", data={"preferences": '{"broadcast": true, "medical": true}'})
    assert siti.get(ROUTE).json["broadcasts"] is True


def test_one_channel_stays_while_there_are_reminders(siti: Client) -> None:
    reminder = siti.post("/pengingat/obat", OBAT).json["id"]
    assert siti.put(ROUTE, {"messages": False}).status_code == 200
    assert_error(siti.put(ROUTE, {"push": False}), 400, "channel_needed")
    assert_error(siti.put(ROUTE, {"messages": False, "push": False, "broadcasts": False}), 400, "channel_needed")
    assert siti.get(ROUTE).json == {**DEFAULTS, "messages": False}
    siti.delete(f"/pengingat/{reminder}")
    assert siti.put(ROUTE, {"push": False}).status_code == 200


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"messages": "mungkin"}, "messages"),
        ({"push": None}, "push"),
        ({"broadcasts": 5}, "broadcasts"),
        ({"quiet_hours": "22:00"}, "quiet_hours"),
        ({"quiet_hours": {}}, "quiet_hours"),
        ({"quiet_hours": {"start": "22:00"}}, "quiet_hours"),
        ({"quiet_hours": {"start": "24:00", "end": "05:00"}}, "quiet_hours"),
        ({"quiet_hours": {"start": "22.00", "end": "05:00"}}, "quiet_hours"),
        ({"quiet_hours": {"start": "22:00:00", "end": "05:00"}}, "quiet_hours"),
        ({"quiet_hours": {"start": "2:00", "end": "05:00"}}, "quiet_hours"),
        ({"quiet_hours": {"start": 22, "end": "05:00"}}, "quiet_hours"),
        ({"quiet_hours": {"start": "05:00", "end": "05:00"}}, "quiet_hours"),
    ],
)
def test_bad_input_changes_nothing(siti: Client, body: dict[str, Any], field: str) -> None:
    assert_error(siti.put(ROUTE, body), 400, "validation_error", field)
    assert siti.get(ROUTE).json == DEFAULTS


def test_a_wrong_hour_is_named_as_people_call_it(siti: Client) -> None:
    message = siti.put(ROUTE, {"quiet_hours": {"start": "x", "end": "05:00"}}).json["message"]
    assert message == "Jam mulai pada jam tenang harus ditulis seperti 07:30."


def test_everybody_has_their_own(client: Client, siti: Client) -> None:
    siti.put(ROUTE, {"messages": False})
    assert client.as_(make_user()).get(ROUTE).json == DEFAULTS


def test_nobody_asks_without_a_token(client: Client) -> None:
    assert_error(client.get(ROUTE), 401, "unauthorized")
    assert_error(client.put(ROUTE, {}), 401, "unauthorized")


def test_what_is_queued_stays_queued_until_it_falls_due(siti: Client) -> None:
    siti.post("/pengingat/obat", OBAT)
    siti.put(ROUTE, {"push": False})
    assert set(db.session.scalars(sa.select(Delivery.state))) == {"pending"}


def test_two_channels_switched_off_at_once_leave_one_while_there_are_reminders(committed: Flask) -> None:
    with unit_of_work():
        user = make_user()
        pengingat.create(user.id, {**OBAT, "tipe": "obat", "timezone": "Asia/Jakarta"})
    caller = Caller(user.id, frozenset(), uuid4(), SessionKind.USER)
    channels: Iterator[NotificationChanges] = iter(({"messages": False}, {"push": False}))
    second = done_twice_at_once(committed, lambda: notifications.update(caller, next(channels)))
    assert isinstance(second.exception(), ChannelNeeded)
    row = notification_settings.get(user.id)
    assert (row.messages, row.push) == (False, True)


def test_asking_costs_a_fixed_number_of_statements(siti: Client, statements: Statements) -> None:
    siti.put(ROUTE, DEFAULTS)
    with statements.at_most(4):  # the session, the person, their roles, the settings
        siti.get(ROUTE)
