"""What caregivers hear of missed doses: those who may, what they may, and when."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from unittest import mock

import pytest
import sqlalchemy as sa
from flask import Flask

from app.caregivers import service as caregivers
from app.core.database.session import db, unit_of_work
from app.core.lib.clock import JAKARTA
from app.identity import care
from app.identity.models import RoleName, User
from app.notifications.models import Delivery
from app.pengingat import alerts, jobs, links
from app.pengingat.alert_texts import REQUESTS, News
from app.pengingat.alerts import FRESH
from app.pengingat.links import Asked
from app.pengingat.models import AnsweredVia, CaregiverAlert, Occurrence
from tests.client import Client
from tests.factories import PASSWORD, make_user
from tests.language import assert_readable
from tests.pengingat.conftest import Time, settle

MISSED = "Siti belum menandai obat pukul 19.00 WIB. Mohon ditanyakan."


@pytest.fixture
def budi(app: Flask, siti_id: int) -> int:
    """A caregiver in Jakarta's zone, linked, and allowed to hear of what is missed."""
    return caregiver_of(siti_id)


def caregiver_of(patient_id: int, *scopes: str, domicile: str = "Jawa Barat") -> int:
    """Somebody whom the patient allows this, `alerts` if nothing else is said."""
    with unit_of_work():
        caregiver_id = make_user(RoleName.PENDAMPING, domicile=domicile).id
        caregivers.create(caregiver_id, patient_id)
    allow(patient_id, caregiver_id, *(scopes or ("alerts",)))
    return caregiver_id


def allow(siti_id: int, caregiver: int, *scopes: str) -> None:
    with unit_of_work():
        caregivers.update_scopes(siti_id, caregiver, scopes)


def make(siti: Client, obat: dict[str, Any], *times: str, **details: Any) -> str:
    """The path of a medicine at these times of day in UTC."""
    jadwal = [{"jam": jam, "jumlah": 1, "satuan": "tablet"} for jam in times or ("12:00",)]
    sent = {**obat["details"], "frekuensi": len(jadwal), "jadwal": jadwal, **details}
    answer = siti.post("/pengingat/obat", {**obat, "details": sent})
    assert answer.status_code == 201, answer.json
    return f"/pengingat/{answer.json['id']}"


def tick(moment: Time, jam: str | None = None, day: int = 2, *, sent: bool = True) -> None:
    """What the clock does at a time of day in UTC; with `sent` all reminders that are due reached their person."""
    if jam is not None:
        hour, minute = map(int, jam.split(":"))
        moment.now = moment.now.replace(day=day, hour=hour, minute=minute)
    jobs.top_up()
    settle("sent" if sent else "failed", Delivery.kind == "reminder", Delivery.due_at <= moment.now)
    jobs.miss_overdue()
    jobs.tell_caregivers()


def told(channel: str = "messaging", caregiver: int | None = None) -> list[str]:
    """What caregivers are sent, in order."""
    key = "text" if channel == "messaging" else "body"
    rows = sa.select(Delivery.payload[key].astext).filter_by(kind="alert", channel=channel, state="pending")
    if caregiver is not None:
        rows = rows.where(Delivery.user_id == caregiver)
    return list(db.session.scalars(rows.order_by(Delivery.id)))


def done(siti: Client, path: str, due_at: str = "2026-03-02T12:00:00Z") -> None:
    answer = siti.post(f"{path}/konfirmasi", {"status": "done", "due_at": due_at})
    assert answer.status_code == 200, answer.json
    jobs.tell_caregivers()


# --- what is told, and to whom --------------------------------------------------------------------------------------


def test_a_caregiver_hears_of_a_missed_dose_when_it_is_missed(
    siti: Client, moment: Time, obat: dict[str, Any], budi: int
) -> None:
    make(siti, obat)
    tick(moment, "12:59")
    assert told() == []
    tick(moment, "13:00")
    assert told() == [MISSED]
    assert told("push_fan_out") == [MISSED]
    tick(moment, "13:01")
    assert told() == [MISSED]
    row = db.session.scalars(sa.select(Delivery).filter_by(kind="alert", channel="messaging")).one()
    assert (row.user_id, row.due_at, row.occurrence_id) == (budi, moment.now - timedelta(minutes=1), None)


