"""Which messages leave for a number only when its person has shown that it is theirs, as `PHONE_VERIFICATION` says.

It is judged at the moment of sending and not when a message is planned, 36 hours ahead: a number that is proven
meanwhile is told of the very next dose, and one that was changed meanwhile is a stranger's until it is proven. Pushes
go to the person's own browsers, so they are never held back.
"""

from __future__ import annotations

from app.core.settings import settings

#: Why a message was cancelled.
UNPROVEN = "the number is not proven"

#: What nobody asked for, and what is about somebody else.
SOFT = frozenset({"broadcast", "alert"})
#: And what a person asked for themselves, who may have given a stranger's number.
REQUIRED = SOFT | {"reminder", "stock"}

KINDS = {"off": frozenset[str](), "soft": SOFT, "required": REQUIRED}


def is_needed(kind: str) -> bool:
    """Whether a message of this kind goes to proven numbers alone."""
    return kind in KINDS[settings.phone_verification]
