"""Drains send due deliveries.

Each channel of a queue has its own threads (a lane), so that a hanging provider delays no other channel.
"""

from __future__ import annotations

import logging
import random
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from threading import Condition, Thread
from time import monotonic

from flask import Flask, current_app
from prometheus_client import Counter, Histogram
from prometheus_client.samples import Sample
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from app.core.database.prepared import PreparedStatement
from app.core.jobs.queue import URGENT
from app.core.lib import local_time
from app.notifications.delivery import claims, delivery_preferences, rendering, settlements, unsaved_outcomes
from app.notifications.delivery.claims import Claimed, ClaimLostError, PostponedError, UndeliverableError, UnwantedError
from app.notifications.delivery.message_format import NeedsTemplateError
from app.notifications.delivery.outcomes import Outcome, OutcomeKind
from app.notifications.delivery.rendering import Renderer
from app.notifications.delivery.sealing import Words
from app.notifications.models import Channel
from app.providers.http import ProviderError
from app.providers.messenger import SenderError, TooManyPeopleError

logger = logging.getLogger(__name__)

#: Function that sends a delivery and returns the provider's reference. It calls `claims.begin` before anything leaves
#: the service, and raises `ProviderError` or an error of `claims`.
Transport = Callable[[Claimed], str | None]


@dataclass(frozen=True)
class Routing:
    """The functions by which deliveries leave the service. `app.wiring` sets them."""

    #: Function that sends a delivery, by channel.
    transports: Mapping[Channel, Transport]
    #: Renderer, by kind. It reads the current words of deliveries.
    render: Mapping[str, Renderer]
    #: Check before a delivery is sent, by kind. It raises an error of a transport if the delivery must not leave now.
    checks: Mapping[str, Callable[[Claimed], None]]
    #: Function that joins the words of several deliveries into one message, by kind. See `groups`.
    merge: Mapping[str, Callable[[Sequence[Words]], Words]]
    #: Function that returns whether the next row of a channel may be claimed, by queue.
    throttles: Mapping[str, Callable[[Channel], bool]]
    #: Function called with the occurrences whose messages were taken back, in the transaction that records it.
    on_recalled: Callable[[Sequence[int]], object]


def init_app(app: Flask, routing: Routing) -> None:
    app.extensions["routing"] = routing


def routing() -> Routing:
    routing: Routing = current_app.extensions["routing"]
    return routing


#: Maximum number of concurrent calls for one channel of a queue. Of the urgent queue's calls, `NEWEST_THREADS` send
#: only newly due rows, so that a new dose does not wait behind a backlog.
THREADS = 16
NEWEST_THREADS = 4
#: Seconds for which suspects are claimed. If one worker does everything, newly due deliveries wait for this time.
SUSPECTS_S = 5.0
#: Seconds to wait after a busy provider gave no `Retry-After`.
BUSY_S = 5.0
#: Seconds that a delivery waits while our sender is down, and while the provider accepts no new recipients.
SENDER_S, PEOPLE_S = 30.0, 300.0
#: Seconds until an idle lane looks for due rows again while another lane is busy.
POLL_S = 0.2
#: Seconds after which a call marks its lane as slow.
SLOW_S = 1.0

OUTCOMES = ("sent", "failed", "retried", "unknown", "needs_template", "taken_back")
#: Web processes never update these two metrics. `app.core.jobs.metrics` exports them, so they have no registry.
ATTEMPTS = Counter(
    "deliveries",
    "Outcomes of attempts: sent (of these taken back), failed for good (of these for want of a template), retried, "
    "unknown",
    ["outcome", "channel"],
    registry=None,
)
LAG_BUCKETS_S = (1, 2, 5, 10, 30, 60, 300, 3600)
LAG = Histogram(
    "delivery_lag_seconds",
    "From when a delivery was due to when it was sent; broadcasts, which may wait, are left out",
    ["channel"],
    buckets=LAG_BUCKETS_S,
    registry=None,
)
#: Samples of 0 before the first delivery. With them, the first failure is an increase.
ZEROS = (
    *(
        Sample("deliveries_total", {"outcome": outcome, "channel": str(channel)}, 0.0)
        for outcome in OUTCOMES
        for channel in Channel
    ),
    *(
        Sample("delivery_lag_seconds_bucket", {"channel": str(channel), "le": bound}, 0.0)
        for channel in Channel
        for bound in (*map(str, map(float, LAG_BUCKETS_S)), "+Inf")
    ),
)


