"""Benchmark of the dose ledger, the record of due doses and their answers.

It measures answers by every channel, and the adherence over 92 days.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import timedelta

import sqlalchemy as sa

from app.core.database.session import db
from app.core.lib import local_time
from app.pengingat.ledger import history
from app.pengingat.ledger.schemas import MAX_DAYS, Days
from app.pengingat.models import Pengingat
from bench.environment import BenchEnvironment, Result, at_most, primary_key_selects
from bench.wrk import Target

PEOPLE = 64
REMINDERS_EACH = 10
#: Number of doses for each channel. The benchmark answers the doses in turn, and starts again after the last one.
#: The answers are alternately `done` and `skipped`. Because the number of doses is odd, each dose gets the other answer
#: in the next turn.
ASKED = PEOPLE * 2 - 1

#: SQL that inserts one occurrence (due time) a day for each reminder, for the last 92 days and for tomorrow.
FILL = f"""
INSERT INTO reminders (user_id, tipe, judul, waktu, timezone, details, active_from, planned_until)
SELECT u.id, 'makan', 'Makan ' || n, now() - interval '5 minutes', 'Asia/Jakarta', '{{}}',
    now() - interval '92 days', now() + interval '60 hours'
FROM users u, generate_series(1, {REMINDERS_EACH}) n WHERE u.username LIKE 'bench.%';
INSERT INTO occurrences (reminder_id, user_id, tipe, judul, slot, due_at, day, state, answered_at, answered_via)
SELECT r.id, r.user_id, r.tipe, r.judul, 'makan', due_at, (due_at AT TIME ZONE 'Asia/Jakarta')::date,
    CASE WHEN d <= 0 THEN 'pending' WHEN (r.id + d) % 4 = 0 THEN 'missed' ELSE 'done' END,
    CASE WHEN d > 0 AND (r.id + d) % 4 > 0 THEN due_at END, CASE WHEN d > 0 AND (r.id + d) % 4 > 0 THEN 'app' END
FROM generate_series({MAX_DAYS - 1}, -1, -1) d, reminders r, LATERAL (
    SELECT date_trunc('minute', now() - interval '5 minutes') - d * interval '1 day' AS due_at) moment
"""
#: SQL that inserts a sent message or push of a channel for each of these reminders. `link_hash` is that of the token
#: `bench-<id of the reminder>`.
FILL_SENT = """
INSERT INTO deliveries (dedupe_key, queue, channel, kind, user_id, said, link_hash, payload, due_at, expires_at,
    next_try_at, state, settled_at)
SELECT 'bench:' || id, 'urgent', %s, 'reminder', user_id, ARRAY[id],
    encode(sha256(convert_to('bench-' || reminder_id, 'UTF8')), 'hex'), '{"bell": "first"}', due_at,
    now() + interval '1 hour', due_at, 'sent', now()
FROM occurrences WHERE reminder_id = ANY(%s) AND due_at = %s
"""


def run(environment: BenchEnvironment) -> Iterator[Result]:
    tokens = environment.people(PEOPLE)
    environment.fill(FILL)
    yield from _answers(environment, tokens)
    with environment.app.app_context():
        today = local_time.today()
        person = db.session.scalars(sa.select(sa.func.min(Pengingat.user_id))).one()
        days = Days(today - timedelta(days=MAX_DAYS - 1), today)
        cost = primary_key_selects(lambda: history.adherence(person, days), calls=20)
    yield at_most(f"kepatuhan over {MAX_DAYS} days, {REMINDERS_EACH} reminders", cost, 8, "primary-key selects")


def _answers(environment: BenchEnvironment, tokens: list[str]) -> Iterator[Result]:
    """Measure answers by each channel. Every channel has its own reminders, and every answer changes an occurrence."""
    with environment.database() as cursor:
        cursor.execute("SELECT user_id, array_agg(id ORDER BY id) FROM reminders GROUP BY user_id ORDER BY user_id")
        people, owned = zip(*cursor.fetchall(), strict=True)
        cursor.execute("SELECT max(due_at) FROM occurrences WHERE due_at <= now()")
        (due_at,) = cursor.fetchone() or ()
        by_way = [[row[2 * n + k] for k in range(2) for row in owned][:ASKED] for n in range(4)]
        for channel, ids in (("messaging", by_way[2]), ("push", by_way[3]), ("messaging", [row[8] for row in owned])):
            cursor.execute(FILL_SENT, [channel, ids, due_at])

    def target(paths: list[str], *, signed_in: bool = False, **named: str) -> Target:
        return Target(
            paths,
            method="POST",
            tokens=[tokens[n % PEOPLE] for n in range(ASKED)] if signed_in else (),
            bodies=[json.dumps({"status": status, **named}) for status in ("done", "skipped")],
        )

    app, named = ([f"/api/pengingat/{n}/konfirmasi" for n in by_way[way]] for way in (0, 1))
    targets = {
        "konfirmasi": target(app, signed_in=True),
        "konfirmasi of a named dose": target(named, signed_in=True, due_at=due_at.isoformat()),
        "konfirmasi by link": target([f"/api/konfirmasi/bench-{n}" for n in by_way[2]]),
        "konfirmasi by push": target([f"/api/konfirmasi/bench-{n}" for n in by_way[3]]),
        "konfirmasi by message": target([f"/floor/reply/{person}" for person in people[1:]]),
    }
    yield from environment.compare({name: (0.12, one) for name, one in targets.items()})
