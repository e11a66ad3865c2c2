"""Number of SQL statements for sending a message with several reminders."""

from __future__ import annotations

import re
import uuid

import pytest
import sqlalchemy as sa
from flask import Flask

from app.core.database.session import db
from app.core.lib import local_time
from app.notifications.delivery import claims, drain, groups, messaging, settlements
from dev.simulators import Server
from tests.helpers.plans import plan_of
from tests.helpers.statements import Statements
from tests.notifications.deliveries import ready
from tests.pengingat.groups.medicines import ALL, medicine, sent


def test_a_grouped_message_needs_as_many_statements_as_a_single_one(
    app: Flask, grouping: Server, siti_id: int, statements: Statements
) -> None:
    def send() -> int:
        before = len(statements.seen)
        claimed = ready()
        drain.routing().checks[claimed.kind](claimed)
        settlements.record_sent(claimed, messaging.send(claimed))
        return len(statements.seen) - before

    for name in ("Aspirin", "Simvastatin"):
        medicine(siti_id, name)
        alone = send()  # only the second result is used: a day's first message runs one more statement
    for name in ALL:
        medicine(siti_id, name)
    assert send() == alone == 6
    assert len(sent(grouping)) == 3


SETTLED = """
INSERT INTO deliveries (dedupe_key, queue, channel, kind, user_id, occurrence_id, payload, due_at, expires_at,
    next_try_at, state)
SELECT 'lama:' || n, 'urgent', 'messaging', 'reminder', (SELECT min(id) FROM users), n,
    '{"text": "Halo", "parts": {"name": "", "sentence": "waktunya", "token": "t"}}', due_at, due_at + interval '1 hour',
    due_at, CASE WHEN due_at > now() THEN 'pending' ELSE 'sent' END
FROM generate_series(1, 40000) n, LATERAL (SELECT now() + (n - 20000) * interval '1 minute' AS due_at) moment
"""


@pytest.mark.parametrize("which", [claims.OLDEST, claims.NEWEST, claims.SUSPECTS], ids=["oldest", "newest", "suspects"])
def test_a_grouped_claim_uses_an_index_by_person_and_due_time(app: Flask, siti_id: int, which: sa.UpdateBase) -> None:
    db.session.execute(sa.text(SETTLED))
    db.session.execute(sa.text("ANALYZE deliveries"))
    values = {"of_queue": "urgent", "of_channel": "messaging", "token": str(uuid.uuid4())}
    of_first = groups.values_of(
        {
            **dict.fromkeys((*groups.SHARED, "worker_crashes"), 0),
            "user_id": siti_id,
            "queue": "urgent",
            "kind": "reminder",
            "due_at": local_time.now(),
            "claim_token": None,
        }
    )
    for statement, alias in ((which, "earlier"), (claims._siblings, "sibling")):
        plan = plan_of(statement, **values, **of_first, is_grouped=True, lease_end=local_time.now())
        assert "Seq Scan on deliveries" not in plan, plan
        assert f"using ix_deliveries_beside on deliveries {alias}" in plan, plan
        beside = re.findall(r"ix_deliveries_beside.*\n *Index Cond: (.*)", plan)
        assert all("user_id" in condition and condition.count("due_at") >= 2 for condition in beside), plan
