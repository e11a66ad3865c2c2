"""For those who run the service, and what a client asks before it begins."""

from __future__ import annotations

from app.console import schemas, service
from app.console.service import Condition
from app.core.web.blueprint import Blueprint
from app.core.web.pagination import Listing, Page, PageSchema
from app.identity.access import caller, public, requires
from app.identity.models import RoleName
from app.notifications.senders.models import Sender
from app.privacy.service.deliveries import Sent

bp = Blueprint("console", __name__, description="How the service is, for operators and for clients")


@bp.get("/features")
@public
@bp.response(200, schemas.Features)
def get_features() -> dict[str, object]:
    """What is switched on here, so that a client need not guess."""
    return service.features()


@bp.get("/admins/operasi")
@requires(RoleName.ADMIN)
@bp.response(200, schemas.Condition)
def get_condition() -> Condition:
    """How the service is now: problems, queues, the sender of messages, broadcasts."""
    return service.condition()


@bp.put("/admins/operasi/siaran")
@requires(RoleName.ADMIN)
@bp.arguments(schemas.BroadcastsUpdate)
@bp.response(200, schemas.Broadcasts)
def update_broadcasts(data: dict[str, bool]) -> dict[str, object]:
    """Pause all broadcasts, or let them go on where they stopped."""
    return service.set_broadcasts(caller, paused=data["paused"])


@bp.post("/admins/operasi/pengirim")
@requires(RoleName.ADMIN)
@bp.response(200, schemas.Sender)
@bp.alt_response(409, "CONFLICT")
def resume_sender() -> Sender:
    """Let messages leave again; a sender that is still down stops at its next error."""
    return service.resume_sender(caller)


@bp.get("/admins/users/<int:user_id>/pengiriman")
@requires(RoleName.ADMIN)
@bp.arguments(PageSchema, location="query")
@bp.response(200, schemas.DeliveryState(many=True))
def list_user_deliveries(page: Page, user_id: int) -> Listing[Sent]:
    """Why a message did not arrive: states and reasons, no text. The person reads in their access log of the look.

    What would tell who writes under a pseudonym is left out, as messages about replies to such a thread.
    """
    return service.deliveries_of(caller, user_id, page)
