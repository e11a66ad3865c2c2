"""What people want to get, asked before a delivery leaves: by which channel, and at which hours."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from app.core.jobs import clock_jump
from app.notifications.delivery import settlements
from app.notifications.delivery.claims import Claimed, PostponedError, UnwantedError
from app.notifications.models import SECURITY_NOTICE, Channel

#: Kinds that no setting holds back: what a person asks for at this moment, what tells of a thief of the account, who
#: would switch everything off first, and that a moderator has learnt who is behind a pseudonym.
ALWAYS_WANTED = frozenset({"password_reset", "phone_code", SECURITY_NOTICE, "pseudonym_lifted"})
#: Why a delivery was cancelled: its channel is.
SWITCHED_OFF = "switched off"


def check(delivery: Claimed, channel: Channel, may_leave: Callable[[Claimed], bool] | None) -> None:
    """Raise when the person wants nothing by this channel, or nothing at this hour.

    What `may_leave` goes out in their quiet hours too. Of several in one message, some may wait.
    """
    if delivery.kind in ALWAYS_WANTED:
        return
    wishes = delivery.wishes
    if not (wishes.messages if channel is Channel.MESSAGING else wishes.push):
        raise UnwantedError(SWITCHED_OFF)
    until = wishes.quiet_until(clock_jump.now()) if wishes.quiet_start else None
    if until is None:
        return
    waiting = [each for each in delivery.together if may_leave is None or not may_leave(each)]
    if len(waiting) == len(delivery.together):
        raise PostponedError(until)
    for each in waiting:
        settlements.settle_postponed(replace(each), until)  # itself alone
    delivery.ids = tuple(set(delivery.ids) - {each.id for each in waiting})
