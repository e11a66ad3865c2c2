"""The sentence that refers people to the administrator, in messages and in the application."""

from __future__ import annotations

from app.core.settings import settings


def ask_administrator(lead: str) -> str:
    """Return a space, `lead` and "hubungi administrator" with the setting `CONTACT`. Return "" without it."""
    return f" {lead} hubungi administrator ({settings.contact})." if settings.contact else ""
