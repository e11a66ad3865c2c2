"""Reminders of a dependent: texts, recipients and answers. A caregiver receives the messages."""

import re
from datetime import time

import pytest
import sqlalchemy as sa

from app.core.database.session import db, unit_of_work
from app.identity import notification_settings
from app.identity.models import RoleName, User
from app.notifications.delivery import messaging
from app.notifications.models import Delivery, DeliveryState
from app.pengingat.models import Occurrence
from tests.caregivers.dependents import keep
from tests.helpers.client import assert_error
from tests.helpers.factories import make_user
from tests.notifications.deliveries import add, drained, words_of
from tests.pengingat.answering import with_doses
from tests.pengingat.links import payloads, tap
from tests.routes.requests import undone

SENTENCE = "waktunya minum Metformin (1 tablet, setelah makan) pukul 19.00 WIB."


@pytest.fixture
def remind(moment, public, budi, obat):
    """Create a dose at 19:00 in Jakarta, of Budi or of a dependent. Return the path of the reminder."""

    def create(dependent=None, **details):
        query = f"?patient_id={dependent}" if dependent else ""
        answer = budi.post(f"/pengingat/obat{query}", {**obat, "details": with_doses(obat, "12:00", **details)}).ok(201)
        return f"/pengingat/{answer['id']}", query

    return create


def first(channel):
    return dict(payloads(channel)[0])


def test_two_dependents_of_one_moment_are_two_messages(budi, ibu, remind):
    remind(ibu)
    remind(keep(budi, "Bapak Umar"))
    starts = {str(words["text"]).partition(":")[0] for words in payloads("messaging")[:2]}
    assert starts == {"Pengingat untuk Bapak Umar", "Pengingat untuk Ibu Siti"}


def test_messages_name_the_dependent_and_greet_the_caregiver(ibu, remind):
    remind(ibu)
    message = first("messaging")
    assert message["text"].startswith(f"Pengingat untuk Ibu Siti: {SENTENCE}")
    assert message["parts"]["name"] == "Budi"
    assert first("push_fan_out")["title"] == "Pengingat untuk Ibu Siti: Obat diabetes"
    remind(ibu)
    lines = first("messaging")["text"].splitlines()
    assert lines[0] == "Pengingat untuk Ibu Siti:"
    assert lines[1].startswith(f"1. W{SENTENCE[1:]}")


def test_a_message_about_the_caregivers_own_reminder_greets_the_caregiver(ibu, remind):
    remind()
    assert first("messaging")["text"].startswith("Halo Budi, waktunya")


def test_a_stock_notice_names_the_dependent(ibu, remind):
    remind(ibu, persediaan={"sisa": 2})
    rows = db.session.scalars(sa.select(Delivery).filter_by(kind="stock").order_by(Delivery.channel)).all()
    message, push = [words_of(row) for row in rows]
    assert str(message["text"]).startswith("Pengingat untuk Ibu Siti: Metformin kira-kira habis")
    assert push["title"] == "Persediaan obat Ibu Siti"


def test_every_answer_is_recorded_as_given_by_the_caregiver(client, budi, moment, ibu, remind):
    path, query = remind(ibu)
    moment.move(hours=11, minutes=5)
    token = re.findall(r"/k/([\w-]{22})", first("messaging")["text"])[0]
    push = first("push_fan_out")["token"]
    for answer in (
        lambda: tap(client, token, "done"),
        lambda: client.post(f"/konfirmasi/{push}", {"status": "done"}),
        lambda: budi.post(f"{path}/konfirmasi{query}", {"status": "done"}),
    ):
        with undone():
            assert answer().status_code in (200, 303)
            found = sa.select(Occurrence.state, Occurrence.answered_via).order_by(Occurrence.due_at).limit(1)
            assert db.session.execute(found).one() == ("done", "caregiver")
    assert_error(budi.post(f"{path}/konfirmasi", {"status": "done"}), 404)


# --- receivers: the caregiver's present phone number and settings ----------------------------------------------------


@pytest.fixture
def people(committed, gateway):
    """Return the ids of a caregiver with a number, and of a dependent."""
    with unit_of_work():
        budi = make_user(RoleName.PENDAMPING, nomor_hp="081200000001")
        ibu = make_user(guardian_id=None, nomor_hp=None)
        ibu.guardian_id, ibu.password_hash = budi.id, None
        return budi.id, ibu.id


def send(people, kind="reminder"):
    return drained(add(kind=kind, user_id=people[1], target=None, words={"text": "Pengingat untuk Ibu Siti"}))


def test_a_message_is_sent_to_the_number_of_the_caregiver(people, gateway):
    row = send(people)
    assert (row.state, row.user_id) == (DeliveryState.SENT, people[1])
    (sent,) = gateway.messaging.sent
    assert (sent.target, sent.text) == ("6281200000001", "Pengingat untuk Ibu Siti")


def test_a_caregiver_who_disabled_messages_gets_none_about_the_dependent(people):
    with unit_of_work():
        notification_settings.save(people[0], messages=False)
    assert send(people).state == DeliveryState.CANCELLED


def test_quiet_hours_of_the_caregiver_delay_a_stock_notice_but_no_reminder(people):
    with unit_of_work():
        notification_settings.save(people[0], quiet_start=time(0), quiet_end=time(23, 59))
    assert send(people, "stock").state == DeliveryState.PENDING
    assert send(people).state == DeliveryState.SENT


@pytest.mark.parametrize(
    ("values", "error"),
    [({"phone": None}, "no number"), ({"phone_invalid_at": sa.func.now()}, messaging.INVALID)],
    ids=["no number", "invalid"],
)
def test_a_caregiver_without_a_valid_number_gets_no_message(people, values, error):
    with unit_of_work():
        db.session.execute(sa.update(User).filter_by(id=people[0]).values(**values))
    row = send(people)
    assert (row.state, row.last_error) == (DeliveryState.FAILED, error)