class Lane:
    """The threads that send one channel of one queue, until nothing is due. With no threads, the caller sends."""

    def __init__(
        self,
        queue: str,
        channel: Channel,
        context: Callable[[], AbstractContextManager[object]],
        changed: Condition,
        which: PreparedStatement = claims.OLDEST,
        threads: int = THREADS,
    ) -> None:
        self.queue, self.channel = queue, channel
        self._which, self._limit = which, threads
        self._busy, self._rests_until = 0, 0.0
        self.open = True
        self._context = context
        self._changed = changed  # also guards what the threads share: `_calls`, `_threads`, `_busy`
        self._threads = 0
        self._calls: dict[object, float] = {}  # by claim token, because a row can have two claims after its lease ends

    @property
    def running(self) -> bool:
        return self._threads > 0

    @property
    def resting(self) -> bool:
        """Return whether nothing is claimed for a while, because the provider was busy several times in a row."""
        return self.open and monotonic() < self._rests_until

    @property
    def slow(self) -> bool:
        """Return whether one of its calls has been running for more than `SLOW_S` seconds."""
        return any(monotonic() - started > SLOW_S for started in list(self._calls.values()))

    def start(self) -> None:
        """Start one more thread, up to the lane's limit. Each thread that claims a row starts another."""
        with self._changed:
            if not self.open or self.resting or self._threads >= self._limit:
                return
            self._threads += 1
        Thread(target=self._run, name=f"{self.queue}-{self.channel}", daemon=True).start()

    def _run(self) -> None:
        try:
            with self._context():
                while self.send_next():
                    pass
        except (DBAPIError, PoolTimeoutError) as error:
            # Nothing is lost: the claims expire, and the scheduler enqueues a drain when the database is back.
            logger.error("database away during a drain: %s", type(error).__name__)  # noqa: TRY400
            self.open = False
        except Exception:
            logger.exception("a drain's thread broke")
            self.open = False
        finally:
            with self._changed:
                self._threads -= 1
                self._changed.notify_all()

    def send_next(self) -> bool:
        """Send a row that may be sent now. Return whether there was one."""
        if not self.open or self.resting or (delivery := self.next()) is None:
            return False
        self.start()
        self.handle(delivery)
        return True

    def next(self) -> Claimed | None:
        """Claim a row that may be sent now, or return None."""
        throttle = routing().throttles.get(self.queue)
        may_claim = throttle is None or throttle(self.channel)
        return claims.claim(self.queue, self.channel, self._which) if may_claim else None

    def handle(self, delivery: Claimed) -> None:
        if unsaved := self._unsaved_outcome(delivery):
            outcome = unsaved
        elif delivery.unconfirmed_calls >= settlements.MAX_UNCONFIRMED_CALLS:
            outcome = self._failed(delivery, "its workers died in the middle of the call")
        else:
            with self._changed:
                self._calls[delivery.claim_token] = monotonic()
            try:
                outcome = self._send(delivery)
            except ClaimLostError:
                return
            finally:
                with self._changed:
                    self._calls.pop(delivery.claim_token)
        unsaved_outcomes.persist(delivery, outcome)

    def _unsaved_outcome(self, delivery: Claimed) -> Outcome | None:
        """Return the final outcome that the previous worker could not save before its lease ended, if any."""
        unsaved = unsaved_outcomes.get(delivery.id) if delivery.worker_crashes else None
        if unsaved is None or unsaved.outcome.result not in (OutcomeKind.SENT, OutcomeKind.FAILED):
            return None
        delivery.call_started = unsaved.claim.call_started
        return unsaved.outcome

    def _send(self, delivery: Claimed) -> Outcome:
        try:
            delivery_preferences.check(delivery, self.channel)
            rendering.render(delivery, routing().render)
            if check := routing().checks.get(delivery.kind):
                check(delivery)
            ref = routing().transports[self.channel](delivery)
        except PostponedError as error:
            return Outcome(OutcomeKind.POSTPONED, until=error.until)
        except UnwantedError as error:
            return Outcome(OutcomeKind.CANCELLED, str(error))
        except UndeliverableError as error:
            if isinstance(error, NeedsTemplateError):
                self._count("needs_template")
            return self._failed(delivery, str(error))
        except ProviderError as error:
            if error.outcome_unknown:
                return self._unknown(delivery, str(error))
            if error.permanent:
                return self._failed(delivery, str(error))
            if error.kind == "busy":
                return self._postponed(error.retry_after or BUSY_S)
            if isinstance(error, (SenderError, TooManyPeopleError)):
                return self._held_back(error)
            return self._retry(delivery, str(error), error.retry_after)
        except ClaimLostError:
            raise
        except (DBAPIError, PoolTimeoutError) as error:
            if not delivery.call_started:
                raise
            return self._unknown(delivery, type(error).__name__)
        except Exception as error:
            # A bug may affect only this row, so it is logged and retried like a provider's failure.
            logger.exception("delivery %s broke its transport", delivery.id)
            name = type(error).__name__
            return self._unknown(delivery, name) if delivery.call_started else self._retry(delivery, name, None)
        for each in delivery.together:
            self._count("sent")
            if self.queue == URGENT:  # broadcasts are delayed on purpose
                LAG.labels(self.channel).observe(max(0.0, (local_time.now() - each.due_at).total_seconds()))
        return Outcome(OutcomeKind.SENT, ref=ref)

    def _failed(self, delivery: Claimed, reason: str) -> Outcome:
        self._count("failed", len(delivery.ids))
        logger.warning("delivery failed", extra={"delivery": delivery.id, "kind": delivery.kind, "reason": reason})
        return Outcome(OutcomeKind.FAILED, reason)

    def _retry(self, delivery: Claimed, reason: str, retry_after_s: float | None) -> Outcome:
        self._count("retried", len(delivery.ids))
        return Outcome(OutcomeKind.RETRY, reason, delay_s=settlements.retry_delay_s(delivery.attempts, retry_after_s))

    def _postponed(self, delay_s: float) -> Outcome:
        """Postpone a delivery whose provider is busy. After several in a row, pause the lane to spare the database."""
        with self._changed:
            self._busy += 1
            if self._busy >= self._limit:
                self._busy, self._rests_until = 0, monotonic() + delay_s
        jitter = random.uniform(1.0, 1.5)  # noqa: S311  # jitter, not a secret
        return Outcome(OutcomeKind.POSTPONED, delay_s=delay_s * jitter)

    def _held_back(self, error: SenderError | TooManyPeopleError) -> Outcome:
        """Postpone a delivery whose sender or new recipient the provider refuses. This does not count as an attempt."""
        delay_s = SENDER_S if isinstance(error, SenderError) else PEOPLE_S
        jitter = random.uniform(1.0, 1.5)  # noqa: S311  # jitter, not a secret
        return Outcome(OutcomeKind.POSTPONED, str(error), delay_s=delay_s * jitter)

    def _unknown(self, delivery: Claimed, reason: str) -> Outcome:
        self._count("unknown", len(delivery.ids))
        return Outcome(OutcomeKind.UNKNOWN, reason)

    def _count(self, outcome: str, times: int = 1) -> None:
        ATTEMPTS.labels(outcome, self.channel).inc(times)
        with self._changed:
            self._busy = 0


