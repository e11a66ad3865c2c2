"""Tests of a user's old phone number that now belongs to a stranger."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta

import pytest
import sqlalchemy as sa
from flask import Flask

from app.core.database.session import db, unit_of_work
from app.identity import sessions, users
from app.identity.models import PhoneMove, User
from app.inbox import texts
from app.notifications import jobs as delivery_jobs
from app.notifications.delivery.messaging import WRONG
from app.notifications.models import Delivery
from app.notifications.senders import numbers
from app.notifications.senders.models import PhoneNumber
from app.privacy.service import delivery_labels
from dev.simulators import Server
from tests.helpers.client import Client, assert_error
from tests.helpers.factories import make_user
from tests.inbox.phones import Phone
from tests.notifications.deliveries import add, reread

NUMBER = "081234567890"
VERIFICATION = "/profile/phone/verification"


@dataclass(frozen=True)
class World:
    app: Flask
    gateway: Server
    siti: Client
    phone: Phone

    def client(self, **data: object) -> Client:
        with unit_of_work():
            user_id = make_user(**data).id
        with unit_of_work():
            return Client(self.app, sessions.begin(users.get(user_id)).access_token, user_id)

    def send(self, key: str, kind: str = "reminder", **fields: object) -> Delivery:
        values = {"user_id": self.siti.id, "target": None, "kind": kind, "words": {"text": key}, **fields}
        add(dedupe_key=key, **values)
        delivery_jobs.drain("urgent")
        return reread(key)

    def received(self) -> list[str]:
        delivery_jobs.drain("urgent")
        return [message.text for message in self.gateway.messaging.to(self.phone.number[1:])]


@pytest.fixture
def world(committed: Flask, live: Flask, gateway: Server) -> Iterator[World]:
    """Create Siti, whose number now belongs to another person."""
    with unit_of_work():
        user_id = make_user(username="siti", nomor_hp=NUMBER).id
    with unit_of_work():
        siti = Client(committed, sessions.begin(users.get(user_id)).access_token, user_id)
    yield World(committed, gateway, siti, Phone(f"+62{NUMBER[1:]}"))
    db.session.rollback()


def test_a_recycled_number_is_reported_blocked_and_moved_to_its_new_owner(world: World) -> None:
    """The stranger gets Siti's reminders, answers SALAH NOMOR ("wrong number"), and registers with the number."""
    world.send("Halo Siti, minum Metformin")
    assert world.phone.write("SALAH NOMOR").text == texts.WRONG_NUMBER
    for kind in ("reminder", "alert", "password_reset", "security_notice"):
        row = world.send(f"Lagi {kind}", kind)
        assert (row.state, row.last_error) == ("failed", WRONG)
    assert world.received() == ["Halo Siti, minum Metformin", texts.WRONG_NUMBER]
    assert world.siti.get("/profile").json["phone_problem"] == "wrong_number"
    reasons = [part["reason"] for row in world.siti.get("/pengiriman").json for part in row["channels"]]
    assert delivery_labels.REASONS[WRONG] in reasons
    assert (world.phone.write("RESET").outcome, world.received()[2:]) == ("reset", [])
    stranger = world.client(username="ana", nomor_hp=None)
    code = stranger.post(VERIFICATION, {"nomor_hp": NUMBER, "method": "message"}).json["code"]
    assert world.phone.write(f"VERIFIKASI {code}").outcome == "answered:verify proven"
    assert stranger.get("/profile").json["nomor_hp"] == NUMBER
    assert stranger.get("/profile").json["phone_problem"] is None
    profile = world.siti.get("/profile").json
    assert (profile["nomor_hp"], profile["phone_problem"]) == (None, None)


def test_moving_a_number_in_use_needs_confirmation_and_can_be_reversed(world: World) -> None:
    with unit_of_work():
        numbers.record_use(world.phone.number)
    ana = world.client(username="ana", nomor_hp="081377778888")
    code = ana.post(VERIFICATION, {"nomor_hp": NUMBER, "method": "message"}).json["code"]
    said = world.phone.write(f"VERIFIKASI {code}")
    assert said.outcome == "answered:verify asked"
    assert str(said.text).startswith("Nomor ini dipakai akun siti.")
    assert world.siti.get("/profile").json["nomor_hp"] == NUMBER
    said = world.phone.write("Pindah!")
    assert (said.outcome, said.text) == ("answered:verify moved", texts.moved("ana"))
    assert world.phone.write("SALAH NOMOR").text == texts.MOVED_BACK
    assert world.siti.get("/profile").json["nomor_hp"] == NUMBER
    assert ana.get("/profile").json["nomor_hp"] == "081377778888"


