"""The sections of the specification, in its order: every package below that has routes."""

from __future__ import annotations

from app.core.api import Blueprint


def blueprints() -> list[Blueprint]:
    """Import and list the sections' blueprints; their models come along, so that migrations see every table."""
    from app.identity import models  # noqa: F401

    return []
