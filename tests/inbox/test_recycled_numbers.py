"""Tests of a user's old phone number that now belongs to a stranger."""

from dataclasses import dataclass
from datetime import timedelta

import pytest
import sqlalchemy as sa
from flask import Flask

from app.accounts import verification
from app.core.database.session import db, unit_of_work
from app.identity import sessions, users
from app.identity.models import User
from app.inbox import texts
from app.notifications import jobs as delivery_jobs
from app.notifications.delivery.messaging import WRONG
from app.notifications.senders import numbers
from app.notifications.senders.models import PhoneNumber
from app.privacy.service import delivery_labels
from dev.simulators import Server
from tests.helpers.client import Client
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

    def client(self, **data):
        with unit_of_work():
            user_id = make_user(**data).id
        with unit_of_work():
            return Client(self.app, sessions.begin(users.get(user_id)).access_token, user_id)

    def send(self, key, kind="reminder", **fields):
        values = {"user_id": self.siti.id, "target": None, "kind": kind, "words": {"text": key}, **fields}
        add(dedupe_key=key, **values)
        delivery_jobs.drain("urgent")
        return reread(key)

    def received(self):
        delivery_jobs.drain("urgent")
        return [message.text for message in self.gateway.messaging.to(self.phone.number[1:])]


@pytest.fixture
def world(committed, live, gateway):
    """Create Siti, whose number now belongs to another person."""
    with unit_of_work():
        user_id = make_user(username="siti", nomor_hp=NUMBER).id
    with unit_of_work():
        siti = Client(committed, sessions.begin(users.get(user_id)).access_token, user_id)
    yield World(committed, gateway, siti, Phone(f"+62{NUMBER[1:]}"))
    db.session.rollback()


def test_a_recycled_number_is_reported_blocked_and_moved_to_its_new_owner(world):
    """The stranger gets Siti's reminders, answers SALAH NOMOR ("wrong number"), and registers with the number."""
    world.send("Halo Siti, minum Metformin")
    assert world.phone.write("SALAH NOMOR").text == texts.WRONG_NUMBER
    for kind in ("reminder", "alert", "password_reset", "security_notice"):
        row = world.send(f"Lagi {kind}", kind, payload={"is_important": True})
        assert (row.state, row.last_error) == ("failed", WRONG)
    assert world.received() == ["Halo Siti, minum Metformin", texts.WRONG_NUMBER]
    assert world.siti.get("/profile").json["phone_problem"] == "wrong_number"
    reasons = [part["reason"] for row in world.siti.get("/pengiriman").json for part in row["channels"]]
    assert delivery_labels.REASONS[WRONG] in reasons
    assert (world.phone.write("RESET").text, world.received()[2:]) == (None, [])
    stranger = world.client(username="ana", nomor_hp=None)
    code = stranger.post(VERIFICATION, {"nomor_hp": NUMBER}).json["code"]
    assert world.phone.write(f"VERIFIKASI {code}").outcome == "answered:verify proven"
    assert stranger.get("/profile").json["nomor_hp"] == NUMBER
    assert stranger.get("/profile").json["phone_problem"] is None
    profile = world.siti.get("/profile").json
    assert (profile["nomor_hp"], profile["phone_problem"]) == (None, None)


def test_a_number_in_use_stays_until_its_account_frees_it(world):
    with unit_of_work():
        numbers.record_use(world.phone.number)
    ana = world.client(username="ana", nomor_hp="081377778888")
    code = ana.post(VERIFICATION, {"nomor_hp": NUMBER}).json["code"]
    said = world.phone.write(f"VERIFIKASI {code}")
    assert (said.outcome, said.text) == (
        "answered:verify in_use",
        "Nomor ini masih dipakai akun siti. Masuk ke akun itu, lalu lepas nomornya di profil.",
    )
    assert str(world.phone.write("RESET").outcome) == "answered:reset"
    assert "/reset-password?code=" in " ".join(world.received())  # it leads to Siti's account
    assert world.siti.delete("/profile/phone").status_code == 200
    assert world.phone.write(f"VERIFIKASI {code}").text == verification.PROVEN
    assert ana.get("/profile").json["nomor_hp"] == NUMBER


def test_verification_and_refusal_commands_are_not_recorded_as_use(world):
    for text in ("VERIFIKASI XXXXXX", "RESET", "SALAH NOMOR"):
        world.phone.write(text)
    assert db.session.scalar(sa.select(PhoneNumber.used_at)) is None
    world.phone.write("SUDAH")
    assert db.session.scalar(sa.select(PhoneNumber.used_at)) is not None


def test_reset_from_an_old_number_sends_a_link_only_if_the_number_was_used(world):
    with unit_of_work():
        db.session.execute(sa.update(User).values(created_at=sa.func.now() - timedelta(days=91)))
    for _ in range(2):
        assert world.phone.write("RESET").text is None
    assert world.received() == []
    with unit_of_work():
        numbers.record_use(world.phone.number)
    world.phone.write("RESET")
    assert "/reset-password?code=" in " ".join(world.received())


def test_a_wrong_number_report_from_a_free_number_flags_its_next_owner(world):
    assert Phone("+6281377778888").write("SALAH NOMOR").text is None
    assert world.client(nomor_hp="081377778888").get("/profile").json["phone_problem"] == "wrong_number"


def test_a_delivery_without_a_user_is_not_sent_to_a_wrong_number(world):
    world.phone.write("SALAH NOMOR")
    row = world.send("x", "security_notice", user_id=None, target=world.phone.number)
    assert (row.state, row.last_error) == ("failed", WRONG)


# --- BERHENTI PENGINGAT ---------------------------------------------------------------------------------------------


def messages_on(client):
    return client.get("/profile/notifikasi").json["messages"]


def test_reminders_that_were_stopped_by_message_go_on_by_message_or_in_the_profile(world):
    for way in ("message", "profile"):
        world.phone.write("BERHENTI PENGINGAT")
        assert messages_on(world.siti) is False
        assert world.send(f"Pengingat {way}").state == "cancelled"
        if way == "message":
            assert world.phone.write("MULAI").text == texts.STARTED
        else:
            assert world.siti.put("/profile/notifikasi", {"messages": True}).status_code == 200
        assert messages_on(world.siti)
