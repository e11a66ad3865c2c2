"""Kinds of messages that are sent only to proven numbers. The setting `PHONE_VERIFICATION` selects these kinds.

A number is proven if its owner has confirmed to us that the number is theirs. The number is checked when a message is
sent, and not when the message is planned. Between these times, the number may be proven or replaced by another number.
Pushes need no proven number, because they do not use the number.
"""

from __future__ import annotations

from app.core.settings import settings

#: Reason stored in a message that is cancelled because the number is not proven.
UNPROVEN = "the number is not proven"

#: Kinds of messages that the recipient did not request, or that are about another person.
SOFT = frozenset({"broadcast", "alert"})
#: The kinds in `SOFT`, and kinds that people set up for themselves. A person may have entered the number of a
#: stranger, so messages of these kinds can be limited to proven numbers.
REQUIRED = SOFT | {"reminder", "stock"}

KINDS = {"off": frozenset[str](), "soft": SOFT, "required": REQUIRED}


def is_needed(kind: str) -> bool:
    """Return whether a message of this kind needs a proven number."""
    return kind in KINDS[settings.phone_verification]
