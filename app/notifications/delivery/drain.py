"""Sending of due deliveries by the jobs `drain` and `drain_suspects`, see `app.notifications.jobs`.

Each channel of a queue has its own threads, called a lane, so that a slow provider delays no other channel. A suspect
is a delivery whose worker died while it sent the delivery.
"""

from __future__ import annotations

import logging
import random
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from threading import Condition, Thread
from time import monotonic

import sqlalchemy as sa
from flask import Flask, current_app
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from app.core.jobs.queue import URGENT
from app.notifications.delivery import claims, delivery_preferences, rendering, settlements, unsaved_outcomes
from app.notifications.delivery.claims import Claimed, ClaimLostError, PostponedError, UndeliverableError, UnwantedError
from app.notifications.delivery.outcomes import Outcome, OutcomeKind
from app.notifications.delivery.rendering import Renderer
from app.notifications.models import Channel
from app.providers.http import ProviderError
from app.providers.messenger import LimitedError, SenderError

logger = logging.getLogger(__name__)

#: Function that sends a delivery and returns the provider's reference. The function must call `claims.begin` before it
#: calls the provider. It raises `ProviderError` or an error of `claims`.
Transport = Callable[[Claimed], str | None]


@dataclass(frozen=True)
class Routing:
    """Functions of other packages that this module calls to send deliveries. `app.wiring` sets them."""

    #: For each channel, the function that sends a delivery.
    transports: Mapping[Channel, Transport]
    #: For each kind of delivery, the function that reads the current texts of deliveries from the database.
    render: Mapping[str, Renderer]
    #: For each kind of delivery, the function that is called before a delivery is sent. The function raises an error of
    #: `claims` if the delivery must not be sent now.
    checks: Mapping[str, Callable[[Claimed], None]]
    #: For each queue, the function that returns whether the next row of a channel may be claimed.
    throttles: Mapping[str, Callable[[Channel], bool]]
    #: Function that is called after messages were taken back from the provider, see `recall`. The function gets the
    #: occurrence ids of these messages. An occurrence is one due time of a reminder.
    on_recalled: Callable[[Sequence[int]], object]


def init_app(app: Flask, routing: Routing) -> None:
    app.extensions["routing"] = routing


def routing() -> Routing:
    routing: Routing = current_app.extensions["routing"]
    return routing


#: Maximum number of threads for one channel of a queue. In the urgent queue, `NEWEST_THREADS` of these threads send
#: only newly due deliveries, so that a new reminder does not wait behind a backlog.
THREADS = 16
NEWEST_THREADS = 4
#: Seconds for which one job claims suspects (deliveries whose worker died). If there is only one worker, new deliveries
#: wait for this time.
SUSPECTS_S = 5.0
#: Seconds to wait after a provider was busy and its response had no `Retry-After`.
BUSY_S = 5.0
#: Seconds for which a delivery is postponed. `SENDER_S` applies if our number cannot send messages. `LIMITED_S` applies
#: if the provider refuses some messages, such as those to new recipients or with a paused template.
SENDER_S, LIMITED_S = 30.0, 300.0
#: Seconds until a lane without work queries due deliveries again while another lane is still sending.
POLL_S = 0.2
#: A lane is slow while one of its calls has been running for more than this number of seconds.
SLOW_S = 1.0


