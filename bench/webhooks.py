"""Benchmark of receipts from messaging providers: the webhook requests, and the job that handles the receipts."""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Iterator

import sqlalchemy as sa

from app.core.database.session import db, unit_of_work
from app.notifications.delivery import receipts
from app.pengingat.ledger import missed
from bench import wrk
from bench.environment import BenchEnvironment, Result, at_least
from bench.wrk import Target

TOKEN = secrets.token_urlsafe(32)
RECEIPT = {"device": "628110000000", "id": "NUMBER", "stateid": "s-NUMBER", "status": "sent", "state": "delivered"}
TARGET = Target([f"/api/webhooks/fonnte/{TOKEN}/status"], method="POST", bodies=[json.dumps(RECEIPT)])

#: One receipt in ten belongs to a delivery.
DELIVERIES = """
INSERT INTO deliveries (dedupe_key, queue, channel, kind, payload, due_at, expires_at, next_try_at, state, provider_ref)
SELECT 'bench:' || id, 'urgent', 'messaging', 'reminder', '{}', now(), now(), now(), 'sent', ref
FROM inbound WHERE id % 10 = 0
"""


def run(environment: BenchEnvironment) -> Iterator[Result]:
    rates = environment.compare({"receipt": TARGET}, FONNTE_WEBHOOK_TOKEN=TOKEN)
    yield at_least("one INSERT of a webhook", rates["receipt"] / rates["select_floor"], 0.35)
    with environment.serving(FONNTE_WEBHOOK_TOKEN=TOKEN, WEB_CONCURRENCY="1") as url:
        rate = wrk.rates(url, {"receipt": TARGET}, rounds=1 if environment.short else 5)["receipt"]
    yield at_least("receipts accepted by one web process", rate, 400, "a second")
    with environment.app.app_context():
        yield at_least("receipts handled by one job", _handle_all(), 400, "a second")


def _handle_all() -> float:
    with unit_of_work():
        db.session.execute(sa.text(DELIVERIES))
    started, count = time.perf_counter(), 0
    while handled := _take():
        count += handled
    return count / (time.perf_counter() - started)


def _take() -> int:
    with unit_of_work():
        return receipts.take(lambda *_: None, missed.follow_receipts)
