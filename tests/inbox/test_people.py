"""Commands by message: stop, start, help, wrong number, and password reset."""

import pytest
import sqlalchemy as sa

from app.core.database.session import db, unit_of_work
from app.core.lib import local_time
from app.identity import consents, notification_settings, users
from app.identity.models import User
from app.inbox import jobs, texts
from app.notifications import jobs as delivery_jobs
from app.notifications.models import Delivery, Inbound, InboundKind
from app.notifications.senders import numbers
from tests.helpers.factories import make_user
from tests.inbox.phones import Phone, rows
from tests.notifications.deliveries import add, words_of
from tests.routes.requests import undone


def wishes(user):
    db.session.expire_all()
    accepts = db.session.scalars(sa.select(User.accepts_broadcasts).where(User.id == user.id)).one()
    return accepts, notification_settings.get(user.id).messages


# --- stop and start -------------------------------------------------------------------------------------------------


def test_stop_ends_broadcasts_and_stop_reminders_ends_reminders_too(phone, siti, subtests):
    for message, answer, expected in (
        ("BERHENTI", texts.STOPPED, (False, True)),
        ("STOP PENGINGAT", texts.STOPPED_ALL, (False, False)),
        ("berhenti minum obat", texts.HELP, (True, True)),
        ("salah nomor 1, harusnya nomor 2", texts.HELP, (True, True)),
    ):
        with subtests.test(message), undone():
            assert phone.write(message).text == answer
            assert wishes(siti) == expected
            assert not numbers.is_wrong(phone.number)


def test_only_start_restores_reminders_and_broadcasts(phone, siti):
    phone.write("BERHENTI PENGINGAT")
    for text in ("mulai besok saya minum", "👍", "BANTUAN"):
        phone.write(text)
        assert wishes(siti) == (False, False)
    assert phone.write("MULAI").text == texts.STARTED
    assert wishes(siti) == (True, True)


def test_a_consent_change_records_that_it_came_by_message(phone, siti):
    phone.write("BERHENTI")
    rows = db.session.execute(
        sa.select(consents.Consent.purpose, consents.Consent.granted, consents.Consent.way).where(
            consents.Consent.user_id == siti.id
        )
    ).all()
    assert [tuple(row) for row in rows] == [("broadcasts", False, "message")]


@pytest.mark.parametrize(("wish", "accepts"), [("stop", False), ("resume", True)])
def test_a_whatsapp_menu_preference_is_applied_without_a_reply(phone, siti, wish, accepts):
    notification_settings.switch_broadcasts(siti.id, not accepts, way=consents.ConsentSource.APP)
    values = {"provider": "test", "event_key": "wish", "kind": InboundKind.PREFERENCE, "phone": phone.number}
    db.session.add(Inbound(**values, payload={"wish": wish}))
    db.session.commit()
    jobs.handle()
    assert wishes(siti)[0] is accepts
    assert db.session.scalar(sa.select(sa.func.count()).select_from(Delivery)) == 0


# --- the number and the account -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("is_proven", "kind", "arrives"), [
    (False, "reminder", False),
    (False, "password_reset", False),
    (True, "reminder", True),
])  # fmt: skip
def test_a_wrong_number_entered_again_gets_messages_only_if_verified(committed, gateway, *, is_proven, kind, arrives):
    with unit_of_work():
        user_id = make_user(nomor_hp="081234567890").id
    assert Phone("+6281234567890").write("SALAH NOMOR").text == texts.WRONG_NUMBER
    for nomor_hp in ("081234567891", "081234567890"):
        with unit_of_work():
            users.update(db.session.get_one(User, user_id), {"nomor_hp": nomor_hp})
    with unit_of_work():
        user = db.session.get_one(User, user_id)
        user.phone_verified_at = local_time.now() if is_proven else None
    add(user_id=user_id, target=None, kind=kind, dedupe_key="x", words={"text": "Pengingat"})
    delivery_jobs.drain("urgent")
    sent = {message.text for message in gateway.messaging.to("6281234567890")}
    assert sent == ({texts.WRONG_NUMBER, "Pengingat"} if arrives else {texts.WRONG_NUMBER})


def test_start_from_a_wrong_number_is_refused_until_it_is_verified(committed, gateway):
    with unit_of_work():
        user_id = make_user(nomor_hp="081234567890").id
    phone = Phone("+6281234567890")
    phone.write("SALAH NOMOR")
    assert phone.write("MULAI").text == texts.STILL_WRONG
    with unit_of_work():
        user = db.session.get_one(User, user_id)
        user.phone_verified_at, user.phone_invalid_at = local_time.now(), None
    assert phone.write("MULAI").text == texts.STARTED


def resets():
    db.session.expire_all()
    rows = sa.select(Delivery).filter_by(kind="password_reset", state="pending").order_by(Delivery.id)
    return list(db.session.scalars(rows))


def test_reset_sends_a_link_to_the_accounts_own_number(phone, siti):
    said = phone.write("RESET")
    assert (said.outcome, said.text) == ("answered:reset", None)
    (reset,) = resets()
    assert reset.target == phone.number
    assert "/reset-password?code=" in str(words_of(reset)["text"])


def test_five_resets_an_hour_send_a_link(phone, limited):
    for _ in range(7):
        phone.write("RESET")
    assert [row.outcome for row in rows()] == ["answered:reset"] * 5 + ["reset"] * 2
    assert len(resets()) == 5
