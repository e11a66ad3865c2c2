"""Alerts to caregivers about missed doses: recipients, texts and times."""

from datetime import time, timedelta
from unittest.mock import Mock

import pytest
import sqlalchemy as sa

from app.core.database.session import db
from app.identity.notification_settings import save
from app.notifications.models import Channel, Delivery
from app.pengingat import jobs
from app.pengingat.caregiving.alert_texts import REQUESTS, News
from app.pengingat.ledger import alerts
from tests.helpers.factories import make_user
from tests.helpers.language import assert_readable
from tests.notifications.deliveries import words_of
from tests.pengingat.alerts import MISSED, at, make, tick, told
from tests.pengingat.answering import create
from tests.pengingat.ledgers import allow, caregiver_of

# --- texts and recipients -------------------------------------------------------------------------------------------


def test_a_caregiver_gets_one_alert_when_a_dose_becomes_missed(siti, moment, obat, caregiver_id):
    make(siti, obat)
    assert tick(moment, "12:59") == []
    assert tick(moment, "13:00") == [MISSED]
    assert told("push_fan_out") == [MISSED]
    assert tick(moment, "13:01") == [MISSED]
    row = db.session.scalars(sa.select(Delivery).filter_by(kind="alert", channel="messaging")).one()
    assert (row.user_id, row.due_at) == (caregiver_id, moment.now - timedelta(minutes=1))


def test_an_alert_names_the_medicine_to_a_caregiver_with_the_history_scope(siti, siti_id, moment, obat, caregiver_id):
    allow(siti_id, caregiver_id, "alerts", "history")
    make(siti, {**obat, "timezone": "Asia/Jayapura"}, "08:00", nama_obat="Obat judi.com")
    make(siti, obat, "09:00")
    tick(moment, "09:00")
    assert told() == ["Siti Aminah belum menandai obat Obat judi. com pukul 17.00 WIT. Boleh tolong ditanyakan?"]
    tick(moment, "10:00")  # the next alert waits until two hours after the first
    allow(siti_id, caregiver_id, "alerts")
    assert tick(moment, "11:00")[1:] == ["Siti Aminah belum menandai obat pukul 16.00 WIB. Boleh tolong ditanyakan?"]


def test_only_caregivers_with_the_alerts_scope_get_an_alert(siti, siti_id, moment, obat, caregiver_id):
    ani = caregiver_of(siti_id, "alerts", "history")
    caregiver_of(siti_id, "history", "manage")
    allow(siti_id, caregiver_of(siti_id))
    caregiver_of(make_user().id)
    make(siti, obat)
    tick(moment, "13:00")
    assert set(db.session.scalars(sa.select(Delivery.user_id).filter_by(kind="alert"))) == {caregiver_id, ani}
    assert (told(caregiver=caregiver_id), len(told(caregiver=ani))) == ([MISSED], 1)


def test_a_dose_done_or_skipped_in_time_causes_no_alert(siti, moment, obat, caregiver_id):
    first, second = make(siti, obat), make(siti, obat)
    moment.move(hours=11, minutes=5)
    first.say("done")
    second.say("skipped")
    assert tick(moment, "13:00") == []


def test_an_alert_about_an_unsent_reminder_says_that_it_could_not_be_sent(siti, moment, obat, caregiver_id):
    make(siti, obat)
    tick(moment, "13:00", sent=False)
    assert told() == ["Pengingat Siti Aminah pukul 19.00 WIB tidak dapat kami kirim. Boleh tolong diingatkan?"]


def test_an_alert_about_a_meal_therapy_or_visit_names_only_its_type(siti, siti_id, moment, caregiver_id):
    allow(siti_id, caregiver_id, "alerts", "history")
    for tipe, details in (
        ("makan", {"sarapan": {"jam": "12:00"}}),
        ("terapi", {"jadwal": [{"hari": "senin", "jam": "12:00"}]}),
        ("kontrol", {"datetime": "2026-03-02T12:00:00Z"}),
    ):
        create(siti, {"tipe": tipe, "judul": "Rahasia", "details": details})
    assert tick(moment, "13:00") == [
        "Siti Aminah belum menandai makan pukul 19.00 WIB.\n"
        "Siti Aminah belum menandai terapi pukul 19.00 WIB.\n"
        "Siti Aminah belum menandai pengingat kontrol pukul 19.00 WIB.\n"
        "Boleh tolong ditanyakan?"
    ]


