"""Commands by message: stop, start, help, wrong number, password reset, and deletion of a caregiver link."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
import sqlalchemy as sa
from flask import Flask

from app.caregivers import notices
from app.core.database.session import db, unit_of_work
from app.core.lib import local_time
from app.identity import consents, notification_settings, users
from app.identity.care import CaregiverLink
from app.identity.models import User
from app.inbox import jobs, texts
from app.notifications import jobs as delivery_jobs
from app.notifications.models import Delivery, DeliveryState, Inbound, InboundKind, Receipt
from app.notifications.senders import numbers
from dev.simulators import Server
from tests.helpers.client import Client
from tests.helpers.factories import make_user
from tests.helpers.language import assert_readable
from tests.inbox.phones import Phone, age, rows
from tests.notifications.deliveries import add, words_of


def wishes(user: Client) -> tuple[bool, bool]:
    db.session.expire_all()
    accepts = db.session.scalars(sa.select(User.accepts_broadcasts).where(User.id == user.id)).one()
    return accepts, notification_settings.get(user.id).messages


# --- stop and start -------------------------------------------------------------------------------------------------


def test_stop_ends_broadcasts_and_not_reminders(phone: Phone, siti: Client) -> None:
    said = phone.write("BERHENTI")
    assert said.text == texts.STOPPED
    assert wishes(siti) == (False, True)


def test_stop_reminders_ends_reminders_and_broadcasts(phone: Phone, siti: Client) -> None:
    assert phone.write("STOP PENGINGAT").text == texts.STOPPED_ALL
    assert wishes(siti) == (False, False)


def test_start_restores_reminders_and_broadcasts(phone: Phone, siti: Client) -> None:
    phone.write("BERHENTI PENGINGAT")
    assert phone.write("MULAI").text == texts.STARTED
    assert wishes(siti) == (True, True)


def test_a_consent_change_records_that_it_came_by_message(phone: Phone, siti: Client) -> None:
    phone.write("BERHENTI")
    rows = db.session.execute(
        sa.select(consents.Consent.purpose, consents.Consent.granted, consents.Consent.way).where(
            consents.Consent.user_id == siti.id
        )
    ).all()
    assert [tuple(row) for row in rows] == [("broadcasts", False, "message")]


@pytest.mark.parametrize(
    "text", ["mulia", "start", "ya", "saya mulai", "mulai besok saya minum", "mulai?", "👍", "BANTUAN"]
)
def test_a_text_other_than_start_does_not_opt_the_user_in(phone: Phone, siti: Client, text: str) -> None:
    phone.write("BERHENTI PENGINGAT")
    phone.write(text)
    assert wishes(siti) == (False, False)


def test_after_stop_reminders_only_the_confirmation_is_sent(committed: Flask, gateway: Server) -> None:
    with unit_of_work():
        user_id = make_user(nama_ktp="Siti", nomor_hp="081234567890").id
    phone = Phone("+6281234567890")
    assert phone.write("BERHENTI PENGINGAT").outcome == "answered:stop reminders"
    add(user_id=user_id, target=None, kind="reminder", dedupe_key="x")
    delivery_jobs.drain("urgent")
    assert [message.text for message in gateway.messaging.to("6281234567890")] == [texts.STOPPED_ALL]


@pytest.mark.parametrize(("wish", "accepts"), [("stop", False), ("resume", True)])
def test_a_whatsapp_menu_preference_is_applied_without_a_reply(
    phone: Phone, siti: Client, wish: str, accepts: bool
) -> None:
    notification_settings.switch_broadcasts(siti.id, not accepts, way=consents.ConsentSource.APP)
    values = {"provider": "test", "event_key": "wish", "kind": InboundKind.PREFERENCE, "phone": phone.number}
    db.session.add(Inbound(**values, payload={"wish": wish}))
    db.session.commit()
    jobs.handle()
    assert wishes(siti)[0] is accepts
    assert db.session.scalar(sa.select(sa.func.count()).select_from(Delivery)) == 0


# --- help -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["BANTUAN", "tolong saya", "apa kabar", "???", ""])
def test_help_requests_and_unknown_texts_get_the_emergency_numbers(phone: Phone, text: str) -> None:
    said = phone.write(text)
    assert said.text is not None
    assert said.text.startswith(
        "Ini balasan otomatis, jadi belum ada petugas yang membacanya. Keadaan darurat: 119 atau 112."
    )


def test_the_help_text_is_repeated_only_after_its_interval(phone: Phone) -> None:
    assert phone.write("BANTUAN").text == texts.HELP
    for text in ("BANTUAN", "apa kabar"):
        said = phone.write(text)
        assert (said.outcome, said.text) == ("help", None)
    age(hours=13)
    assert phone.write("BANTUAN").text == texts.HELP


def test_a_reaction_to_another_message_gets_no_reply(phone: Phone) -> None:
    assert phone.write("", type="reaction").text is None


# --- the number and the account -------------------------------------------------------------------------------------


def test_after_a_wrong_number_report_no_reminder_is_sent_to_that_number(committed: Flask, gateway: Server) -> None:
    with unit_of_work():
        user_id = make_user(nomor_hp="081234567890").id
    assert Phone("+6281234567890").write("SALAH NOMOR").text == texts.WRONG_NUMBER
    add(user_id=user_id, target=None, kind="reminder", dedupe_key="x")
    delivery_jobs.drain("urgent")
    assert [message.text for message in gateway.messaging.to("6281234567890")] == [texts.WRONG_NUMBER]


@pytest.mark.parametrize(("is_proven", "kind", "arrives"), [
    (False, "reminder", False),
    (False, "password_reset", False),
    (True, "reminder", True),
])  # fmt: skip
def test_a_wrong_number_entered_again_gets_messages_only_if_verified(
    committed: Flask, gateway: Server, *, is_proven: bool, kind: str, arrives: bool
) -> None:
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


def test_start_from_a_wrong_number_is_refused_until_it_is_verified(committed: Flask, gateway: Server) -> None:
    with unit_of_work():
        user_id = make_user(nomor_hp="081234567890").id
    phone = Phone("+6281234567890")
    phone.write("SALAH NOMOR")
    assert phone.write("MULAI").text == texts.STILL_WRONG
    with unit_of_work():
        user = db.session.get_one(User, user_id)
        user.phone_verified_at, user.phone_invalid_at = local_time.now(), None
    assert phone.write("MULAI").text == texts.STARTED


def resets() -> list[Delivery]:
    db.session.expire_all()
    rows = sa.select(Delivery).filter_by(kind="password_reset", state="pending").order_by(Delivery.id)
    return list(db.session.scalars(rows))


def test_reset_sends_a_link_to_the_accounts_own_number(phone: Phone, siti: Client) -> None:
    said = phone.write("RESET")
    assert (said.outcome, said.text) == ("answered:reset", None)
    (reset,) = resets()
    assert (reset.user_id, reset.target) == (siti.id, phone.number)
    assert "/reset-password?code=" in str(words_of(reset)["text"])


def test_reset_from_an_unknown_sender_gets_no_reply_and_no_link(phone: Phone) -> None:
    stranger = Phone("+6281299999999").write("RESET")
    assert (stranger.outcome, stranger.text) == ("unknown sender", None)
    assert resets() == []


def test_reset_counts_towards_the_reply_limit(phone: Phone) -> None:
    for _ in range(22):
        phone.write("RESET")
    assert [row.outcome for row in rows()] == ["answered:reset"] * 20 + ["reset"] * 2


# --- the caregiver --------------------------------------------------------------------------------------------------


def link(patient_id: int, name: str, **ago: float) -> int:
    caregiver = make_user("pendamping", nama_ktp=name)
    since = local_time.now() - timedelta(**ago)
    row = CaregiverLink(caregiver_id=caregiver.id, patient_id=patient_id, created_at=since)
    db.session.add(row)
    db.session.commit()
    with unit_of_work():
        tell(row.id)
        told = Delivery.dedupe_key.startswith(f"caregiver_link:{row.id}:")
        db.session.execute(sa.update(Delivery).where(told).values(created_at=since))
    return caregiver.id


def tell(link_id: int) -> None:
    row = db.session.get_one(CaregiverLink, link_id)
    notices.linked(row)


def caregivers() -> list[int]:
    db.session.expire_all()
    return sorted(db.session.scalars(sa.select(CaregiverLink.caregiver_id)))


def test_cut_deletes_the_most_recently_announced_caregiver_link(phone: Phone, siti: Client) -> None:
    older, newer = link(siti.id, "Budi Santoso", days=2), link(siti.id, "Ani Lestari", hours=2)
    said = phone.write("PUTUS")
    assert said.text is not None
    assert said.text.startswith("Hubungan dengan pendamping Ani sudah diputus.")
    assert caregivers() == [older]
    assert newer not in caregivers()


@pytest.mark.parametrize(
    ("fate", "is_cut"),
    [
        ({"state": DeliveryState.FAILED}, False),
        ({"state": DeliveryState.SENT, "receipt": Receipt.FAILED}, False),
        ({"state": DeliveryState.FAILED, "unconfirmed_calls": 2}, True),
        ({"state": DeliveryState.SENT}, True),
    ],
    ids=["refused", "not delivered", "unknown", "sent"],
)
def test_cut_deletes_the_latest_link_whose_notice_may_have_arrived(
    phone: Phone, siti: Client, fate: dict[str, Any], is_cut: bool
) -> None:
    older = link(siti.id, "Budi Santoso", days=2)
    newer = link(siti.id, "Ani Lestari", hours=2)
    newest = sa.select(sa.func.max(Delivery.id)).filter_by(channel="messaging").scalar_subquery()
    with unit_of_work():
        db.session.execute(sa.update(Delivery).where(Delivery.id == newest).values(**fate))
    phone.write("PUTUS")
    assert caregivers() == [older if is_cut else newer]


def test_cut_deletes_the_only_link_although_its_notice_failed(phone: Phone, siti: Client) -> None:
    """The message about the new caregiver failed, but the patient may have seen the name in the app."""
    link(siti.id, "Budi Santoso", hours=2)
    with unit_of_work():
        db.session.execute(sa.update(Delivery).values(state=DeliveryState.FAILED, last_error="needs_template"))
    phone.write("PUTUS")
    assert caregivers() == []


def test_a_repeated_cut_does_not_delete_an_earlier_link(phone: Phone, siti: Client) -> None:
    """The patient repeats PUTUS because no answer came at once."""
    older = link(siti.id, "Budi Santoso", days=2)
    link(siti.id, "Ani Lestari", hours=2)
    phone.write("PUTUS")
    assert phone.write("PUTUS").text == texts.CUT_ALREADY
    assert caregivers() == [older]


def test_cut_deletes_an_older_link_with_the_latest_scope_notice(phone: Phone, siti: Client) -> None:
    link(siti.id, "Budi Santoso", days=9)
    newer = link(siti.id, "Ani Lestari", hours=2)
    with unit_of_work():
        older = db.session.scalars(sa.select(CaregiverLink).order_by(CaregiverLink.id)).first()
        assert older is not None
        older.scopes = ["alerts"]
        tell(older.id)
    said = phone.write("PUTUS")
    assert said.text is not None
    assert said.text.startswith("Hubungan dengan pendamping Budi sudah diputus.")
    assert caregivers() == [newer]


def test_cut_does_not_delete_an_old_caregiver_link(phone: Phone, siti: Client) -> None:
    older = link(siti.id, "Budi Santoso", days=8)
    assert phone.write("PUTUS").text == texts.NOTHING_TO_CUT
    assert caregivers() == [older]


def test_cut_does_not_delete_another_users_caregiver_link(phone: Phone, siti: Client) -> None:
    other = make_user(nomor_hp="081234567899")
    theirs = link(other.id, "Budi Santoso", hours=1)
    assert phone.write("PUTUS").text == texts.NOTHING_TO_CUT
    assert caregivers() == [theirs]


@pytest.mark.parametrize("text", ["putuskan", "putu", "cut", "putus asa", "putus obat 3 hari dok", "putus?"])
def test_cut_is_accepted_only_as_the_whole_text(phone: Phone, siti: Client, text: str) -> None:
    link(siti.id, "Budi Santoso", hours=1)
    phone.write(text)
    assert len(caregivers()) == 1
    phone.write("PUTUSS, kak")
    assert caregivers() == []


@pytest.mark.parametrize(
    "text", ["berhenti minum obat", "stop darahnya keluar terus", "stop pengingat obat dulu", "stop?"]
)
def test_a_sentence_that_begins_with_stop_changes_no_preference(phone: Phone, siti: Client, text: str) -> None:
    phone.write(text)
    assert wishes(siti) == (True, True)


def test_a_sentence_about_a_wrong_number_of_the_list_flags_no_phone_number(phone: Phone) -> None:
    said = phone.write("salah nomor 1, harusnya nomor 2")
    assert said.text != texts.WRONG_NUMBER
    assert not numbers.is_wrong(phone.number)


# --- texts ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", [name for name in vars(texts) if name.isupper() and isinstance(getattr(texts, name), str)]
)
def test_every_text_is_plain_indonesian(name: str) -> None:
    text = getattr(texts, name)
    assert_readable(text)
    assert len(text) <= 300
