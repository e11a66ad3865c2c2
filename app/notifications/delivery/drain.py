"""Sending of due deliveries by the job `drain`, see `app.notifications.jobs`.

Each channel of a queue has its own threads, called a lane, so that a slow provider delays no other channel.
"""

from __future__ import annotations

import logging
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from threading import Condition, Thread
from time import monotonic, sleep

from flask import Flask, current_app
from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from app.core.database.session import db
from app.notifications.delivery import claims, delivery_preferences, message_format, rendering, settlements
from app.notifications.delivery.claims import Claimed, ClaimLostError, PostponedError, UndeliverableError, UnwantedError
from app.notifications.delivery.rendering import Renderer
from app.notifications.models import Channel
from app.providers.http import ProviderError
from app.providers.messenger import LimitedError, OutsideHoursError, SenderError

logger = logging.getLogger(__name__)

#: Function that sends a delivery and returns the provider's reference. The function must call `claims.begin` before it
#: calls the provider. It raises `ProviderError` or an error of `claims`.
Transport = Callable[[Claimed], str | None]
#: Function that records the outcome of an attempt to send a delivery.
Outcome = Callable[[], None]


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
    #: Function that is called with the ids of deliveries that were taken back from the provider, see `recall`.
    on_recalled: Callable[[Sequence[int]], object]


def init_app(app: Flask, routing: Routing) -> None:
    app.extensions["routing"] = routing


def routing() -> Routing:
    routing: Routing = current_app.extensions["routing"]
    return routing


#: Maximum number of threads for one channel of a queue.
THREADS = 16
#: Seconds to wait after a provider was busy and its response had no `Retry-After`.
BUSY_S = 5.0
#: Seconds for which a delivery is postponed. `SENDER_S` applies if our number cannot send messages. `LIMITED_S` applies
#: if the provider refuses some messages, such as those to new recipients or with a paused template.
SENDER_S, LIMITED_S = 30.0, 300.0
#: Seconds until a lane without work queries due deliveries again while another lane is still sending.
POLL_S = 0.2
#: Seconds between attempts to record an outcome while PostgreSQL is unavailable.
RECORD_EVERY_S = 0.2


class Lane:
    """Threads that send the due deliveries of one channel of one queue. With `threads=0`, the caller's thread sends."""

    def __init__(self, queue: str, channel: Channel, changed: Condition, threads: int = THREADS) -> None:
        self.queue, self.channel = queue, channel
        self.open = True
        self._context = current_app.app_context
        self._changed = changed  # its lock also guards `_threads`
        self._limit, self._threads = threads, 0

    @property
    def running(self) -> bool:
        return self._threads > 0

    def start(self) -> None:
        """Start one more thread, up to the lane's limit. A thread that has claimed a row starts the next thread."""
        with self._changed:
            if not self.open or self._threads >= self._limit:
                return
            self._threads += 1
        Thread(target=self._run, name=f"{self.queue}-{self.channel}", daemon=True).start()

    def _run(self) -> None:
        try:
            with self._context():
                while self.send_next():
                    pass
        except (DBAPIError, PoolTimeoutError) as error:
            # A claimed delivery is not lost. A later drain puts it back.
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
        if not self.open or (delivery := self.next()) is None:
            return False
        self.start()
        self.handle(delivery)
        return True

    def next(self) -> Claimed | None:
        """Claim and return a delivery that may be sent now, or return None."""
        throttle = routing().throttles.get(self.queue)
        may_claim = throttle is None or throttle(self.channel)
        return claims.claim(self.queue, self.channel) if may_claim else None

    def handle(self, delivery: Claimed) -> None:
        try:
            outcome = self._send(delivery)
        except ClaimLostError:
            return
        _persist(outcome)

    def _send(self, delivery: Claimed) -> Outcome:
        try:
            delivery_preferences.check(delivery, self.channel)
            rendering.render(delivery, routing().render)
            if check := routing().checks.get(delivery.kind):
                check(delivery)
            ref = routing().transports[self.channel](delivery)
        except PostponedError as error:
            return partial(settlements.record_postponed, delivery, error.until)
        except UnwantedError as error:
            return partial(settlements.record_cancelled, delivery, str(error))
        except UndeliverableError as error:
            return _failed(delivery, str(error))
        except ProviderError as error:
            return self._after(delivery, error)
        except ClaimLostError:
            raise
        except (DBAPIError, PoolTimeoutError) as error:
            if not delivery.call_started:
                raise
            return partial(settlements.record_unknown, delivery, type(error).__name__)
        except Exception as error:
            # An unexpected error is handled like an error of the provider, because it may affect only this delivery.
            logger.exception("delivery %s: its transport raised an error", delivery.id)
            name = type(error).__name__
            if delivery.call_started:
                return partial(settlements.record_unknown, delivery, name)
            return partial(settlements.record_retry, delivery, settlements.retry_delay_s(delivery.attempts), name)
        return partial(settlements.record_sent, delivery, ref)

    def _after(self, delivery: Claimed, error: ProviderError) -> Outcome:
        if error.outcome_unknown:
            return partial(settlements.record_unknown, delivery, str(error))
        if isinstance(error, OutsideHoursError) and message_format.may_be_template(delivery.payload):
            return partial(settlements.record_as_template, delivery)
        if error.permanent:
            return _failed(delivery, str(error))
        if error.kind == "busy":
            self.open = False
            return _postponed(delivery, error.retry_after or BUSY_S)
        if isinstance(error, (SenderError, LimitedError)):
            return _postponed(delivery, SENDER_S if isinstance(error, SenderError) else LIMITED_S, str(error))
        delay_s = settlements.retry_delay_s(delivery.attempts, error.retry_after)
        return partial(settlements.record_retry, delivery, delay_s, str(error))


def _failed(delivery: Claimed, reason: str) -> Outcome:
    logger.warning("delivery failed", extra={"delivery": delivery.id, "kind": delivery.kind, "reason": reason})
    return partial(settlements.record_failed, delivery, reason)


def _postponed(delivery: Claimed, delay_s: float, reason: str = "") -> Outcome:
    jitter = random.uniform(1.0, 1.5)  # noqa: S311  # jitter, not a secret
    return partial(settlements.record_postponed, delivery, timedelta(seconds=delay_s * jitter), reason)


def _persist(outcome: Outcome) -> None:
    """Record an outcome. While PostgreSQL is unavailable, retry until the job ends."""
    while True:
        try:
            return outcome()
        except (DBAPIError, PoolTimeoutError) as error:
            db.session.remove()  # the next attempt needs a new connection
            is_broken = isinstance(error, DBAPIError) and error.connection_invalidated
            if not is_broken and not isinstance(error, (OperationalError, InterfaceError, PoolTimeoutError)):
                raise
        sleep(RECORD_EVERY_S)


def run(lanes_of: Sequence[tuple[str, Channel]], limit_s: float) -> None:
    """Send the due deliveries of these (queue, channel) pairs, until none is due. After `limit_s`, claim no more."""
    changed, stop = Condition(), monotonic() + limit_s
    lanes = [Lane(*each, changed) for each in lanes_of]
    try:
        for lane in lanes:
            lane.start()
        while True:
            with changed:
                if changed.wait_for(lambda: not any(lane.running for lane in lanes), POLL_S):
                    return
            for lane in lanes:
                lane.open = lane.open and monotonic() < stop
                if not lane.running:
                    lane.start()
    finally:
        for lane in lanes:
            lane.open = False