def test_the_medicine_is_named_to_who_may_read_the_history(
    siti: Client, siti_id: int, moment: Time, obat: dict[str, Any], budi: int
) -> None:
    allow(siti_id, budi, "alerts", "history")
    make(siti, obat)
    tick(moment, "13:00")
    assert told() == ["Siti belum menandai obat Metformin pukul 19.00 WIB. Mohon ditanyakan."]


def test_who_may_not_hears_nothing(siti: Client, siti_id: int, moment: Time, obat: dict[str, Any], budi: int) -> None:
    caregiver_of(siti_id, "history", "manage")
    allow(siti_id, caregiver_of(siti_id))
    caregiver_of(make_user().id)
    make(siti, obat)
    tick(moment, "13:00")
    assert set(db.session.scalars(sa.select(Delivery.user_id).filter_by(kind="alert"))) == {budi}


def test_each_caregiver_is_told(siti: Client, siti_id: int, moment: Time, obat: dict[str, Any], budi: int) -> None:
    ani = caregiver_of(siti_id, "alerts", "history")
    make(siti, obat)
    tick(moment, "13:00")
    assert (told(caregiver=budi), len(told(caregiver=ani))) == ([MISSED], 1)


def test_what_is_done_or_skipped_in_time_is_nobodys_business(
    siti: Client, moment: Time, obat: dict[str, Any], budi: int
) -> None:
    first, second = make(siti, obat), make(siti, obat)
    moment.move(hours=11, minutes=5)
    siti.post(f"{first}/konfirmasi", {"status": "done"})
    siti.post(f"{second}/konfirmasi", {"status": "skipped"})
    tick(moment, "13:00")
    assert told() == []


def test_when_nothing_reached_the_patient_it_was_us(
    siti: Client, moment: Time, obat: dict[str, Any], budi: int
) -> None:
    make(siti, obat)
    tick(moment, "13:00", sent=False)
    assert told() == ["Pengingat Siti pukul 19.00 WIB tidak dapat kami kirim. Mohon diingatkan."]


@pytest.mark.parametrize(
    ("tipe", "details", "what"),
    [
        ("makan", {"sarapan": {"jam": "12:00"}}, "makan"),
        ("terapi", {"jadwal": [{"hari": "senin", "jam": "12:00"}]}, "terapi"),
        ("kontrol", {"datetime": "2026-03-02T12:00:00Z"}, "pengingat kontrol"),
    ],
)
def test_other_reminders_are_told_of_by_their_kind(
    siti: Client, siti_id: int, moment: Time, budi: int, tipe: str, details: dict[str, Any], what: str
) -> None:
    allow(siti_id, budi, "alerts", "history")
    record = siti.post("/pengingat", {"tipe": tipe, "judul": "Rahasia", "details": details})
    assert record.status_code == 201
    tick(moment, "13:00")
    assert told() == [f"Siti belum menandai {what} pukul 19.00 WIB. Mohon ditanyakan."]


def test_times_are_those_of_the_reminder(siti: Client, moment: Time, obat: dict[str, Any], budi: int) -> None:
    make(siti, {**obat, "timezone": "Asia/Jayapura"})
    tick(moment, "13:00")
    assert told() == ["Siti belum menandai obat pukul 21.00 WIT. Mohon ditanyakan."]


def test_no_web_address_leaves_to_a_number_that_nobody_has_proven(
    siti: Client, siti_id: int, moment: Time, obat: dict[str, Any], budi: int
) -> None:
    allow(siti_id, budi, "alerts", "history")
    db.session.execute(sa.update(User).filter_by(id=siti_id).values(nama_ktp="Siti.com Aminah"))
    make(siti, obat, nama_obat="Obat judi.com")
    tick(moment, "13:00")
    assert told() == ["Aminah belum menandai obat Obat pukul 19.00 WIB. Mohon ditanyakan."]


def test_what_was_missed_long_ago_is_not_told(siti: Client, moment: Time, obat: dict[str, Any], budi: int) -> None:
    make(siti, obat)
    moment.now = moment.now.replace(hour=12) + FRESH + timedelta(minutes=1)
    tick(moment)
    assert db.session.scalar(sa.select(sa.func.count()).select_from(Occurrence).where(Occurrence.alerts_due)) == 0
    assert [text for text in told() if "kemarin" in text] == []


