"""Reminders of a dependent: texts, recipients and answers. A caregiver receives the messages."""

import re
from datetime import time

import pytest
import sqlalchemy as sa

from app.core.database.session import db, unit_of_work
from app.identity import notification_settings
from app.identity.models import RoleName, User
from app.notifications import jobs, outbox
from app.notifications.delivery import messaging
from app.notifications.models import Channel, Delivery, DeliveryState
from app.pengingat.models import Occurrence, Pengingat
from tests.caregivers.dependents import keep
from tests.helpers.client import assert_error
from tests.helpers.factories import make_user
from tests.notifications.deliveries import words_of
from tests.pengingat.links import ADDRESS, payloads, tap

SENTENCE = r"waktunya minum Metformin \(0,5 tablet, setelah makan\) pukul 19.00 WIB."


@pytest.fixture
def ibu(moment, public, budi, obat):
    """Create Budi's mother, a dependent without a phone, with a dose at 19:00 in Jakarta. Return her id."""
    ibu = keep(budi)
    assert budi.post(f"/pengingat/obat?patient_id={ibu}", obat).status_code == 201
    return ibu


def _first(channel):
    return dict(payloads(channel)[0])


class TestWords:
    def test_a_message_names_the_dependent(self, ibu):
        text = str(_first("messaging")["text"])
        assert re.match(f"Pengingat untuk Ibu Siti: {SENTENCE}", text), text

    def test_a_template_greets_the_caregiver(self, ibu):
        assert _first("messaging")["parts"]["name"] == "Budi"

    def test_a_push_names_the_dependent(self, ibu):
        push = _first("push_fan_out")
        assert push["title"] == "Pengingat untuk Ibu Siti: Obat diabetes"

    def test_a_message_about_the_caregivers_own_reminder_greets_the_caregiver(self, budi, moment, obat):
        assert budi.post("/pengingat/obat", obat).status_code == 201
        assert str(_first("messaging")["text"]).startswith("Halo Budi, waktunya")

    def test_a_list_names_the_dependent_in_the_first_line(self, budi, ibu, obat):
        assert budi.post(f"/pengingat/obat?patient_id={ibu}", obat).status_code == 201
        lines = str(_first("messaging")["text"]).splitlines()
        assert lines[0] == "Pengingat untuk Ibu Siti:"
        assert re.match(f"1. W{SENTENCE[1:]}", lines[1])

    def test_a_stock_notice_names_the_dependent(self, app, ibu):
        pengingat = db.session.scalars(sa.select(Pengingat)).one()
        pengingat.details = {**pengingat.details, "persediaan": {"sisa": 2, "ingatkan_hari": 7}}
        for channel in (Channel.MESSAGING, Channel.PUSH_FAN_OUT):
            outbox.send(
                outbox.NewDelivery(
                    kind="stock",
                    channel=channel,
                    dedupe_key=f"stock:{channel}",
                    user_id=ibu,
                    about=outbox.About("reminder", pengingat.id),
                    expires_at=db.session.scalars(sa.select(Delivery.expires_at)).first(),
                )
            )
        rows = db.session.scalars(sa.select(Delivery).filter_by(kind="stock").order_by(Delivery.id)).all()
        message, push = [words_of(row) for row in rows]
        assert str(message["text"]).startswith("Pengingat untuk Ibu Siti: Metformin kira-kira habis")
        assert push["title"] == "Persediaan obat Ibu Siti"


class TestAnswers:
    @pytest.fixture
    def token(self, ibu, moment):
        moment.move(hours=11, minutes=5)
        (found,) = re.findall(rf"{ADDRESS}/k/([A-Za-z0-9_-]{{22}})", str(_first("messaging")["text"]))
        return str(found)

    def test_an_answer_by_link_is_recorded_as_given_by_the_caregiver(self, client, ibu, token):
        assert tap(client, token, "done").status_code == 303
        assert _answered(ibu) == ("done", "caregiver")

    def test_an_answer_by_push_is_recorded_as_given_by_the_caregiver(self, client, ibu, token):
        assert client.post(f"/konfirmasi/{_first('push_fan_out')['token']}", {"status": "done"}).status_code == 200
        assert _answered(ibu) == ("done", "caregiver")

    def test_an_answer_in_the_application_is_recorded_as_given_by_the_caregiver(self, budi, ibu, token):
        id_ = db.session.scalar(sa.select(Pengingat.id).filter_by(user_id=ibu))
        done = budi.post(f"/pengingat/{id_}/konfirmasi?patient_id={ibu}", {"status": "done"})
        assert done.status_code == 200
        assert _answered(ibu) == ("done", "caregiver")
        assert_error(budi.post(f"/pengingat/{id_}/konfirmasi", {"status": "done"}), 404)


def _answered(user_id):
    db.session.expire_all()
    row = db.session.scalars(sa.select(Occurrence).filter_by(user_id=user_id).order_by(Occurrence.due_at)).first()
    assert row is not None
    return row.state, row.answered_via


class TestReceivers:
    """Messages about a dependent are sent to the caregiver's present phone number and browsers."""

    @pytest.fixture
    def people(self, committed, gateway):
        with unit_of_work():
            budi = make_user(RoleName.PENDAMPING, nomor_hp="081200000001")
            ibu = make_user(guardian_id=None, nomor_hp=None)
            ibu.guardian_id, ibu.password_hash = budi.id, None
            return budi.id, ibu.id

    def send(self, people, **draft):
        with unit_of_work():
            values = {
                "kind": "reminder",
                "channel": Channel.MESSAGING,
                "dedupe_key": "to-ibu",
                "user_id": people[1],
                "words": {"text": "Pengingat untuk Ibu Siti"},
                "expires_at": db.session.scalar(sa.select(sa.func.now() + sa.text("interval '1 hour'"))),
            }
            outbox.send(outbox.NewDelivery(**{**values, **draft}))
        jobs.drain("urgent")
        db.session.expire_all()
        return db.session.scalars(sa.select(Delivery).filter_by(dedupe_key="to-ibu")).one()

    def test_a_message_is_sent_to_the_number_of_the_caregiver(self, people, gateway):
        row = self.send(people)
        assert (row.state, row.user_id) == (DeliveryState.SENT, people[1])
        (sent,) = gateway.messaging.sent
        assert (sent.target, sent.text) == ("6281200000001", "Pengingat untuk Ibu Siti")

    def test_a_caregiver_who_disabled_messages_gets_none_about_the_dependent(self, people):
        with unit_of_work():
            notification_settings.save(people[0], messages=False)
        assert self.send(people).state == DeliveryState.CANCELLED

    def test_quiet_hours_of_the_caregiver_delay_a_stock_notice_but_no_reminder(self, people):
        with unit_of_work():
            notification_settings.save(people[0], quiet_start=time(0), quiet_end=time(23, 59))
        assert self.send(people, kind="stock").state == DeliveryState.PENDING
        with unit_of_work():
            db.session.execute(sa.delete(Delivery))
        assert self.send(people).state == DeliveryState.SENT

    def test_a_caregiver_without_a_number_gets_no_message(self, people):
        with unit_of_work():
            db.session.get_one(User, people[0]).phone = None
        row = self.send(people)
        assert (row.state, row.last_error) == (DeliveryState.FAILED, "no number")

    def test_an_invalid_number_of_the_caregiver_makes_the_delivery_fail(self, people, gateway):
        with unit_of_work():
            db.session.get_one(User, people[0]).phone_invalid_at = db.session.scalar(sa.select(sa.func.now()))
        row = self.send(people)
        assert (row.state, row.last_error) == (DeliveryState.FAILED, messaging.INVALID)