def test_a_dose_missed_too_long_ago_causes_no_alert(siti, moment, obat, caregiver_id):
    make(siti, obat)
    moment.now = moment.now.replace(hour=12) + alerts.FRESH + timedelta(minutes=1)
    tick(moment)
    assert [text for text in told() if "kemarin" in text] == []


# --- times ----------------------------------------------------------------------------------------------------------


def test_later_alerts_within_two_hours_are_combined_into_one_message(siti, moment, obat, caregiver_id):
    make(siti, obat, "02:00", "03:00", "03:30")
    for jam in ("03:00", "04:00", "04:30"):
        assert tick(moment, jam) == ["Siti Aminah belum menandai obat pukul 09.00 WIB. Boleh tolong ditanyakan?"]
    assert tick(moment, "05:00")[1:] == [
        "Siti Aminah belum menandai obat pukul 10.00 WIB.\n"
        "Siti Aminah belum menandai obat pukul 10.30 WIB.\n"
        "Boleh tolong ditanyakan?"
    ]
    make(siti, obat, "05:10")
    assert tick(moment, "06:10")[2:] == ["Siti Aminah belum menandai obat pukul 12.10 WIB. Boleh tolong ditanyakan?"]


def test_an_alert_at_night_waits_until_morning_unless_it_is_important(siti, moment, obat, caregiver_id):
    make(siti, obat, "13:30")  # missed at 21.30 in Jakarta
    important = make(siti, obat, "14:00", penting=True)
    assert tick(moment, "14:30") == []
    assert tick(moment, "15:00") == ["Siti Aminah belum menandai obat pukul 21.00 WIB. Boleh tolong ditanyakan?"]
    assert len(tick(moment, "22:59")) == 1
    tick(moment, "23:00")
    assert told()[1:] == ["Siti Aminah belum menandai obat kemarin pukul 20.30 WIB. Boleh tolong ditanyakan?"]
    assert important.record["details"]["penting"] is True


def test_night_hours_follow_the_time_zone_of_the_caregiver(siti, siti_id, moment, obat, caregiver_id):
    east = caregiver_of(siti_id, domicile="Papua")
    make(siti, obat, "11:30")  # missed at 19.30 in Jakarta, which is 21.30 in Jayapura
    tick(moment, "12:30")
    assert (len(told(caregiver=caregiver_id)), len(told(caregiver=east))) == (1, 0)
    tick(moment, "21:00")
    assert len(told(caregiver=east)) == 1


def test_an_important_alert_waits_for_the_end_of_the_caregivers_quiet_hours(siti, moment, obat, caregiver_id):
    save(caregiver_id, quiet_start=time(22), quiet_end=time(5))
    make(siti, obat, "14:10", "15:00", penting=True)  # missed at 22.10 and 23.00 in Jakarta
    tick(moment, "15:10")
    tick(moment, "16:00")
    assert tick(moment, "21:59") == []
    assert tick(moment, "22:00") == [
        "Siti Aminah belum menandai obat kemarin pukul 21.10 WIB.\n"
        "Siti Aminah belum menandai obat kemarin pukul 22.00 WIB.\n"
        "Boleh tolong ditanyakan?"
    ]


def test_the_quiet_hours_of_a_caregiver_hold_alerts_besides_the_night(siti, moment, obat, caregiver_id):
    save(caregiver_id, quiet_start=time(8), quiet_end=time(15))  # a caregiver who works at night
    make(siti, obat, "04:00", "08:00", "14:10")  # missed at 12.00, 16.00 and 22.10 in Jakarta
    assert tick(moment, "05:00") == []
    for jam, count in (("08:00", 1), ("09:00", 1), ("10:00", 2)):  # two hours after the first has left
        assert len(tick(moment, jam)) == count
    tick(moment, "15:10")
    tick(moment, "22:59")
    assert len(told()) == 2  # the night ends at 06.00 in Jakarta
    tick(moment, "23:00")
    assert told()[2:] == ["Siti Aminah belum menandai obat kemarin pukul 21.10 WIB. Boleh tolong ditanyakan?"]


# --- limits and texts -----------------------------------------------------------------------------------------------