@pytest.mark.parametrize("text", ["PINDAH", "pindaah", "PINDAH."])
def test_a_move_confirmation_without_a_request_gets_an_explanation(world: World, text: str) -> None:
    assert world.phone.write(text).text == texts.NOTHING_TO_MOVE


@pytest.mark.parametrize("text", ["pindah rumah", "saya pindah", "dipindah"])
def test_the_move_command_inside_another_text_is_not_accepted(world: World, text: str) -> None:
    assert world.phone.write(text).outcome in ("help", "answered:help")


def test_verification_and_refusal_commands_are_not_recorded_as_use(world: World) -> None:
    for text in ("VERIFIKASI XXXXXX", "PINDAH", "RESET", "SALAH NOMOR"):
        world.phone.write(text)
    assert db.session.scalar(sa.select(PhoneNumber.used_at)) is None
    world.phone.write("SUDAH")
    assert db.session.scalar(sa.select(PhoneNumber.used_at)) is not None


def test_reset_from_a_long_unused_number_sends_no_link(world: World) -> None:
    with unit_of_work():
        db.session.execute(sa.update(User).values(created_at=sa.func.now() - timedelta(days=91)))
    for _ in range(2):
        assert world.phone.write("RESET").outcome == "reset"
    assert world.received() == []


def test_reset_from_a_moved_number_is_not_answered(world: World) -> None:
    with unit_of_work():
        db.session.add(PhoneMove(phone=world.phone.number, nomor_hp=NUMBER, from_user_id=world.siti.id))
    assert world.phone.write("RESET").outcome == "reset"
    assert world.received() == []


def test_a_wrong_number_report_from_a_free_number_flags_its_next_owner(world: World) -> None:
    free = Phone("+6281377778888")
    assert free.write("SALAH NOMOR").text is None
    assert world.client(nomor_hp="081377778888").get("/profile").json["phone_problem"] == "wrong_number"


def test_a_requested_verification_code_is_sent_to_a_wrong_number(world: World) -> None:
    world.phone.write("SALAH NOMOR")
    assert world.siti.post(VERIFICATION, {"method": "code"}).status_code == 201
    assert any(text.startswith("Kode verifikasi nomor HP Anda: ") for text in world.received())


def test_a_delivery_without_a_user_is_not_sent_to_a_wrong_number(world: World) -> None:
    world.phone.write("SALAH NOMOR")
    row = world.send("x", "security_notice", user_id=None, target=world.phone.number)
    assert (row.state, row.last_error) == ("failed", WRONG)


# --- BERHENTI PENGINGAT ---------------------------------------------------------------------------------------------


def messages_on(client: Client) -> bool:
    on: bool = client.get("/profile/notifikasi").json["messages"]
    return on


def test_an_unverified_number_must_resume_its_reminders_by_message(world: World) -> None:
    world.phone.write("BERHENTI PENGINGAT")
    settings = world.siti.get("/profile/notifikasi").json
    assert settings["messages"] is False
    assert_error(world.siti.put("/profile/notifikasi", {"messages": True}), 409, "stopped_by_number")
    assert world.siti.put("/profile/notifikasi", settings).status_code == 200
    assert world.phone.write("MULAI").text == texts.STARTED
    assert messages_on(world.siti)
    assert world.siti.put("/profile/notifikasi", {"messages": True}).status_code == 200


def test_changing_the_number_and_back_does_not_resume_reminders(world: World) -> None:
    world.phone.write("BERHENTI PENGINGAT")
    world.siti.put("/profile", {"nomor_hp": "081377778888"})
    assert world.siti.put("/profile/notifikasi", {"messages": True}).status_code == 200
    world.siti.put("/profile", {"nomor_hp": NUMBER})
    assert messages_on(world.siti) is False
    assert world.send("Pengingat").state == "cancelled"
    assert_error(world.siti.put("/profile/notifikasi", {"messages": True}), 409, "stopped_by_number")


def test_after_verification_the_account_can_resume_stopped_reminders(world: World) -> None:
    world.phone.write("BERHENTI PENGINGAT")
    code = world.siti.post(VERIFICATION, {"method": "message"}).json["code"]
    world.phone.write(f"VERIFIKASI {code}")
    assert messages_on(world.siti) is False
    assert world.siti.put("/profile/notifikasi", {"messages": True}).status_code == 200
    assert messages_on(world.siti)


def test_the_account_of_a_verified_number_can_resume_reminders(world: World) -> None:
    code = world.siti.post(VERIFICATION, {"method": "message"}).json["code"]
    world.phone.write(f"VERIFIKASI {code}")
    world.phone.write("BERHENTI PENGINGAT")
    assert messages_on(world.siti) is False
    assert world.siti.put("/profile/notifikasi", {"messages": True}).status_code == 200
