"""A drain sends what is due: each channel of a queue has threads of its own (a lane), so that a hanging provider holds
up no other."""

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
from app.core.lib import clock
from app.notifications.delivery import claims, parking, rendering, settlements, wishes
from app.notifications.delivery.claims import Claimed, ClaimLostError, PostponedError, UndeliverableError, UnwantedError
from app.notifications.delivery.forms import NeedsTemplateError
from app.notifications.delivery.outcomes import Outcome, Result
from app.notifications.delivery.rendering import Renderer
from app.notifications.delivery.sealing import Words
from app.notifications.models import Channel
from app.providers.http import ProviderError
from app.providers.messenger import SenderError, TooManyPeopleError

logger = logging.getLogger(__name__)

#: Sends a delivery and gives the provider's reference, after `claims.begin` where anything leaves the service. Raises
#: `ProviderError` or one of the errors of `claims`.
Transport = Callable[[Claimed], str | None]


@dataclass(frozen=True)
class Routing:
    """How deliveries leave the service; `app.wiring` fills it in."""

    #: How each channel sends.
    transports: Mapping[Channel, Transport]
    #: By kind, what its deliveries say at this moment, see `rendering`.
    render: Mapping[str, Renderer]
    #: By kind, asked before a delivery is sent; raises as a transport does when now is not the time.
    checks: Mapping[str, Callable[[Claimed], None]]
    #: By kind, the words of one message out of those of several, see `groups`.
    joint: Mapping[str, Callable[[Sequence[Words]], Words]]
    #: By queue, asked before the next row of a channel is claimed: whether it may be.
    throttles: Mapping[str, Callable[[Channel], bool]]
    #: Told of the occurrences whose messages the provider gave back unsent, in the unit of work that notes it.
    taken_back: Callable[[Sequence[int]], object]


def init_app(app: Flask, routing: Routing) -> None:
    app.extensions["routing"] = routing


def routing() -> Routing:
    """That of the present application."""
    routing: Routing = current_app.extensions["routing"]
    return routing


#: Calls of a channel of a queue at one time, at most. So many of the urgent queue's serve only what is newly due, so
#: that a new dose does not wait behind a backlog.
THREADS = 16
NEWEST_THREADS = 4
#: Seconds that suspects are claimed for: where one worker does everything, what falls due meanwhile waits so long.
SUSPECTS_S = 5.0
#: Seconds that a busy provider is left alone when it does not say for how long.
BUSY_S = 5.0
#: Seconds that a delivery waits when nobody's message left, and when nobody new was written to.
SENDER_S, PEOPLE_S = 30.0, 300.0
#: Seconds until a lane without work looks for more while another lane is busy.
POLL_S = 0.2
#: Seconds after which a call marks its lane as slow.
SLOW_S = 1.0

