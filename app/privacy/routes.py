"""Routes for a user's own preferences, devices and consents.

They also list the user's deliveries, and the accesses of other people to the user's data.
"""

from __future__ import annotations

from app.core.web.blueprint import Blueprint, MessageSchema
from app.core.web.fields import Loaded
from app.core.web.pagination import Listing, Page, PageSchema
from app.identity import schemas as identity_schemas
from app.identity import sessions
from app.identity.access import authenticated, caller
from app.privacy import schemas
from app.privacy.service import access, consents, deliveries, devices, notifications
from app.privacy.service.deliveries import Sent

bp = Blueprint("privacy", __name__, description="The caller's own settings and data")


@bp.get("/profile/notifikasi")
@authenticated
@bp.response(200, schemas.NotificationSettings)
def get_notification_settings() -> dict[str, object]:
    """Return the caller's delivery preferences."""
    return notifications.get(caller)


@bp.put("/profile/notifikasi")
@authenticated
@bp.arguments(schemas.NotificationSettingsUpdate)
@bp.response(200, schemas.NotificationSettings)
def update_notification_settings(data: Loaded) -> dict[str, object]:
    """Change the caller's delivery preferences. Fields that are not sent stay unchanged.

    The change also applies to queued deliveries. While the caller has reminders, `messages` or `push` must stay on
    (400 `channel_needed`).
    """
    return notifications.update(caller, data)


@bp.get("/pengiriman")
@authenticated
@bp.arguments(PageSchema, location="query")
@bp.response(200, schemas.Delivery(many=True))
def list_deliveries(page: Page) -> Listing[Sent]:
    """List the caller's deliveries of the last 30 days and the pending deliveries, latest due time first."""
    return deliveries.list_own(caller, page)


@bp.get("/profile/sesi")
@authenticated
@bp.arguments(PageSchema, location="query")
@bp.response(200, schemas.Device(many=True))
def list_sessions(page: Page) -> Listing[dict[str, object]]:
    """List the devices on which the caller is logged in."""
    return devices.list_own(caller, page)


@bp.delete("/profile/sesi/<session_id>")
@authenticated
@bp.response(200, MessageSchema)
def end_session(session_id: str) -> dict[str, str]:
    """Log out one device. Its access token, push subscriptions and open invitations end."""
    sessions.end_own(caller, session_id)
    return {"message": "Perangkat telah dikeluarkan."}


@bp.delete("/profile/sesi")
@authenticated
@bp.response(200, MessageSchema)
def end_other_sessions() -> dict[str, str]:
    """Log out all other devices. Their push subscriptions and open invitations end.

    An open password reset and an open verification of a number end too.
    """
    sessions.end_all(caller.id, keep=caller.session_id)
    return {"message": "Semua perangkat lain telah dikeluarkan."}


@bp.get("/profile/akses")
@authenticated
@bp.arguments(PageSchema, location="query")
@bp.response(200, schemas.Access(many=True))
def list_accesses(page: Page) -> Listing[dict[str, object]]:
    """List looks at the caller's data, latest first."""
    return access.list_own(caller, page)


@bp.get("/profile/persetujuan")
@authenticated
@bp.response(200, schemas.Consent(many=True))
def list_consents() -> list[dict[str, object]]:
    """List the caller's consents, one per purpose."""
    return consents.list_own(caller)


@bp.put("/profile/persetujuan")
@authenticated
@bp.arguments(identity_schemas.Consents)
@bp.response(200, schemas.Consent(many=True))
def update_consents(data: Loaded) -> list[dict[str, object]]:
    """Give or withdraw consents. Missing consents stay unchanged.

    Without `health_data`, reminders stop immediately. They are deleted within 72 hours, unless the consent is given
    again. Without it, caregivers see only the caller's username, name, picture and province.
    """
    return consents.update(caller, data)
