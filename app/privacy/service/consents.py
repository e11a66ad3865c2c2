"""A person's consents, and what a change of a consent does."""

from __future__ import annotations

from collections.abc import Mapping

from app.caregivers import service as caregivers
from app.identity import consents, notification_settings, users
from app.identity.consents import ConsentSource, Purpose
from app.identity.models import User
from app.identity.sessions import Caller
from app.pengingat import withdrawal


def list_own(caller: Caller) -> list[dict[str, object]]:
    """Return the caller's consents, one per purpose.

    If a person was never asked about a purpose, the consent counts as granted. The fields `version`, `at` and `way`
    are then None.
    """
    return _list(users.get_own(caller))


def update(caller: Caller, sent: Mapping[str, bool]) -> list[dict[str, object]]:
    """Store the caller's changed consents, and apply the effects."""
    user = users.get_own(caller, to_change=True)
    changed = notification_settings.record_consents(user, sent, way=ConsentSource.APP)
    if Purpose.HEALTH_DATA in changed:
        if not sent["health_data"]:
            caregivers.leave(user.id)
        (withdrawal.resume if sent["health_data"] else withdrawal.stop)(user.id)
    return _list(user)


def _list(user: User) -> list[dict[str, object]]:
    said = consents.current(user.id)
    return [_consent(purpose, said.get(purpose), user) for purpose in Purpose]


def _consent(purpose: Purpose, said: consents.Consent | None, user: User) -> dict[str, object]:
    granted = user.accepts_broadcasts if purpose is Purpose.BROADCASTS else said is None or said.granted
    proof = (said.version, said.created_at, said.way) if said else (None, None, None)
    return {"purpose": purpose, "granted": granted, **dict(zip(("version", "at", "way"), proof, strict=True))}
