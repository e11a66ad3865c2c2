"""Kinds of messages that are sent only to proven numbers, according to `PHONE_VERIFICATION`.

The check runs when a message is sent, because messages are planned 36 hours ahead. A number that was proven since then
gets the next dose. A number that was changed since then may be a stranger's until it is proven. Pushes are not checked,
because they go to the person's own browsers.
"""

from __future__ import annotations

from app.core.settings import settings

#: Reason of a cancelled message.
UNPROVEN = "the number is not proven"

#: Kinds that nobody requested, or that are about another person.
SOFT = frozenset({"broadcast", "alert"})
#: In addition, kinds that a person set up for themselves, because they may have entered a stranger's number.
REQUIRED = SOFT | {"reminder", "stock"}

KINDS = {"off": frozenset[str](), "soft": SOFT, "required": REQUIRED}


def is_needed(kind: str) -> bool:
    """Return whether a message of this kind needs a proven number."""
    return kind in KINDS[settings.phone_verification]
