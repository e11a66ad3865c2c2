"""Delivery preferences, checked before a delivery is sent: by which channel, and at which hours."""

from __future__ import annotations

from datetime import timedelta

from app.core.jobs import clock_jump
from app.notifications.delivery import settlements
from app.notifications.delivery.claims import Claimed, PostponedError, UnwantedError
from app.notifications.models import SECURITY_NOTICE, Channel
from app.notifications.senders import numbers

#: Kinds that no setting holds back: what a person asks for at this moment, what tells of a thief of the account, who
#: would switch everything off first, and that a moderator has learnt who is behind a pseudonym.
ALWAYS_WANTED = frozenset({"password_reset", *numbers.PROOFS, SECURITY_NOTICE, "pseudonym_lifted"})
#: Kinds that are sent in quiet hours too. Quiet hours hold news, never a reminder.
AT_ANY_HOUR = ALWAYS_WANTED | {"reminder"}
#: Minimum time to send a delivery after the quiet hours that it waited for.
TIME_LEFT = timedelta(hours=1)
#: Why a delivery was cancelled: its channel is.
SWITCHED_OFF = "switched off"


def check(delivery: Claimed, channel: Channel) -> None:
    """Raise unless the person wants this delivery by this channel, at this hour."""
    wishes = delivery.wishes
    if delivery.kind not in ALWAYS_WANTED and not (wishes.messages if channel is Channel.MESSAGING else wishes.push):
        raise UnwantedError(SWITCHED_OFF)
    if delivery.kind in AT_ANY_HOUR or wishes.quiet_start is None:
        return
    until = wishes.quiet_until(clock_jump.now())
    if until is not None:
        settlements.extend(delivery, until + TIME_LEFT)
        raise PostponedError(until)