OUTCOMES = ("sent", "failed", "retried", "unknown", "needs_template", "taken_back")
#: Web processes never update these two metrics. `app.core.jobs.metrics` shows them, so they have no registry.
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
#: Samples before the first delivery. With them, the first failure is an increase.
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
    """What sends the deliveries of one channel of one queue: threads that end when nothing is due, or its caller."""

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
        self._calls: dict[object, float] = {}  # by claim: a row whose lease ended may be claimed twice

    @property
    def running(self) -> bool:
        return self._threads > 0

    @property
    def resting(self) -> bool:
        """Whether its provider was busy again and again just now: nothing is claimed for a while."""
        return self.open and monotonic() < self._rests_until

    @property
    def slow(self) -> bool:
        """Whether one of its calls has been hanging for over `SLOW_S`."""
        return any(monotonic() - started > SLOW_S for started in list(self._calls.values()))

    def start(self) -> None:
        """Start one more thread, up to the lane's limit. Each that claims a row starts another."""
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
            # Nothing is lost: claims end, and the clock enqueues again when the database is back.
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
        """Claim a row that may be sent now."""
        throttle = routing().throttles.get(self.queue)
        may_claim = throttle is None or throttle(self.channel)
        return claims.claim(self.queue, self.channel, self._which) if may_claim else None

    def handle(self, delivery: Claimed) -> None:
        if parked := self._parked(delivery):
            outcome = parked
        elif delivery.unknowns >= settlements.MOST_UNKNOWN:
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
        parking.persist(delivery, outcome)

    def _parked(self, delivery: Claimed) -> Outcome | None:
        """The final outcome of the worker before, which it could not record before its lease ended."""
        parked = parking.of(delivery.id) if delivery.deaths else None
        if parked is None or parked.outcome.result not in (Result.SENT, Result.FAILED):
            return None
        delivery.is_begun = parked.claim.is_begun
        return parked.outcome

    def _send(self, delivery: Claimed) -> Outcome:
        """Call the transport; returns what came of it."""
        try:
            wishes.check(delivery, self.channel)
            rendering.render(delivery, routing().render)
            if check := routing().checks.get(delivery.kind):
                check(delivery)
            ref = routing().transports[self.channel](delivery)
        except PostponedError as error:
            return Outcome(Result.POSTPONED, until=error.until)
        except UnwantedError as error:
            return Outcome(Result.CANCELLED, str(error))
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
            if not delivery.is_begun:
                raise
            return self._unknown(delivery, type(error).__name__)
        except Exception as error:
            # A bug may concern this row alone: it is logged and retried as a provider's failure would be.
            logger.exception("delivery %s broke its transport", delivery.id)
            name = type(error).__name__
            return self._unknown(delivery, name) if delivery.is_begun else self._retry(delivery, name, None)
        for each in delivery.together:
            self._count("sent")
            if self.queue == URGENT:  # broadcasts wait for their hours, their rate and an operator
                LAG.labels(self.channel).observe(max(0.0, (clock.now() - each.due_at).total_seconds()))
        return Outcome(Result.SENT, ref=ref)

    def _failed(self, delivery: Claimed, reason: str) -> Outcome:
        self._count("failed", len(delivery.ids))
        logger.warning("delivery failed", extra={"delivery": delivery.id, "kind": delivery.kind, "reason": reason})
        return Outcome(Result.FAILED, reason)

    def _retry(self, delivery: Claimed, reason: str, retry_after_s: float | None) -> Outcome:
        self._count("retried", len(delivery.ids))
        return Outcome(Result.RETRY, reason, delay_s=settlements.retry_delay_s(delivery.attempts, retry_after_s))

    def _postponed(self, delay_s: float) -> Outcome:
        """The provider was not asked. Several times in a row: let it rest, and the database too."""
        with self._changed:
            self._busy += 1
            if self._busy >= self._limit:
                self._busy, self._rests_until = 0, monotonic() + delay_s
        jitter = random.uniform(1.0, 1.5)  # noqa: S311  # spreads load, guards nothing
        return Outcome(Result.POSTPONED, delay_s=delay_s * jitter)

    def _held_back(self, error: SenderError | TooManyPeopleError) -> Outcome:
        """It is not this delivery that was refused: it waits, and that was no attempt."""
        delay_s = SENDER_S if isinstance(error, SenderError) else PEOPLE_S
        jitter = random.uniform(1.0, 1.5)  # noqa: S311  # spreads load, guards nothing
        return Outcome(Result.POSTPONED, str(error), delay_s=delay_s * jitter)

    def _unknown(self, delivery: Claimed, reason: str) -> Outcome:
        self._count("unknown", len(delivery.ids))
        return Outcome(Result.UNKNOWN, reason)

    def _count(self, outcome: str, times: int = 1) -> None:
        ATTEMPTS.labels(outcome, self.channel).inc(times)
        with self._changed:
            self._busy = 0


def run(lanes_of: list[tuple[str, Channel]], limit_s: float) -> None:
    """Send what is due on these (queue, channel) lanes until nothing is left or the time is up. Suspects are left.

    While one lane is busy the others keep looking for work. When the time is up, slow lanes stop claiming first and the
    others go on until those have ended, so that no channel waits for another's last calls. If the alarm of the job ends
    this, nothing more is claimed. Calls under way are unknown, and each is repeated once.
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
    """Send what workers died over, one row at a time with nothing beside it. The channels take turns.

    With a delivery that kills its worker all calls beside it are cut. Their leases end together, and side by side they
    would be cut together again: twice unknown, they would fail for good.
    """
    stop, changed = monotonic() + min(limit_s, SUSPECTS_S), Condition()
    lanes = [Lane(*each, current_app.app_context, changed, claims.SUSPECTS, threads=0) for each in lanes_of]
    while lanes:
        lanes = [lane for lane in lanes if monotonic() < stop and lane.send_next()]
