"""Tests of the demo data: every part adds rows, and a second run changes nothing."""

from datetime import timedelta

import pytest
import sqlalchemy as sa

from app.core.database.session import db, unit_of_work
from app.core.lib.local_time import today
from app.identity.models import User
from dev import demo
from dev.counters import wrong_counters
from dev.demo.people import LOGINS

pytestmark = pytest.mark.slow


def counts():
    return {
        table.name: db.session.scalar(sa.select(sa.func.count()).select_from(table))
        for table in db.metadata.sorted_tables
    }


def test_filling_demo_data_twice_adds_nothing(app):
    with unit_of_work():
        assert "siti" in demo.fill()
    filled = counts()
    for table in ("users", "caregiver_links", "kategori", "posts", "marks", "cases"):
        assert filled[table], table
    with unit_of_work():
        demo.fill()
    assert counts() == filled


def test_filling_demo_data_has_no_statement_or_idle_timeout(app, monkeypatch):
    """With 50,000 people, a single statement or a pause between two statements can take minutes."""
    names = ("idle_in_transaction_session_timeout", "statement_timeout")
    limits = []

    def part():
        limits.extend(db.session.scalar(sa.text(f"SHOW {name}")) for name in names)

    monkeypatch.setattr(demo, "PARTS", (part,))
    with unit_of_work():
        demo.fill()
    assert limits == ["0", "0"]


def test_demo_data_fills_ninety_days_of_the_overview(client):
    with unit_of_work():
        demo.fill()
    admin = client.as_(db.session.scalars(sa.select(User).where(User.username == "admin")).one())
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
    assert sum(row["replies"] for row in overview["forum_categories"]) > 100
    audit = admin.get("/admins/audit").json
    assert len(audit) > 40
    assert {row["actor"] for row in audit} == {"superadmin", "admin", "dewi.lestari", "rina.puspita"}
    assert len(admin.get("/admins/caregiver-patient/all").json) > 15


def test_the_demo_patient_siti_has_ninety_days_of_reminder_history(client):
    with unit_of_work():
        demo.fill()
    siti = client.as_(db.session.scalars(sa.select(User).where(User.username == "siti")).one())
    start = today() - timedelta(days=85)
    sums = siti.get(f"/pengingat/kepatuhan?start={start}").json
    assert 60 < sums["percent"] < 95
    assert sum(day["due"] > 0 for day in sums["days"]) > 80
    assert {row["tipe"] for row in sums["reminders"]} >= {"obat", "makan", "terapi"}
    assert all(sums[name] for name in ("done", "skipped", "missed", "undelivered"))


def test_demo_threads_are_newest_first_and_have_correct_counters(client):
    with unit_of_work():
        demo.fill()
    threads = client.get("/forum/threads").json
    assert [thread["created_at"] for thread in threads] == sorted(
        (thread["created_at"] for thread in threads), reverse=True
    )
    assert wrong_counters() == {"forum_categories": 0, "posts": 0}


def test_moderators_have_cases_of_each_kind(client):
    with unit_of_work():
        demo.fill()
    admin = client.as_(db.session.scalars(sa.select(User).where(User.username == "admin")).one())
    cases = admin.get("/admins/moderasi").json
    assert {case["state"] for case in cases} == {"open", "kept", "hidden"}
    assert [case["urgent"] for case in cases] == [True, False, False, False]
    assert any(case["appeal"] for case in cases)
    assert any(len(case["reports"]) == 3 for case in cases)


def test_only_the_demo_logins_accept_broadcasts(app):
    with unit_of_work():
        demo.fill()
    listening = sa.select(User.username).where(User.accepts_broadcasts)
    assert set(db.session.scalars(listening)) == set(LOGINS)
