"""What is the caller's: how they are reached, what was sent to them, who looked, where they are signed in."""

from __future__ import annotations

from collections.abc import Callable

from app.core.web.blueprint import Blueprint, MessageSchema
from app.core.web.fields import Loaded
from app.core.web.pagination import Listing, Page, PageSchema
from app.identity import schemas as identity_schemas
from app.identity import sessions
from app.identity.access import authenticated, caller
from app.identity.consents import ConsentWishes
from app.privacy import schemas
from app.privacy.service import access, consents, deliveries, devices, notifications
from app.privacy.service.access import Access
from app.privacy.service.consents import Consent
from app.privacy.service.deliveries import Sent
from app.privacy.service.devices import Device

bp = Blueprint("privacy", __name__, description="What is the caller's own")


def of_whom(view: Callable[..., object]) -> Callable[..., object]:
    """Take `patient_id`: whose data a view is about is its first argument."""
    return bp.arguments(identity_schemas.OwnOrDependent, location="query")(bp.alt_response(404, "NOT_FOUND")(view))


@bp.get("/profile/notifikasi")
@authenticated
@bp.response(200, schemas.NotificationSettings)
def get_notification_settings() -> dict[str, object]:
    """How the caller is reached."""
    return notifications.get(caller)


@bp.put("/profile/notifikasi")
@authenticated
@bp.arguments(schemas.NotificationSettings)
@bp.response(200, schemas.NotificationSettings)
@bp.alt_response(409, "CONFLICT")
def update_notification_settings(data: Loaded) -> dict[str, object]:
    """Change how the caller is reached, also by what is queued already; with reminders one channel stays on.

    A number that nobody has proven and that ended reminders by BERHENTI PENGINGAT gets messages again by MULAI, or by
    a proof (409 `stopped_by_number`).
    """
    return notifications.update(caller, data)


@bp.get("/pengiriman")
@authenticated
@bp.arguments(PageSchema, location="query")
@bp.response(200, schemas.Delivery(many=True))
def list_deliveries(page: Page) -> Listing[Sent]:
    """What was sent to the caller in the last 30 days and what is still to come, the latest due first."""
    return deliveries.list_own(caller, page)


@bp.get("/profile/sesi")
@authenticated
@bp.arguments(PageSchema, location="query")
@bp.response(200, schemas.Device(many=True))
def list_sessions(page: Page) -> Listing[Device]:
    """The devices on which the caller is signed in."""
    return devices.list_own(caller, page)


@bp.delete("/profile/sesi/<session_id>")
@authenticated
@bp.response(200, MessageSchema)
@bp.alt_response(404, "NOT_FOUND")
def end_session(session_id: str) -> dict[str, str]:
    """Sign out one device, with its access token, its push subscriptions and its open invitations."""
    sessions.end_own(caller, session_id)
    return {"message": "Perangkat telah dikeluarkan."}


@bp.delete("/profile/sesi")
@authenticated
@bp.response(200, MessageSchema)
def end_other_sessions() -> dict[str, str]:
    """Sign out all devices but this one, with their push subscriptions and open invitations.

    An open reset of the password and an open proof of a number end as well.
    """
    sessions.end_all(caller.id, keep=caller.session_id)
    return {"message": "Semua perangkat lain telah dikeluarkan."}


@bp.get("/profile/akses")
@authenticated
@of_whom
@bp.arguments(PageSchema, location="query")
@bp.response(200, schemas.Access(many=True))
def list_accesses(whose: Loaded, page: Page) -> Listing[Access]:
    """Who looked at what of the caller's or a dependent's, the latest first; lists and exports are one line a day."""
    return access.list_own(caller, whose["patient_id"], page)


@bp.get("/profile/persetujuan")
@authenticated
@of_whom
@bp.response(200, schemas.Consent(many=True))
def list_consents(whose: Loaded) -> list[Consent]:
    """What the caller agreed to, for each purpose, or what was agreed to for a dependent."""
    return consents.list_own(caller, whose["patient_id"])


@bp.put("/profile/persetujuan")
@authenticated
@of_whom
@bp.arguments(identity_schemas.Consents)
@bp.response(200, schemas.Consent(many=True))
def update_consents(whose: Loaded, data: ConsentWishes) -> list[Consent]:
    """Give a consent or withdraw it; what is not sent stays.

    Without `health_data` reminders stop at once and are deleted within 72 hours, unless it is given again before.
    Without `caregivers` they see nothing of the caller but the name. `service` ends with the account alone.
    """
    return consents.update(caller, whose["patient_id"], data)
