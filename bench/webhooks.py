"""Benchmark of receipts from messaging providers: the webhook requests, and the job that handles the receipts."""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Iterator

from app.core.database.session import unit_of_work
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
    settings = {"FONNTE_WEBHOOK_TOKEN": TOKEN}
    yield from environment.compare({"one INSERT of a webhook": (0.35, TARGET)}, settings)
    with environment.running(settings={**settings, "WEB_CONCURRENCY": "1"}) as url:
        rate = wrk.rates(url, {"receipt": TARGET})["receipt"]
    yield at_least("receipts accepted by one web process", rate, 400, "a second")
    environment.fill(DELIVERIES)
    started, count = time.perf_counter(), 0
    with environment.app.app_context():
        while handled := _take():
            count += handled
    yield at_least("receipts handled by one job", count / (time.perf_counter() - started), 400, "a second")


def _take() -> int:
    with unit_of_work():
        return receipts.take(lambda *_: None, missed.follow_receipts)
