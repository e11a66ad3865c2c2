"""Tests of consents and of the effects of a withdrawal."""

from datetime import timedelta

import sqlalchemy as sa

from app.core.database.session import db, unit_of_work
from app.core.lib.local_time import now
from app.identity import consents
from app.identity.care import CaregiverLink
from app.identity.consents import Consent, ConsentSource, Purpose
from app.identity.models import RoleName
from app.notifications.models import Delivery
from app.pengingat import jobs as pengingat_jobs
from app.pengingat.models import Occurrence, Pengingat
from app.privacy import jobs
from tests.accounts.registration import SITI
from tests.helpers.client import assert_error
from tests.helpers.factories import PASSWORD, make_user
from tests.notifications.deliveries import words_of
from tests.personal_data.leaving import OBAT
from tests.privacy.answers import PURPOSES, granted, said

ROUTE = "/profile/persetujuan"
STOCKED = {**OBAT, "details": {**OBAT["details"], "persediaan": {"sisa": 3}}}


def states(model, *which):
    return set(db.session.scalars(sa.select(model.state).where(*which)))


def withdrawn_since(hours):
    db.session.execute(sa.update(Consent).values(created_at=now() - timedelta(hours=hours)))


# --- values ---------------------------------------------------------------------------------------------------------


def test_the_broadcast_consent_has_one_value_in_all_routes(siti):
    siti.put(ROUTE, {"broadcasts": False})
    assert siti.get("/profile/notifikasi").json["broadcasts"] is False
    assert siti.get("/profile").json["preferences"] == {"broadcast": False}
    siti.put("/profile/notifikasi", {"broadcasts": True})
    assert granted(siti)["broadcasts"] is True
    siti.put("/profile", data={"preferences": '{"broadcast": false}'})
    assert granted(siti)["broadcasts"] is False


def test_only_the_consents_in_the_body_of_the_caller_are_recorded(client, siti):
    assert siti.put(ROUTE, {"health_data": False}).ok() == siti.get(ROUTE).json
    rows = said(siti)
    assert {name: (row["granted"], row["version"], row["way"]) for name, row in rows.items()} == {
        "health_data": (False, consents.VERSION, "app"),
        "broadcasts": (True, None, None),
    }
    assert rows["health_data"]["at"] is not None
    assert granted(client.as_(make_user()))["health_data"] is True


# --- registration ---------------------------------------------------------------------------------------------------


def register(client, **more):
    return client.with_token(client.post("/register", {**SITI, **more}).ok(201)["access_token"])


def test_registering_without_consents_leaves_them_granted(client):
    new = register(client)
    nothing = {"granted": True, "version": None, "at": None, "way": None}
    assert new.get(ROUTE).json == [{"purpose": purpose, **nothing} for purpose in PURPOSES]
    assert new.post("/pengingat/obat", OBAT).status_code == 201


def test_a_registration_records_the_consents_in_its_body(client):
    new = register(client, consents={"health_data": False, "broadcasts": True, "tidak_dikenal": 1})
    assert {name: (row["granted"], row["way"]) for name, row in said(new).items()} == {
        "health_data": (False, "registration"),
        "broadcasts": (True, "registration"),
    }
    assert_error(new.post("/pengingat/obat", OBAT), 409, "consent_withdrawn")


# --- health data ----------------------------------------------------------------------------------------------------


def unsent_words():
    """Return what the unsent deliveries would say now. A delivery that says nothing is left out."""
    rows = db.session.scalars(sa.select(Delivery).filter_by(state="pending"))
    return [words for row in rows.all() if (words := words_of(row))]


def test_withdrawing_health_data_consent_stops_reminders_immediately(siti):
    reminder = siti.post("/pengingat/obat", STOCKED).json["id"]
    assert "kira-kira habis" in str(unsent_words())
    siti.put(ROUTE, {"health_data": False})
    for _ in range(2):
        assert (unsent_words(), states(Occurrence)) == ([], {"void"})
        pengingat_jobs.top_up()
    for response in (
        siti.post("/pengingat/obat", OBAT),
        siti.put(f"/pengingat/{reminder}", {"judul": "Lain"}),
        siti.post(f"/pengingat/{reminder}/persediaan", {"tambah": 5}),
    ):
        assert_error(response, 409, "consent_withdrawn")
    assert len(siti.get("/pengingat").json) == 1


