"""Delivery preferences, checked before a delivery is sent: the channel and the quiet hours."""

from __future__ import annotations

from datetime import timedelta

from app.core.jobs import clock_jump
from app.notifications.delivery import settlements
from app.notifications.delivery.claims import Claimed, PostponedError, UnwantedError
from app.notifications.models import SECURITY_NOTICE, Channel
from app.notifications.senders import numbers

#: Kinds that no setting holds back: what a person requests at this moment, warnings of a stolen account (a thief would
#: switch everything off first), and the notice that a moderator has lifted a pseudonym.
ALWAYS_WANTED = frozenset({"password_reset", *numbers.PROOFS, SECURITY_NOTICE, "pseudonym_lifted"})
#: Kinds that are also sent in quiet hours. Quiet hours delay news, never a reminder.
AT_ANY_HOUR = ALWAYS_WANTED | {"reminder"}
#: Minimum time to send a delivery after its quiet hours.
TIME_LEFT = timedelta(hours=1)
#: Reason of a cancelled delivery: its channel is switched off.
SWITCHED_OFF = "switched off"


def check(delivery: Claimed, channel: Channel) -> None:
    """Raise an error unless the person wants this delivery on this channel at this hour."""
    preferences = delivery.preferences
    if delivery.kind not in ALWAYS_WANTED and not (
        preferences.messages if channel is Channel.MESSAGING else preferences.push
    ):
        raise UnwantedError(SWITCHED_OFF)
    if delivery.kind in AT_ANY_HOUR or preferences.quiet_start is None:
        return
    until = preferences.quiet_until(clock_jump.now())
    if until is not None:
        settlements.extend(delivery, until + TIME_LEFT)
        raise PostponedError(until)
