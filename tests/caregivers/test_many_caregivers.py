"""Tests of patients with many new caregivers.

A patient gets at most three single notices per day. A removed caregiver needs an invitation to link again.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

import pytest
import sqlalchemy as sa
from flask import Flask

from app.caregivers import service
from app.core.database.session import db, unit_of_work
from app.identity.care import CaregiverCut, CaregiverLink
from app.identity.models import RoleName
from app.notifications.models import Channel, Delivery, DeliveryState
from tests.caregivers.invitations import invite
from tests.helpers.client import Client, assert_error
from tests.helpers.factories import make_user
from tests.helpers.language import assert_readable
from tests.helpers.overlap import run_together
from tests.inbox.phones import Phone
from tests.notifications.deliveries import words_of

DAY = timedelta(days=1)


def link(client: Client, patient: Client, name: str) -> Client:
    caregiver = client.as_(make_user(RoleName.PENDAMPING, nama_ktp=name))
    assert caregiver.post("/caregiver/patients", {"patient_id": patient.id}).status_code == 201
    return caregiver


def messages(patient: Client, channel: Channel = Channel.MESSAGING) -> Sequence[Delivery]:
    db.session.expire_all()
    rows = sa.select(Delivery).filter_by(user_id=patient.id, kind="security_notice", channel=channel)
    return db.session.scalars(rows.order_by(Delivery.id)).all()


def let_pass(span: timedelta) -> None:
    ago = {name: getattr(Delivery, name) - span for name in ("created_at", "due_at", "next_try_at", "expires_at")}
    db.session.execute(sa.update(Delivery).values(**ago).execution_options(synchronize_session=False))


def send() -> None:
    due = sa.update(Delivery).where(
        Delivery.state == DeliveryState.PENDING, Delivery.due_at <= sa.func.clock_timestamp()
    )
    db.session.execute(due.values(state=DeliveryState.SENT).execution_options(synchronize_session=False))


def test_eight_new_caregivers_cause_three_single_notices_and_one_summary(client: Client, siti: Client) -> None:
    for n in range(8):
        link(client, siti, f"Pesan {n}")
    *singles, gathered = messages(siti)
    assert len(singles) == 3
    assert gathered.due_at == singles[0].created_at + DAY
    text = words_of(gathered)["text"]
    assert text == (
        "Ini juga pendamping baru Anda: Pesan 3, Pesan 4, Pesan 5, dan 2 orang lain. "
        "Tidak setuju? Hapus pendamping itu di aplikasi."
    )
    assert_readable(text)
    assert len(messages(siti, Channel.PUSH_FAN_OUT)) == 4
    assert words_of(messages(siti, Channel.PUSH_FAN_OUT)[3])["body"] == text


def test_the_summary_omits_caregivers_whose_link_was_deleted(client: Client, siti: Client) -> None:
    caregivers = [link(client, siti, name) for name in ("A", "B", "C", "Dewi", "judi.com")]
    siti.delete(f"/caregiver/patients/{caregivers[3].id}")
    assert words_of(messages(siti)[3])["text"].startswith("Ini juga pendamping baru Anda: judi. com. ")
    siti.delete(f"/caregiver/patients/{caregivers[4].id}")
    assert words_of(messages(siti)[3]) == {}


def test_after_a_day_a_new_caregiver_causes_a_single_notice_again(client: Client, siti: Client) -> None:
    for name in "ABCD":
        link(client, siti, name)
    let_pass(DAY + timedelta(minutes=1))
    send()
    link(client, siti, "E")
    last = messages(siti)[-1]
    assert (last.about_type, len(messages(siti))) == ("caregiver_link", 5)


def test_a_second_summary_is_due_at_least_a_day_after_the_first(client: Client, siti: Client) -> None:
    for name in "ABCD":
        link(client, siti, name)
    let_pass(DAY - timedelta(minutes=1))
    link(client, siti, "E")
    let_pass(timedelta(minutes=2))
    send()
    for name in "FGHI":
        link(client, siti, name)
    *others, last = messages(siti)
    assert [row.about_type for row in others].count("caregiver_links") == 1
    assert last.about_type == "caregiver_links"
    assert last.due_at >= others[3].due_at + DAY


def test_the_limit_of_single_notices_is_counted_per_patient(client: Client, siti: Client) -> None:
    for name in "ABCD":
        link(client, siti, name)
    ani = client.as_(make_user())
    link(client, ani, "E")
    assert [row.about_type for row in messages(ani)] == ["caregiver_link"]


def test_concurrent_links_cause_three_single_notices_and_one_summary(committed: Flask) -> None:
    with unit_of_work():
        patient_id = make_user().id
        caregivers = [make_user(RoleName.PENDAMPING).id for _ in range(6)]

    def come(caregiver_id: int) -> None:
        with unit_of_work():
            service.create(caregiver_id, patient_id)

    run_together(committed, *(lambda id_=id_: come(id_) for id_ in caregivers))
    rows = db.session.scalars(sa.select(Delivery.about_type).filter_by(channel=Channel.MESSAGING)).all()
    assert sorted(rows) == ["caregiver_link"] * 3 + ["caregiver_links"]
    links = db.session.scalar(sa.select(Delivery.payload).filter_by(about_type="caregiver_links").limit(1))
    assert len(links["links"]) == 3


# --- deleted links --------------------------------------------------------------------------------------------------


def cut_in_the_application(siti: Client, caregiver: Client, _: Client) -> None:
    assert siti.delete(f"/caregiver/patients/{caregiver.id}").status_code == 200


def cut_by_a_word(siti: Client, _caregiver: Client, _admin: Client) -> None:
    assert str(Phone(str(siti.user.phone)).write("PUTUS").text).startswith("Hubungan dengan pendamping ")


def cut_by_an_administrator(siti: Client, caregiver: Client, admin: Client) -> None:
    ends = {"caregiver_id": caregiver.id, "patient_id": siti.id}
    assert admin.delete("/admins/caregiver-patient", ends).status_code in (200, 204)


@pytest.mark.parametrize("cut", [cut_in_the_application, cut_by_a_word, cut_by_an_administrator])
def test_a_removed_caregiver_needs_an_invitation_to_link_again(
    client: Client, siti: Client, admin: Client, cut: object
) -> None:
    caregiver = link(client, siti, "Budi")
    assert callable(cut)
    cut(siti, caregiver, admin)
    again = caregiver.post("/caregiver/patients", {"patient_id": siti.id})
    assert_error(again, 403, "invitation_needed")
    assert caregiver.post("/caregiver/invitations", {"code": invite(siti)["code"]}).status_code == 201
    caregiver.delete(f"/caregiver/patients/{siti.id}")
    assert caregiver.post("/caregiver/patients", {"patient_id": siti.id}).status_code == 201


def test_a_caregiver_who_deleted_the_link_may_link_again(client: Client, siti: Client) -> None:
    caregiver = link(client, siti, "Budi")
    caregiver.delete(f"/caregiver/patients/{siti.id}")
    assert caregiver.post("/caregiver/patients", {"patient_id": siti.id}).status_code == 201


def test_an_administrator_may_link_a_removed_caregiver_again(client: Client, siti: Client, admin: Client) -> None:
    caregiver = link(client, siti, "Budi")
    siti.delete(f"/caregiver/patients/{caregiver.id}")
    ends = {"caregiver_id": caregiver.id, "patient_id": siti.id}
    assert admin.post("/admins/caregiver-patient", ends).status_code == 201


def test_a_caregiver_who_links_again_during_the_removal_stays_removed(committed: Flask) -> None:
    for _ in range(5):
        with unit_of_work():
            patient_id, caregiver_id = make_user().id, make_user(RoleName.PENDAMPING).id
            service.create(caregiver_id, patient_id)

        def cut(caregiver_id: int = caregiver_id, patient_id: int = patient_id) -> None:
            with unit_of_work():
                service.delete_own(patient_id, caregiver_id)

        def come(caregiver_id: int = caregiver_id, patient_id: int = patient_id) -> None:
            try:
                with unit_of_work():
                    service.create(caregiver_id, patient_id, uninvited=True)
            except service.Forbidden:
                pass

        run_together(committed, cut, come)
        assert db.session.scalar(sa.select(sa.func.count()).select_from(CaregiverLink)) == 0
        assert db.session.scalar(sa.select(CaregiverCut.caregiver_id).filter_by(patient_id=patient_id)) == caregiver_id
        db.session.commit()


def test_the_reply_putus_after_a_summary_deletes_no_link(client: Client, siti: Client) -> None:
    for name in "ABCD":
        link(client, siti, name)
    let_pass(DAY + timedelta(minutes=1))
    send()
    assert str(Phone(str(siti.user.phone)).write("PUTUS").text).startswith("Tidak ada pendamping baru")
    assert db.session.scalar(sa.select(sa.func.count()).select_from(CaregiverLink)) == 4
