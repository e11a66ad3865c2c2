"""The sentence that sends people to the administrator, in messages and in the application."""

from __future__ import annotations

from app.core.settings import settings


def ask_administrator(lead: str) -> str:
    """Return a blank and `lead` with "hubungi administrator" and the setting `CONTACT`; empty without that setting."""
    return f" {lead} hubungi administrator ({settings.contact})." if settings.contact else ""