# --- a late answer --------------------------------------------------------------------------------------------------


LATE = "Siti sudah menandai obat pukul 19.00 WIB, walau terlambat."


def test_a_late_answer_is_told_at_once_to_who_heard_of_the_dose(
    siti: Client, moment: Time, obat: dict[str, Any], budi: int
) -> None:
    path = make(siti, obat)
    tick(moment, "13:00")
    moment.move(minutes=10)
    for _ in range(2):
        done(siti, path)
    assert told() == [MISSED, LATE]


def test_is_done_is_a_late_answer_too(siti: Client, moment: Time, obat: dict[str, Any], budi: int) -> None:
    path = make(siti, obat)
    tick(moment, "13:00")
    siti.put(path, {"is_done": True})
    jobs.tell_caregivers()
    assert told() == [MISSED, LATE]


def test_an_answer_before_the_alert_left_is_what_is_told(
    siti: Client, moment: Time, obat: dict[str, Any], budi: int
) -> None:
    make(siti, obat, "02:00")
    path = make(siti, obat, "02:30")
    tick(moment, "03:00")
    tick(moment, "03:30")
    assert len(told()) == 1  # the second waits for the end of two hours
    done(siti, path, "2026-03-02T02:30:00Z")
    tick(moment, "04:59")
    assert len(told()) == 1
    tick(moment, "05:00")
    assert told()[1:] == ["Siti sudah menandai obat pukul 09.30 WIB, walau terlambat."]


def test_who_says_otherwise_again_is_not_told_of_twice(
    siti: Client, moment: Time, obat: dict[str, Any], budi: int
) -> None:
    path = make(siti, obat)
    tick(moment, "13:00")
    done(siti, path)
    for is_done in (False, True, False):
        siti.put(path, {"is_done": is_done})
        tick(moment, "13:30")
    assert told() == [MISSED, LATE]


def test_who_was_told_too_soon_hears_that_it_was_us(
    siti: Client, moment: Time, obat: dict[str, Any], budi: int
) -> None:
    make(siti, obat)
    tick(moment, "13:00")
    row = db.session.scalars(sa.select(Occurrence).filter_by(state="missed")).one()
    for _ in range(2):  # as when the provider gives back what it had accepted
        settle("missed", Delivery.occurrence_id == row.id)
        with unit_of_work():
            alerts.note_undelivered([row.id])
        jobs.tell_caregivers()
    assert told() == [MISSED, "Pengingat Siti pukul 19.00 WIB tidak dapat kami kirim. Mohon diingatkan."]


def test_what_reached_the_patient_by_another_channel_was_not_us(
    siti: Client, moment: Time, obat: dict[str, Any], budi: int
) -> None:
    make(siti, obat)
    tick(moment, "13:00")
    row = db.session.scalars(sa.select(Occurrence).filter_by(state="missed")).one()
    with unit_of_work():
        alerts.note_undelivered([row.id])
    jobs.tell_caregivers()
    assert told() == [MISSED]


# --- when -----------------------------------------------------------------------------------------------------------


def test_what_follows_within_two_hours_leaves_together_when_they_end(
    siti: Client, moment: Time, obat: dict[str, Any], budi: int
) -> None:
    make(siti, obat, "02:00", "03:00", "03:30")
    for jam in ("03:00", "04:00", "04:30"):
        tick(moment, jam)
    assert told() == ["Siti belum menandai obat pukul 09.00 WIB. Mohon ditanyakan."]
    tick(moment, "05:00")
    assert told()[1:] == [
        "Siti belum menandai obat pukul 10.00 WIB.\nSiti belum menandai obat pukul 10.30 WIB.\nMohon ditanyakan."
    ]
    make(siti, obat, "05:10")
    tick(moment, "06:10")
    assert told()[2:] == ["Siti belum menandai obat pukul 12.10 WIB. Mohon ditanyakan."]