def test_an_alert_that_cannot_be_sent_ends_after_twelve_hours_or_an_hour_after_quiet_hours(
    siti, siti_id, moment, obat, caregiver_id
):
    resting = caregiver_of(siti_id)
    save(resting, quiet_start=time(10), quiet_end=time(23, 30))
    make(siti, obat, "03:00")
    tick(moment, "04:00")  # 11.00 in Jakarta
    ends = sa.select(Delivery.user_id, Delivery.expires_at).filter_by(kind="alert", channel="messaging")
    assert {id_: f"{at:%d %H:%M}" for id_, at in db.session.execute(ends)} == {
        caregiver_id: "02 16:00",
        resting: "02 17:30",
    }


def test_a_dose_is_not_added_to_an_alert_that_has_expired(siti, moment, obat, caregiver_id):
    make(siti, obat, "03:00", "16:00", penting=True)
    at(moment, "04:00")
    jobs.miss_overdue()  # no worker sends the alert
    tick(moment, "17:00")
    assert told() == ["Siti Aminah belum menandai obat kemarin pukul 23.00 WIB. Boleh tolong ditanyakan?"]


def test_a_dose_is_not_added_to_an_alert_that_a_worker_has_tried_to_send(siti, moment, obat, caregiver_id):
    """The worker has died in the call, so the caregiver may have read the alert already."""
    make(siti, obat, "03:00", "05:00", penting=True)
    for jam in ("04:00", "06:00"):
        at(moment, jam)
        jobs.miss_overdue()
        db.session.execute(sa.update(Delivery).where(Delivery.kind == "alert").values(attempts=1))
    named = sa.select(Delivery.payload["occurrence_ids"]).filter_by(kind="alert", channel="messaging")
    assert [len(ids) for ids in db.session.scalars(named)] == [1, 1]


def test_the_statements_of_a_sweep_do_not_grow_with_the_missed_doses(
    siti, siti_id, moment, obat, caregiver_id, statements
):
    for _ in range(6):
        make(siti, obat)
    at(moment, "13:00")
    with statements.at_most(7):  # two mark, two read, one locks, two add
        jobs.miss_overdue()


def test_each_alert_text_is_readable():
    for news in News:
        said = news.format(nama="Siti Aminah", apa="obat Metformin", kapan="Senin, 2 Maret 2026 pukul 07.00 WIB")
        assert_readable(f"{said} {REQUESTS.get(news, '')}")


def test_an_alert_about_many_doses_lists_ten_and_counts_the_others(siti, moment, obat, caregiver_id):
    for _ in range(13):
        make(siti, obat)
    tick(moment, "13:00")
    [text] = told()
    assert text.count("belum menandai") == 10
    assert text.splitlines()[-2:] == ["Masih ada 3 pengingat lain.", "Boleh tolong ditanyakan?"]
    assert_readable(text)


def test_a_push_to_one_browser_has_the_text_of_the_fan_out_push(siti, moment, obat, caregiver_id):
    make(siti, obat)
    at(moment, "13:00")
    jobs.miss_overdue()
    row = db.session.scalars(sa.select(Delivery).filter_by(kind="alert", channel="push_fan_out")).one()
    said = words_of(row)
    assert said["body"]
    row.channel = Channel.PUSH
    assert words_of(row) == said


def test_later_doses_are_added_to_both_alerts_that_wait(siti, moment, obat, caregiver_id):
    for jam in ("02:00", "03:00"):
        make(siti, obat, jam)
    for jam in ("03:00", "04:00"):
        at(moment, jam)
        jobs.miss_overdue()  # no worker sends the alerts
    rows = db.session.scalars(sa.select(Delivery).filter_by(kind="alert")).all()
    assert {row.channel: len(row.payload["occurrence_ids"]) for row in rows} == {"messaging": 2, "push_fan_out": 2}


def test_a_scheduler_that_fails_while_it_adds_alerts_loses_none(siti, moment, obat, caregiver_id, monkeypatch):
    make(siti, obat)
    at(moment, "13:00")
    with monkeypatch.context() as patch:
        patch.setattr(alerts, "_tell", Mock(side_effect=RuntimeError))
        with pytest.raises(RuntimeError):
            jobs.miss_overdue()
    assert tick(moment) == [MISSED]
