"""The Indonesian sentence that tells users to contact the administrator."""

from __future__ import annotations

from app.core.settings import settings


def ask_administrator(lead: str) -> str:
    """Return a space, then a sentence: `lead`, "hubungi administrator" and the contact from the setting `CONTACT`.

    Return "" if `CONTACT` is not set.
    """
    return f" {lead} hubungi administrator ({settings.contact})." if settings.contact else ""
