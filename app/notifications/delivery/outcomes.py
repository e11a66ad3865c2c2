"""Outcomes of an attempt to send a delivery, and the function that records an outcome in the delivery's row."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from app.notifications.delivery import settlements
from app.notifications.delivery.settlements import Claim


class OutcomeKind(StrEnum):
    SENT = "sent"
    #: The delivery cannot be sent, for example because the provider refused the message permanently.
    FAILED = "failed"
    #: The delivery must not be sent, for example because the recipient does not want it on this channel.
    CANCELLED = "cancelled"
    #: The attempt failed, and the delivery is retried later.
    RETRY = "retry"
    POSTPONED = "postponed"
    #: The call to the provider has started, but the result of the call is unknown.
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Outcome:
    result: OutcomeKind
    reason: str = ""
    #: The provider's reference of the message.
    ref: str | None = None
    #: Seconds until the retry, or until a postponed delivery is due.
    delay_s: float = 0.0
    #: Time until which the delivery is postponed. If set, `delay_s` is ignored.
    until: datetime | None = None


def record(delivery: Claim, outcome: Outcome) -> None:
    match outcome.result:
        case OutcomeKind.SENT:
            settlements.record_sent(delivery, outcome.ref)
        case OutcomeKind.FAILED:
            settlements.record_failed(delivery, outcome.reason)
        case OutcomeKind.CANCELLED:
            settlements.record_cancelled(delivery, outcome.reason)
        case OutcomeKind.RETRY:
            settlements.record_retry(delivery, outcome.delay_s, outcome.reason)
        case OutcomeKind.UNKNOWN:
            settlements.record_unknown(delivery, outcome.reason)
        case OutcomeKind.POSTPONED:
            settlements.record_postponed(delivery, outcome.until or timedelta(seconds=outcome.delay_s), outcome.reason)