def test_after_six_messages_of_a_day_the_rest_is_one_digest(
    siti: Client, moment: Time, obat: dict[str, Any], budi: int
) -> None:
    moment.now = moment.now.replace(day=1, hour=12)
    for jam in ("23:00", "00:00", "01:30", "02:00", "04:00", "04:30", "07:00", "11:30", "12:10"):
        make(siti, obat, jam)
    counts = {}
    for jam in ("00:00", "01:00", "02:00", "02:30", "03:00", "04:30", "05:00", "05:30", "07:00", "08:00", "12:30"):
        tick(moment, jam, sent=jam != "12:30")
        counts[jam] = len(told())
    assert counts == {  # at once, and together two hours later, three times
        "00:00": 1, "01:00": 1, "02:00": 2, "02:30": 3, "03:00": 3, "04:30": 4, "05:00": 5, "05:30": 5, "07:00": 6,
        "08:00": 6, "12:30": 6,
    }  # fmt: skip
    tick(moment, "12:59")
    assert len(told()) == 6
    tick(moment, "13:00")
    assert told()[6:] == [
        "Siti belum menandai obat pukul 14.00 WIB.\n"
        "Pengingat Siti pukul 18.30 WIB tidak dapat kami kirim.\n"
        "Mohon ditanyakan. Mohon diingatkan."
    ]
    tick(moment, "13:10")
    tick(moment, "22:59")
    assert len(told()) == 7
    tick(moment, "23:00")
    assert told()[7:] == ["Siti belum menandai obat kemarin pukul 19.10 WIB. Mohon ditanyakan."]


def test_at_night_nobody_is_woken_unless_it_is_important(
    siti: Client, moment: Time, obat: dict[str, Any], budi: int
) -> None:
    make(siti, obat, "13:30")  # missed at 21.30 in Jakarta
    important = make(siti, obat, "14:00", penting=True)
    tick(moment, "14:30")
    assert told() == []
    tick(moment, "15:00")
    assert told() == ["Siti belum menandai obat pukul 21.00 WIB. Mohon ditanyakan."]
    tick(moment, "22:59")
    assert len(told()) == 1
    tick(moment, "23:00")
    assert told()[1:] == ["Siti belum menandai obat kemarin pukul 20.30 WIB. Mohon ditanyakan."]
    assert siti.get(important).json["details"]["penting"] is True


def test_the_night_is_that_of_the_caregiver(
    siti: Client, siti_id: int, moment: Time, obat: dict[str, Any], budi: int
) -> None:
    east = caregiver_of(siti_id, domicile="Papua")
    make(siti, obat, "11:30")  # missed at 19.30 in Jakarta, 21.30 in Jayapura
    tick(moment, "12:30")
    assert (len(told(caregiver=budi)), len(told(caregiver=east))) == (1, 0)
    tick(moment, "21:00")
    assert len(told(caregiver=east)) == 1


def test_what_is_important_is_a_yes_or_a_no(siti: Client, obat: dict[str, Any]) -> None:
    sent = {**obat, "details": {**obat["details"], "penting": "sekali"}}
    answer = siti.post("/pengingat/obat", sent)
    assert (answer.status_code, list(answer.json["errors"])) == (400, ["details.penting"])


# --- what the patient takes back ------------------------------------------------------------------------------------


def test_a_scope_cut_before_the_dose_is_missed_tells_nothing(
    siti: Client, siti_id: int, moment: Time, obat: dict[str, Any], budi: int
) -> None:
    make(siti, obat)
    tick(moment, "12:30")
    allow(siti_id, budi)
    tick(moment, "13:00")
    assert told() == []


@pytest.mark.parametrize("cut", ["scope", "link"])
def test_a_cut_takes_along_what_waits(
    siti: Client, siti_id: int, moment: Time, obat: dict[str, Any], budi: int, cut: str
) -> None:
    make(siti, obat, "02:00", "02:30")
    tick(moment, "03:00")
    tick(moment, "03:30")
    assert len(told()) == 1
    if cut == "scope":
        allow(siti_id, budi, "history")
    else:
        with unit_of_work():
            caregivers.delete(budi, siti_id)
    assert told() == []  # also what is in the outbox already
    tick(moment, "05:00")
    assert told() == []
    assert db.session.scalar(sa.select(sa.func.count()).where(CaregiverAlert.told_at.is_(None))) == 0