class Lane:
    """Threads that send the due deliveries of one channel of one queue. With `threads=0`, the caller's thread sends."""

    def __init__(
        self,
        queue: str,
        channel: Channel,
        context: Callable[[], AbstractContextManager[object]],
        changed: Condition,
        which: sa.UpdateBase = claims.OLDEST,
        threads: int = THREADS,
    ) -> None:
        self.queue, self.channel = queue, channel
        self._which, self._limit = which, threads
        self._busy, self._rests_until = 0, 0.0
        self.open = True
        self._context = context
        self._changed = changed  # the lock of `changed` also guards `_calls`, `_threads` and `_busy`
        self._threads = 0
        self._calls: dict[object, float] = {}  # keys: claim tokens, because one row can have two claims

    @property
    def running(self) -> bool:
        return self._threads > 0

    @property
    def resting(self) -> bool:
        """Return whether the lane is paused, because the provider was busy several times in a row."""
        return self.open and monotonic() < self._rests_until

    @property
    def slow(self) -> bool:
        """Return whether a call of this lane has been running for more than `SLOW_S` seconds."""
        return any(monotonic() - started > SLOW_S for started in list(self._calls.values()))

    def start(self) -> None:
        """Start one more thread, up to the lane's limit. A thread that has claimed a row starts the next thread."""
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
            # A claimed delivery is not lost. Its claim expires, and a new job sends the delivery when the database is
            # available again.
            logger.error("database unavailable during a drain: %s", type(error).__name__)  # noqa: TRY400
            self.open = False
        except Exception:
            logger.exception("a drain thread stopped with an error")
            self.open = False
        finally:
            with self._changed:
                self._threads -= 1
                self._changed.notify_all()

    def send_next(self) -> bool:
        """Claim and send one due delivery. Return False if there was none."""
        if not self.open or self.resting or (delivery := self.next()) is None:
            return False
        self.start()
        self.handle(delivery)
        return True

    def next(self) -> Claimed | None:
        """Claim and return a delivery that may be sent now, or return None."""
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
        """Return the final outcome of an earlier call if the worker could not save this outcome in PostgreSQL."""
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
            return self._failed(delivery, str(error))
        except ProviderError as error:
            if error.outcome_unknown:
                return self._unknown(delivery, str(error))
            if error.permanent:
                return self._failed(delivery, str(error))
            if error.kind == "busy":
                return self._postponed(error.retry_after or BUSY_S)
            if isinstance(error, (SenderError, LimitedError)):
                return self._held_back(error)
            return self._retry(delivery, str(error), error.retry_after)
        except ClaimLostError:
            raise
        except (DBAPIError, PoolTimeoutError) as error:
            if not delivery.call_started:
                raise
            return self._unknown(delivery, type(error).__name__)
        except Exception as error:
            # An unexpected error is handled like an error of the provider, because it may affect only this delivery.
            logger.exception("delivery %s: its transport raised an error", delivery.id)
            name = type(error).__name__
            return self._unknown(delivery, name) if delivery.call_started else self._retry(delivery, name, None)
        self._reset_busy()
        return Outcome(OutcomeKind.SENT, ref=ref)

    def _failed(self, delivery: Claimed, reason: str) -> Outcome:
        self._reset_busy()
        logger.warning("delivery failed", extra={"delivery": delivery.id, "kind": delivery.kind, "reason": reason})
        return Outcome(OutcomeKind.FAILED, reason)

    def _retry(self, delivery: Claimed, reason: str, retry_after_s: float | None) -> Outcome:
        self._reset_busy()
        return Outcome(OutcomeKind.RETRY, reason, delay_s=settlements.retry_delay_s(delivery.attempts, retry_after_s))

    def _postponed(self, delay_s: float) -> Outcome:
        """Postpone a delivery because the provider is busy.

        After several busy responses in a row, pause the lane. Otherwise the lane would query the database in vain.
        """
        with self._changed:
            self._busy += 1
            if self._busy >= self._limit:
                self._busy, self._rests_until = 0, monotonic() + delay_s
        jitter = random.uniform(1.0, 1.5)  # noqa: S311  # jitter, not a secret
        return Outcome(OutcomeKind.POSTPONED, delay_s=delay_s * jitter)

    def _held_back(self, error: SenderError | LimitedError) -> Outcome:
        """Postpone a delivery because the provider refuses our number or some of its messages.

        The postponement does not count as an attempt.
        """
        delay_s = SENDER_S if isinstance(error, SenderError) else LIMITED_S
        jitter = random.uniform(1.0, 1.5)  # noqa: S311  # jitter, not a secret
        return Outcome(OutcomeKind.POSTPONED, str(error), delay_s=delay_s * jitter)

    def _unknown(self, delivery: Claimed, reason: str) -> Outcome:
        self._reset_busy()
        return Outcome(OutcomeKind.UNKNOWN, reason)

    def _reset_busy(self) -> None:
        with self._changed:
            self._busy = 0


def run(lanes_of: list[tuple[str, Channel]], limit_s: float) -> None:
    """Send the due deliveries of these (queue, channel) pairs, except suspects, until none is due.

    After `limit_s` seconds, lanes with a slow call claim nothing more, and the other lanes continue. When no lane has a
    slow call any more, all lanes stop. If the job is killed, the outcome of its calls in progress is unknown. Each of
    these calls is then repeated once.
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
    """Send suspects one at a time, from each channel in turn, for at most `SUSPECTS_S` seconds.

    A delivery that kills its worker also interrupts all other calls of that worker. A delivery fails for good after two
    interrupted calls. So if suspects were sent in parallel, one of them could make other deliveries fail.
    """
    stop, changed = monotonic() + min(limit_s, SUSPECTS_S), Condition()
    lanes = [Lane(*each, current_app.app_context, changed, claims.SUSPECTS, threads=0) for each in lanes_of]
    while lanes:
        lanes = [lane for lane in lanes if monotonic() < stop and lane.send_next()]
