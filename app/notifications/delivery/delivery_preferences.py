"""Check of the recipient's delivery preferences: which channels are switched on, and the quiet hours."""

from __future__ import annotations

from datetime import timedelta

from app.core.database import db_time
from app.notifications.delivery import settlements
from app.notifications.delivery.claims import Claimed, PostponedError, UnwantedError
from app.notifications.models import SECURITY_NOTICE, Channel

#: Kinds that are sent whatever the preferences are: messages that the person has just requested, warnings about a
#: stolen account, and the notice that a moderator has lifted a pseudonym.
ALWAYS_WANTED = frozenset({"password_reset", SECURITY_NOTICE})
#: Kinds that are also sent in quiet hours. Quiet hours never delay a reminder.
AT_ANY_HOUR = ALWAYS_WANTED | {"reminder"}
#: Minimum time from the end of the quiet hours until a delayed delivery expires.
TIME_LEFT = timedelta(hours=1)
#: Reason stored in a delivery that is cancelled because its channel is switched off.
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
    until = preferences.quiet_until(db_time.now())
    if until is not None:
        settlements.extend(delivery, until + TIME_LEFT)
        raise PostponedError(until)
