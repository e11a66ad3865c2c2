"""Query plans: background jobs and routes use an index and do not scan whole tables."""

from datetime import timedelta

import pytest
import sqlalchemy as sa

from app.core.database.session import db
from app.core.errors import NotFound
from app.core.lib import local_time
from app.core.web.pagination import Page
from app.pengingat import jobs, service
from app.pengingat.ledger import history, missed
from app.pengingat.ledger.schemas import Days, HistoryQuery
from app.pengingat.models import LATE
from app.pengingat.one_tap import links
from app.pengingat.schemas import Query
from tests.helpers.plans import plan_of, plans_of_all

pytestmark = pytest.mark.slow

#: Statements that create 400 people with 50 planned reminders each, and one answered occurrence for each reminder.
FILL = (
    "INSERT INTO users (username, password_hash, nama_ktp) SELECT 'massa' || n, '', 'x' FROM generate_series(1, 400) n",
    """
    INSERT INTO reminders (user_id, tipe, judul, waktu, timezone, details, active_from, planned_until)
    SELECT id, 'makan', 'Makan', now(), 'Asia/Jakarta', '{}', now(), now() + interval '60 hours'
    FROM users, generate_series(1, 50)
    """,
    """
    INSERT INTO occurrences (reminder_id, user_id, tipe, judul, slot, due_at, day, state)
    SELECT id, user_id, tipe, judul, 'makan', due_at, due_at, 'done'
    FROM reminders, LATERAL (SELECT now() - id % 60 * interval '1 day' AS due_at) moment
    """,
    """
    INSERT INTO caregiver_links (caregiver_id, patient_id, scopes)
    SELECT min(id), max(id), '{alerts}' FROM users WHERE username LIKE 'massa%'
    """,
    "ANALYZE users, reminders, occurrences",
)


@pytest.fixture(autouse=True)
def everybody(app):
    for statement in FILL:
        db.session.execute(sa.text(statement))


def test_the_scheduler_uses_the_indexes_of_open_occurrences_and_of_planned_until():
    now = local_time.now()
    for statement, values in (
        (sa.select(missed._overdue), {"due_before": now - LATE, "now": now}),
        (missed._longest_overdue, {"due_before": now}),
    ):
        plan = plan_of(statement, **values)
        assert "ix_occurrences_open" in plan
        assert "Seq Scan on occurrences" not in plan, plan
    with plans_of_all() as plans:
        assert jobs.top_up_page() == 0
    assert any("ix_reminders_planned_until" in plan for plan in plans)
    assert not [plan for plan in plans if "Seq Scan on reminders" in plan]


def test_a_link_and_the_lists_of_a_person_use_indexes():
    with plans_of_all() as plans, pytest.raises(NotFound):
        links.get_targets("x" * 22)
    (plan,) = [plan for plan in plans if "occurrences" in plan]
    assert "Seq Scan on occurrences" not in plan, plan
    person = db.session.scalar(sa.text("SELECT min(id) FROM users WHERE username LIKE 'massa%'"))
    today = local_time.today()
    days = Days(today - timedelta(days=80), today)
    with plans_of_all() as plans:
        assert service.list_all(person, Query(Page(1, 20), tipe=None)).total == 50
        assert history.list_all(person, HistoryQuery(Page(1, 20), days, tipe=None, state=None)).total == 50
    assert len(plans) == 5  # two pages, two totals, and the person's time zones
    assert not [plan for plan in plans if "Seq Scan" in plan]
