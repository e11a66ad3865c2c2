"""Query plans: queries for due deliveries skip settled rows and rows that are not due, however many there are."""

import re
import uuid

import pytest
import sqlalchemy as sa

from app.core.database.session import db
from app.core.jobs.queue import URGENT
from app.notifications import jobs
from app.notifications.delivery import claims
from app.notifications.models import Channel
from tests.helpers.plans import plan_of

#: 10,000 deliveries. The first 1,000 are pending and due tomorrow. The others are settled.
ROWS = """
INSERT INTO deliveries (dedupe_key, queue, channel, kind, payload,
    due_at, expires_at, next_try_at, state)
SELECT 'lama:' || n, 'urgent', 'messaging', 'reminder', '{}', moment, moment + interval '1 hour',
    moment, CASE WHEN n <= 1000 THEN 'pending' WHEN n % 100 = 0 THEN 'missed' ELSE 'sent' END
FROM generate_series(1, 10000) n,
    LATERAL (SELECT now() + CASE WHEN n <= 1000 THEN interval '1 day' ELSE n * interval '-1 minute' END AS moment) each
"""


def indexes_in(plan):
    """Return the names of the indexes on deliveries that a query plan uses. Fail if it uses none."""
    names = set(re.findall(r"using (ix_deliveries\w*)|Bitmap Index Scan on (ix_deliveries\w*)", plan))
    assert names, plan
    return {one or other for one, other in names}


@pytest.fixture(autouse=True)
def rows(app):
    db.session.execute(sa.text(ROWS))
    db.session.execute(sa.text("ANALYZE deliveries"))


def test_claims_and_ticks_use_the_index_of_open_deliveries():
    for statement in (claims._claim, claims._put_back):
        plan = plan_of(statement, of_queue=URGENT, of_channel=Channel.MESSAGING, token=str(uuid.uuid4()))
        assert indexes_in(plan) == {"ix_deliveries_open"}, plan
        assert "Seq Scan on deliveries" not in plan, plan
    plan = plan_of(jobs._due)  # reads at most one row of each channel
    assert indexes_in(plan) == {"ix_deliveries_open"}, plan
    assert plan.count("Limit") == plan.count(" using ix_deliveries_open") == 1, plan
    assert re.search(r"Index Cond: .* AND \(next_try_at <= statement_timestamp\(\)\)", plan), plan


def test_an_idle_tick_needs_at_most_one_statement(statements):
    with statements.at_most(1):
        jobs.enqueue_due()
