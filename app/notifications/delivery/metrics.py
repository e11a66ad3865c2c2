"""Metrics of the deliveries, for `/metrics`, `/readyz` and `flask worker-health`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import datetime, timedelta

import sqlalchemy as sa
from prometheus_client.metrics_core import GaugeMetricFamily, Metric

from app.core.database.session import db
from app.core.jobs.metrics import is_scheduler_running, workers_by_queue
from app.core.jobs.queue import QUEUES, URGENT
from app.core.lib.local_time import now
from app.notifications.models import OPEN, Channel, DeliveryState, deliveries
from app.notifications.senders import report

#: Seconds after which a due urgent delivery is a problem in `flask worker-health`.
LATE_S = 60

#: States of deliveries that have ended.
SETTLED = tuple(state for state in DeliveryState if state not in OPEN)

_rows = deliveries.c
_due = (
    sa.select(_rows.queue, _rows.channel, sa.func.count(), sa.func.min(_rows.next_try_at))
    .where(_rows.state.in_(OPEN), _rows.next_try_at <= sa.func.statement_timestamp(), _rows.queue.in_(QUEUES))
    .group_by(_rows.queue, _rows.channel)
)
_settled = (
    sa.select(_rows.state, _rows.channel, sa.func.count())
    .where(_rows.queue.in_(QUEUES), _rows.settled_at > sa.func.statement_timestamp() - timedelta(hours=1))
    .where(_rows.state.in_(SETTLED), _rows.channel.in_(Channel))
    .group_by(_rows.state, _rows.channel)
)
#: Query of the oldest urgent delivery. Broadcasts are not included, because they are delayed on purpose.
_oldest_urgent = sa.select(sa.func.min(_rows.next_try_at)).where(
    _rows.state.in_(OPEN), _rows.next_try_at <= sa.func.statement_timestamp(), _rows.queue == URGENT
)


def oldest_due_s() -> float:
    """Return the seconds since the oldest unsent urgent delivery became due, or 0 if none is due."""
    oldest: datetime | None = db.session.execute(_oldest_urgent).scalar()
    return 0.0 if oldest is None else max(0.0, (now() - oldest).total_seconds())


def check_deliveries() -> str:
    """Return the age of the oldest due urgent delivery as text for `/readyz`.

    An old delivery does not make `/readyz` fail. A failure would only stop requests to the web processes, and the
    workers would not send faster.
    """
    return f"oldest due for {oldest_due_s():.0f} s"


def worker_problems() -> list[str]:
    """Return one sentence for each problem that prevents deliveries, for `flask worker-health`."""
    problems = missing_processes()
    if problem := report.problem():
        problems.append(problem)
    if (age := oldest_due_s()) > LATE_S:
        problems.append(f"the oldest due delivery has been waiting for {age:.0f} s")
    return problems


def missing_processes() -> list[str]:
    """Return one sentence for each queue without a worker, and one if no scheduler is running."""
    workers = workers_by_queue()
    problems = [f"no worker serves the queue {name}" for name in QUEUES if not workers[name]]
    if not is_scheduler_running():
        problems.append("no clock is going")
    return problems


def waiting() -> dict[tuple[str, str], tuple[int, float]]:
    """Return the number of due deliveries and the age of the oldest in seconds, by queue and channel."""
    lanes: dict[tuple[str, str], tuple[int, float]] = dict.fromkeys(
        ((queue, channel) for queue in QUEUES for channel in Channel), (0, 0.0)
    )
    for queue, channel, n, oldest in db.session.execute(_due):
        lanes[queue, channel] = n, max(0.0, (now() - oldest).total_seconds())
    return lanes


def settled() -> dict[tuple[str, str], int]:
    """Return the number of deliveries that ended in the last hour, by state and channel."""
    counts = dict.fromkeys(((state, channel) for state in SETTLED for channel in Channel), 0)
    return counts | {(state, channel): n for state, channel, n in db.session.execute(_settled)}


def outcomes() -> dict[str, int]:
    """Return the number of deliveries that ended in the last hour, by state."""
    totals = Counter[str]()
    for (state, _), n in settled().items():
        totals[state] += n
    return dict(totals)


def collect() -> Iterator[Metric]:
    """Yield the number and the age of due deliveries, and the number of those that ended in the last hour.

    If nothing is due, the value is 0. A missing sample means that the metric could not be read.
    """
    due = GaugeMetricFamily("deliveries_due", "Deliveries that are due now", labels=["queue", "channel"])
    age = GaugeMetricFamily(
        "deliveries_oldest_due_seconds", "How long the longest waiting has been due", labels=["queue", "channel"]
    )
    for lane, (n, age_s) in waiting().items():
        due.add_metric(lane, n)
        age.add_metric(lane, age_s)
    yield due
    yield age
    ended = GaugeMetricFamily(
        "deliveries_last_hour", "Deliveries that ended in the last hour", labels=["state", "channel"]
    )
    for which, n in settled().items():
        ended.add_metric(which, n)
    yield ended
