"""Tests of the demo data: every page has something to show, and a second run changes nothing."""

from datetime import timedelta

import pytest
import sqlalchemy as sa

from app.core.database.session import db, unit_of_work
from app.core.lib.local_time import today
from app.identity.models import User
from app.notifications.models import Broadcast
from dev import demo
from dev.counters import wrong_counters
from dev.demo.people import LOGINS, PASSWORD, person

pytestmark = pytest.mark.slow

#: Lists with demo rows, by the demo login that reads them.
LISTS = {
    "siti": ("/pengingat/", "/pengingat/riwayat", "/patient/caregivers"),
    "budi": ("/caregiver/patients",),
    "admin": ("/admins/moderasi", "/admins/audit", "/admins/caregiver-patient/all", "/emergency/admin", "/patients"),
    "": (
        "/articles/all",
        "/videoplatform/videos",
        "/komunitas/",
        "/kategori",
        "/dokter/",
        "/dokter/nearby?lat=-6.88&lng=107.55",
        "/faskes/location?lat=-6.88&lng=107.55",
        "/forum/threads",
        "/province-config/default",
    ),
}


@pytest.fixture
def filled(client):
    with unit_of_work():
        assert "siti" in demo.fill()
    return client


def counts():
    return {
        table.name: db.session.scalar(sa.select(sa.func.count()).select_from(table))
        for table in db.metadata.sorted_tables
    }


def test_filling_demo_data_twice_adds_nothing(filled):
    before = counts()
    with unit_of_work():
        demo.fill()
    assert counts() == before


def test_the_demo_logins_find_something_on_every_page(filled):
    for username in LOGINS[1:]:
        assert filled.post("/login", json={"username": username, "password": PASSWORD}).status_code == 200
    assert filled.post("/superadmin/login", json={"username": LOGINS[0], "password": PASSWORD}).status_code == 200
    for username, paths in LISTS.items():
        caller = filled.as_(person(username)) if username else filled
        for path in paths:
            assert caller.get(path).json, path


def test_demo_data_fills_ninety_days_of_the_overview(filled):
    admin = filled.as_(person("admin"))
    start = today() - timedelta(days=90)
    overview = admin.get(f"/admins/overview?start={start}&end={today()}").json
    assert overview["totals"]["users"] == 60
    assert len(overview["by_province"]) > 10
    registered = [day["users"] for day in overview["growth"]]
    assert max(registered) <= 8, "a spike"
    assert sum(count > 0 for count in registered) > 25
    assert sum(day["active_users"] > 3 for day in overview["activity"]) > 60
    assert all(row["count"] for row in overview["reminder_categories"])
    assert 0 < sum(row["done"] for row in overview["reminder_categories"]) < overview["totals"]["reminders"]
    assert len(overview["recent_activity"]) == 20
    assert sum(row["replies"] for row in overview["forum_categories"]) > 60


def test_the_demo_patient_siti_has_ninety_days_of_reminder_history(filled):
    start = today() - timedelta(days=85)
    sums = filled.as_(person("siti")).get(f"/pengingat/kepatuhan?start={start}").json
    assert 60 < sums["percent"] < 95
    assert sum(day["due"] > 0 for day in sums["days"]) > 80
    assert {row["tipe"] for row in sums["reminders"]} >= {"obat", "makan", "terapi"}
    assert all(sums[name] for name in ("done", "skipped", "missed", "undelivered"))


def test_demo_threads_have_correct_counters(filled):
    assert wrong_counters() == {"forum_categories": 0, "posts": 0}


def test_moderators_have_cases_of_each_kind(filled):
    cases = filled.as_(person("admin")).get("/admins/moderasi").json
    assert {case["state"] for case in cases} == {"open", "kept", "hidden"}
    assert [case["urgent"] for case in cases] == [True, False, False, False]
    assert any(case["appeal"] for case in cases)
    assert any(len(case["reports"]) == 3 for case in cases)


def test_demo_data_sends_no_article_or_video_and_only_the_logins_accept_broadcasts(filled):
    assert not db.session.scalars(sa.select(Broadcast).where(Broadcast.kind.in_(("article", "video")))).all()
    listening = sa.select(User.username).where(User.accepts_broadcasts)
    assert set(db.session.scalars(listening)) == set(LOGINS)
