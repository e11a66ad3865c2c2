"""Metrics of the deliveries, for `/metrics`, `/readyz` and `flask worker-health`."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from datetime import datetime

import sqlalchemy as sa
from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from redis.exceptions import RedisError

from app.core.database.session import autocommit
from app.core.jobs.metrics import workers_by_queue
from app.core.jobs.queue import QUEUES, URGENT, connection
from app.core.jobs.schedule import HEARTBEAT
from app.core.lib.clock import now
from app.notifications.delivery.drain import LAG_BUCKETS_S, Tally
from app.notifications.models import OPEN, Channel, deliveries
from app.notifications.senders import report

logger = logging.getLogger(__name__)

#: The hash in Redis in which drains add up their counts: they run in short-lived processes that nobody can scrape.
COUNTS = "figures:deliveries"
#: What a drain counts by channel.
OUTCOMES = ("sent", "failed", "retried", "unknown", "needs_template", "taken_back")
#: Seconds that a due urgent delivery may wait before `flask worker-health` complains.
LATE_S = 60

_rows = deliveries.c
_due = (
    sa.select(_rows.queue, _rows.channel, sa.func.count(), sa.func.min(_rows.next_try_at))
    .where(_rows.state.in_(OPEN), _rows.next_try_at <= sa.func.statement_timestamp(), _rows.queue.in_(QUEUES))
    .group_by(_rows.queue, _rows.channel)
)
#: Broadcasts may wait for their hours and their rate; what is urgent may not.
_oldest_urgent = sa.select(sa.func.min(_rows.next_try_at)).where(
    _rows.state.in_(OPEN), _rows.next_try_at <= sa.func.statement_timestamp(), _rows.queue == URGENT
)


def count(tally: Tally) -> None:
    """Add a drain's counts to those of all drains; while Redis is away they are dropped."""
    if not tally:
        return
    try:
        pipeline = connection().pipeline(transaction=False)
        for key, n in tally.items():
            pipeline.hincrby(COUNTS, ":".join(key), n)
        pipeline.execute()
    except RedisError:
        logger.warning("counts of a drain were dropped: no Redis")


def oldest_due_s() -> float:
    """Seconds that the longest waiting urgent delivery has been due; 0 when none is."""
    with autocommit() as database:
        oldest: datetime | None = database.execute(_oldest_urgent).scalar()
    return 0.0 if oldest is None else max(0.0, (now() - oldest).total_seconds())


def check_deliveries() -> str:
    """For information: taking web processes out of service would not make a worker send."""
    return f"oldest due for {oldest_due_s():.0f} s"


def worker_problems() -> list[str]:
    """What keeps deliveries from going out, one sentence each; empty: all is well. For `flask worker-health`."""
    problems: list[str] = []
    workers = workers_by_queue()
    problems += [f"no worker serves the queue {name}" for name in QUEUES if not workers[name]]
    jump_s = clock_jump_s()
    if jump_s is None:
        problems.append("no clock is going")
    elif jump_s:
        problems.append(f"the database's clock has jumped by {jump_s:.0f} s; that is believed after 10 minutes")
    if problem := report.problem():
        problems.append(problem)
    if (age := oldest_due_s()) > LATE_S:
        problems.append(f"the oldest due delivery has been waiting for {age:.0f} s")
    return problems


def clock_jump_s() -> float | None:
    """Return by how many seconds the database's clock has jumped, or None if no scheduler ticks."""
    jump_s = connection().get(HEARTBEAT)
    return None if jump_s is None else float(jump_s)


def waiting() -> dict[tuple[str, str], tuple[int, float]]:
    """By queue and channel how many deliveries are due, and for how many seconds the oldest has been."""
    lanes: dict[tuple[str, str], tuple[int, float]] = dict.fromkeys(
        ((queue, channel) for queue in QUEUES for channel in Channel), (0, 0.0)
    )
    with autocommit() as database:
        for queue, channel, n, oldest in database.execute(_due):
            lanes[queue, channel] = n, max(0.0, (now() - oldest).total_seconds())
    return lanes


def outcomes() -> dict[str, int]:
    """How many attempts of all channels ended how, since the counting began."""
    attempts, _ = _counted()
    return {what: sum(n for (each, _), n in attempts.items() if each == what) for what in OUTCOMES}


def collect_waiting() -> Iterator[Metric]:
    """What is due; each lane has its sample, also when nothing is, so that an alert can tell zero from silence."""
    due = GaugeMetricFamily("deliveries_due", "Deliveries that are due now", labels=["queue", "channel"])
    age = GaugeMetricFamily(
        "deliveries_oldest_due_seconds", "How long the longest waiting has been due", labels=["queue", "channel"]
    )
    for lane, (n, age_s) in waiting().items():
        due.add_metric(lane, n)
        age.add_metric(lane, age_s)
    yield due
    yield age


def collect_counts() -> Iterator[Metric]:
    """What drains counted, and whether the clocks agree."""
    attempts, lags = _counted()
    family = CounterMetricFamily(
        "deliveries",
        "Outcomes of attempts: sent (of these taken back), failed for good (of these for want of a template), retried, "
        "unknown",
        labels=["outcome", "channel"],
    )
    for labels, n in attempts.items():
        family.add_metric(labels, n)
    yield family
    yield _lag_histogram(lags)
    yield GaugeMetricFamily(
        "database_clock_step_seconds",
        "Seconds by which the database's clock has jumped; 0 once the jump is believed, after 10 minutes",
        value=clock_jump_s() or 0.0,
    )


def _counted() -> tuple[dict[tuple[str, str], int], dict[str, dict[str, int]]]:
    """What drains counted: attempts by outcome and channel, and by channel how late what is urgent left."""
    attempts = {(what, str(channel)): 0 for what in OUTCOMES for channel in Channel}
    lags: dict[str, dict[str, int]] = {channel: {} for channel in Channel}
    for key, count in connection().hgetall(COUNTS).items():
        what, channel, *bucket = _text(key).split(":")
        if bucket:
            lags[channel][bucket[0]] = int(count)
        else:
            attempts[what, channel] = int(count)
    return attempts, lags


def _lag_histogram(lags: dict[str, dict[str, int]]) -> Metric:
    family = HistogramMetricFamily(
        "delivery_lag_seconds",
        "From when a delivery was due to when it was sent; broadcasts, which may wait, are left out",
        labels=["channel"],
    )
    for channel, counts in lags.items():
        total, buckets = 0, []
        for bound in (*map(str, LAG_BUCKETS_S), "+Inf"):
            total += counts.get(bound, 0)
            buckets.append((bound, total))
        family.add_metric([channel], buckets, sum_value=None)
    return family


def _text(key: bytes | str) -> str:
    return key.decode() if isinstance(key, bytes) else key
