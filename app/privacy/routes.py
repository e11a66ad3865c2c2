"""What is the caller's: how they are reached, what was sent to them, who looked, where they are signed in."""

from __future__ import annotations

from app.core.web.blueprint import Blueprint
from app.core.web.pagination import Listing, Page, PageSchema
from app.identity.access import authenticated, caller
from app.privacy import schemas
from app.privacy.schemas import NotificationChanges
from app.privacy.service import deliveries, notifications
from app.privacy.service.deliveries import Sent

bp = Blueprint("privacy", __name__, description="What is the caller's own")


@bp.get("/profile/notifikasi")
@authenticated
@bp.response(200, schemas.NotificationSettings)
def get_notification_settings() -> NotificationChanges:
    """How the caller is reached."""
    return notifications.get(caller)


@bp.put("/profile/notifikasi")
@authenticated
@bp.arguments(schemas.NotificationSettings)
@bp.response(200, schemas.NotificationSettings)
def update_notification_settings(data: NotificationChanges) -> NotificationChanges:
    """Change how the caller is reached, also by what is queued already; with reminders one channel stays on."""
    return notifications.update(caller, data)


@bp.get("/pengiriman")
@authenticated
@bp.arguments(PageSchema, location="query")
@bp.response(200, schemas.Delivery(many=True))
def list_deliveries(page: Page) -> Listing[Sent]:
    """What was sent to the caller in the last 30 days and what is still to come, the latest due first."""
    return deliveries.list_own(caller, page)
