"""Routes for operators, and the enabled features for clients."""

from __future__ import annotations

from app.console import schemas, service
from app.console.service import Condition
from app.core.web.blueprint import Blueprint
from app.core.web.pagination import Listing, Page, PageSchema
from app.identity.access import caller, public, requires
from app.identity.models import RoleName
from app.privacy.service.deliveries import Sent

bp = Blueprint("console", __name__, description="State of the service for operators, features for clients")


@bp.get("/features")
@public
@bp.response(200, schemas.Features)
def get_features() -> dict[str, object]:
    """Return the features that are enabled on this service."""
    return service.features()


@bp.get("/admins/operasi")
@requires(RoleName.ADMIN)
@bp.response(200, schemas.Condition)
def get_condition() -> Condition:
    """Return the state of the service: problems, queues, messaging sender and broadcasts."""
    return service.condition()


@bp.put("/admins/operasi/siaran")
@requires(RoleName.ADMIN)
@bp.arguments(schemas.BroadcastsUpdate)
@bp.response(200, schemas.Broadcasts)
def update_broadcasts(data: dict[str, bool]) -> dict[str, object]:
    """Pause all broadcasts, or resume them where they stopped."""
    return service.set_broadcasts(caller, paused=data["paused"])


@bp.get("/admins/users/<int:user_id>/pengiriman")
@requires(RoleName.ADMIN)
@bp.arguments(PageSchema, location="query")
@bp.response(200, schemas.DeliveryState(many=True))
def list_user_deliveries(page: Page, user_id: int) -> Listing[Sent]:
    """List the deliveries of a user with states and reasons, without text.

    The user sees this access in their access log. Deliveries that would reveal a pseudonymous author are left out, such
    as messages about replies to the author's thread.
    """
    return service.deliveries_of(caller, user_id, page)