def test_consent_given_again_before_the_deletion_resumes_reminders(siti):
    reminder = siti.post("/pengingat/obat", OBAT).json["id"]
    before = siti.get(f"/pengingat/{reminder}").json
    siti.put(ROUTE, {"health_data": False})
    withdrawn_since(69)
    assert jobs.delete_withdrawn() == 0
    siti.put(ROUTE, {"health_data": True})
    assert (states(Delivery), states(Occurrence)) == ({"pending"}, {"pending"})
    after = siti.get(f"/pengingat/{reminder}").json
    assert {**after, "updated_at": None} == {**before, "updated_at": None}
    withdrawn_since(100)
    assert jobs.delete_withdrawn() == 0


def test_cancelling_an_erasure_does_not_resume_reminders_without_consent(client, siti):
    is_reminder = Delivery.kind == "reminder"
    siti.post("/pengingat/obat", OBAT)
    siti.put(ROUTE, {"health_data": False})
    assert siti.delete("/profile", {"password": PASSWORD, "forum": "anonymise"}).status_code == 202
    token = client.post("/login", {"username": siti.user.username, "password": PASSWORD}).json["access_token"]
    pengingat_jobs.top_up()
    assert (states(Delivery, is_reminder), states(Occurrence)) == ({"cancelled"}, {"void"})
    client.with_token(token).put(ROUTE, {"health_data": True})
    assert (states(Delivery, is_reminder), states(Occurrence)) == ({"pending"}, {"pending"})


def test_only_the_reminders_of_the_person_are_deleted_within_72_hours_of_a_withdrawal(client, siti):
    other = client.as_(make_user())
    for client_ in (siti, other):
        client_.post("/pengingat/obat", OBAT)
    siti.put(ROUTE, {"health_data": False})
    withdrawn_since(71)
    siti.put(ROUTE, {"health_data": False})  # does not restart the deadline
    assert jobs.delete_withdrawn() == 1
    for model in (Pengingat, Occurrence, Delivery):
        assert set(db.session.scalars(sa.select(model.user_id))) == {other.id}
    assert states(Delivery) == {"pending"}
    assert jobs.delete_withdrawn() == 0
    assert granted(siti)["health_data"] is False
    siti.put(ROUTE, {"health_data": True})
    assert siti.get("/pengingat").json == []
    assert siti.post("/pengingat/obat", OBAT).status_code == 201


def test_consent_given_again_during_the_deletion_job_keeps_the_reminders(siti, monkeypatch):
    siti.post("/pengingat/obat", OBAT)
    siti.put(ROUTE, {"health_data": False})
    withdrawn_since(71)
    delete = jobs._delete

    def given_again_meanwhile(user_id):
        with unit_of_work():
            consents.record(user_id, {Purpose.HEALTH_DATA: True}, ConsentSource.APP)
        return delete(user_id)

    monkeypatch.setattr(jobs, "_delete", given_again_meanwhile)
    assert jobs.delete_withdrawn() == 0
    assert len(siti.get("/pengingat").json) == 1


# --- caregivers -----------------------------------------------------------------------------------------------------


def test_withdrawing_health_data_consent_blocks_caregivers_immediately(client, siti):
    budi = client.as_(make_user(RoleName.PENDAMPING))
    scopes = ["alerts", "history", "manage"]
    db.session.add(CaregiverLink(caregiver_id=budi.id, patient_id=siti.id, scopes=scopes))
    reminder = siti.post("/pengingat/obat", OBAT).json["id"]
    whose = f"?patient_id={siti.id}"
    key = {"Idempotency-Key": "a" * 20}
    assert budi.post(f"/pengingat/obat{whose}", OBAT, headers=key).status_code == 201
    reads = [
        f"/pengingat{whose}",
        f"/pengingat/{reminder}{whose}",
        f"/pengingat/riwayat{whose}",
        f"/pengingat/kepatuhan{whose}",
        f"/pengingat/kepatuhan/laporan{whose}",
    ]
    assert {budi.get(path).status_code for path in reads} == {200}
    siti.put(ROUTE, {"health_data": False})
    for path in reads:
        assert_error(budi.get(path), 404)
    assert_error(budi.put(f"/pengingat/{reminder}{whose}", {"judul": "Lain"}), 404)
    assert_error(budi.delete(f"/pengingat/{reminder}{whose}"), 404)
    assert_error(budi.post(f"/pengingat/obat{whose}", OBAT, headers=key), 404)
    assert len(siti.get("/pengingat").json) == 2
    siti.put(ROUTE, {"health_data": True})
    assert {budi.get(path).status_code for path in reads} == {200}
