"""What looks for due deliveries reads none that is settled, however many there are."""

from __future__ import annotations

import re
import uuid

import pytest
import sqlalchemy as sa
from flask import Flask

from app.core.database.session import db
from app.core.jobs.queue import URGENT
from app.notifications import jobs
from app.notifications.delivery import claims, clock_steps
from app.notifications.models import Channel, deliveries
from tests.plans import plan_of

SETTLED = """
INSERT INTO deliveries (dedupe_key, queue, channel, kind, payload, due_at, expires_at, next_try_at, state)
SELECT 'lama:' || n, 'urgent', 'messaging', 'reminder', '{}', now() - n * interval '1 minute', now(),
    now() - n * interval '1 minute', CASE WHEN n % 100 = 0 THEN 'missed' ELSE 'sent' END
FROM generate_series(1, 20000) n
"""


#: The indexes that hold no settled row. Which of them is the cheaper depends on what other tests left in them.
OF_OPEN_ROWS = {
    str(index.name)
    for index in deliveries.indexes
    if "'pending', 'claimed'" in str(index.dialect_options["postgresql"]["where"])
}


def indexes_in(plan: str) -> set[str]:
    """The indexes by which a plan looks for deliveries (a row found so is then read by its key): at least one."""
    names = set(re.findall(r"using (ix_deliveries\w*)|Bitmap Index Scan on (ix_deliveries\w*)", plan))
    assert names, plan
    return {one or other for one, other in names}


@pytest.fixture(autouse=True)
def settled(app: Flask) -> None:
    db.session.execute(sa.text(SETTLED))
    db.session.execute(sa.text("ANALYZE deliveries"))


@pytest.mark.parametrize("name", ["_claim", "_claim_pending", "_claim_fresh", "_claim_abandoned", "_claim_alone"])
def test_a_claim_reads_the_open_ones_alone(name: str) -> None:
    values = {
        "of_queue": URGENT,
        "of_channel": Channel.MESSAGING,
        "token": str(uuid.uuid4()),
        **clock_steps.trusted(),
    }
    text = getattr(claims, name)._text
    plan = "\n".join(db.session.connection().exec_driver_sql(f"EXPLAIN {text}", values).scalars())
    assert indexes_in(plan) <= OF_OPEN_ROWS, plan
    assert "Seq Scan on deliveries" not in plan, plan


@pytest.mark.parametrize("statement", [jobs._anything_due, jobs._due], ids=["idle", "due"])
def test_a_tick_reads_the_open_ones_alone(statement: sa.Select[bool]) -> None:
    plan = plan_of(statement)
    assert indexes_in(plan) <= OF_OPEN_ROWS, plan
    assert "Seq Scan on deliveries" not in plan, plan