@pytest.mark.parametrize("how", ["takes back", "leaves"])
def test_nobody_hears_of_who_takes_it_back_or_leaves(
    siti: Client, moment: Time, obat: dict[str, Any], budi: int, how: str
) -> None:
    make(siti, obat, "02:00", "02:30", "03:00")
    tick(moment, "03:00")
    tick(moment, "03:30")
    moment.now = moment.now.replace(hour=4, minute=0)
    jobs.miss_overdue()  # and the clock dies before it makes the alerts
    assert len(told()) == 1
    if how == "takes back":
        assert siti.put("/profile/persetujuan", {"health_data": False}).status_code == 200
    else:
        assert siti.delete("/profile", {"password": PASSWORD, "forum": "delete"}).status_code == 202
    assert told() == []  # also what is in the outbox already
    tick(moment, "04:00")
    tick(moment, "07:00")
    assert told() == []


@pytest.mark.parametrize("how", ["takes back", "leaves"])
def test_nor_of_what_they_answer_late(
    siti: Client, siti_id: int, moment: Time, obat: dict[str, Any], budi: int, how: str
) -> None:
    make(siti, obat, "02:00")
    tick(moment, "03:00")
    if how == "takes back":
        assert siti.put("/profile/persetujuan", {"health_data": False}).status_code == 200
    else:
        assert siti.delete("/profile", {"password": PASSWORD, "forum": "delete"}).status_code == 202
    row = db.session.scalars(sa.select(Occurrence).filter_by(user_id=siti_id, state="missed")).one()
    with unit_of_work():
        links.answer_all(Asked([row], JAKARTA, AnsweredVia.LINK), {"status": "done", "minutes": 0}, moment.now)
    tick(moment, "03:30")
    assert told() == []


def test_a_deleted_reminder_is_not_asked_about(siti: Client, moment: Time, obat: dict[str, Any], budi: int) -> None:
    make(siti, obat, "02:00")
    path = make(siti, obat, "02:30")
    tick(moment, "03:00")
    tick(moment, "03:30")
    siti.delete(path)
    tick(moment, "05:00")
    assert len(told()) == 1


def test_a_deleted_caregiver_takes_their_alerts_along(
    siti: Client, moment: Time, obat: dict[str, Any], budi: int
) -> None:
    make(siti, obat)
    tick(moment, "13:00")
    db.session.execute(sa.delete(User).filter_by(id=budi))
    assert db.session.scalar(sa.select(sa.func.count()).select_from(CaregiverAlert)) == 0


# --- a clock that dies ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("step", ["links_with", "subject"])
def test_a_clock_that_dies_in_the_middle_loses_and_doubles_nothing(
    siti: Client, moment: Time, obat: dict[str, Any], budi: int, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    """While the alerts are made, or when the first message is about to be written."""
    make(siti, obat)
    with monkeypatch.context() as dying:
        dying.setattr(care, step, mock.Mock(side_effect=ProcessLookupError))
        with pytest.raises(ProcessLookupError):
            tick(moment, "13:00")
    db.session.rollback()
    assert told() == []
    for _ in range(2):
        tick(moment)
    assert told() == [MISSED]


# --- words and costs ------------------------------------------------------------------------------------------------


def test_a_clock_with_nothing_to_tell_looks_once(
    siti: Client, moment: Time, obat: dict[str, Any], budi: int, statements: Any
) -> None:
    make(siti, obat)
    tick(moment, "12:30")
    with statements.at_most(1):
        jobs.tell_caregivers()


@pytest.mark.parametrize("news", News)
def test_everything_that_is_said_is_plain_indonesian(news: News) -> None:
    said = news.format(nama="Siti", apa="obat Metformin", kapan="Senin, 2 Maret 2026 pukul 07.00 WIB")
    assert_readable(f"{said} {REQUESTS.get(news, '')}")


def test_a_message_of_many_says_how_many_more_there_are(
    siti: Client, moment: Time, obat: dict[str, Any], budi: int
) -> None:
    for _ in range(13):
        make(siti, obat)
    tick(moment, "13:00")
    [text] = told()
    assert text.count("belum menandai") == 10
    assert text.splitlines()[-2:] == ["Masih ada 3 pengingat lain.", "Mohon ditanyakan."]
    assert_readable(text)