def run(lanes_of: list[tuple[str, Channel]], limit_s: float) -> None:
    """Send due deliveries on these (queue, channel) lanes until none is left or `limit_s` is over. Skip suspects.

    Idle lanes look for due rows while another lane is busy. After `limit_s` seconds, slow lanes stop claiming. The
    others continue until the slow lanes have ended, so that no channel waits for another channel's last calls. If the
    job's timeout ends this function, calls in progress have an unknown outcome, and each is repeated once.
    """
    changed, stop = Condition(), monotonic() + limit_s
    lanes = [lane for queue, channel in lanes_of for lane in _lanes(queue, channel, changed)]
    try:
        for lane in lanes:
            lane.start()
        while True:
            with changed:
                if changed.wait_for(lambda: not any(lane.running or lane.resting for lane in lanes), POLL_S):
                    return
            if monotonic() >= stop:
                for lane in [lane for lane in lanes if lane.slow] or lanes:
                    lane.open = False
            for lane in lanes:
                if not lane.running:
                    lane.start()
    finally:
        for lane in lanes:
            lane.open = False


def _lanes(queue: str, channel: Channel, changed: Condition) -> list[Lane]:
    context = current_app.app_context
    if queue != URGENT:
        return [Lane(queue, channel, context, changed)]
    return [
        Lane(queue, channel, context, changed, claims.OLDEST, THREADS - NEWEST_THREADS),
        Lane(queue, channel, context, changed, claims.NEWEST, NEWEST_THREADS),
    ]


def run_suspects(lanes_of: list[tuple[str, Channel]], limit_s: float) -> None:
    """Send rows over which a worker died, one at a time and with no other call in the process. The channels take turns.

    A delivery that kills its worker also ends that worker's other calls. In parallel, these calls would be ended
    together again, and would fail for good after two unknown outcomes.
    """
    stop, changed = monotonic() + min(limit_s, SUSPECTS_S), Condition()
    lanes = [Lane(*each, current_app.app_context, changed, claims.SUSPECTS, threads=0) for each in lanes_of]
    while lanes:
        lanes = [lane for lane in lanes if monotonic() < stop and lane.send_next()]
