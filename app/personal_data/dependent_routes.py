"""Routes with which a caregiver deletes and restores a dependent's account. A dependent is a person without a phone."""

from __future__ import annotations

from app.caregivers.schemas import Dependent
from app.core.web.blueprint import Blueprint
from app.identity.access import caller, requires
from app.identity.models import RoleName, User
from app.personal_data import schemas, service

bp = Blueprint(
    "dependents", __name__, url_prefix="/caregiver/dependents", description="Deletion of a dependent's account"
)


@bp.delete("/<int:dependent_id>")
@requires(RoleName.PENDAMPING)
@bp.response(202, schemas.DependentDeleted)
def delete_dependent(dependent_id: int) -> dict[str, object]:
    """Schedule the erasure of a dependent's account in seven days.

    Until then, the account can be restored, but no list contains it.
    """
    return service.delete_dependent(caller, dependent_id)


@bp.post("/<int:dependent_id>/undelete")
@requires(RoleName.PENDAMPING)
@bp.response(200, Dependent)
def undelete_dependent(dependent_id: int) -> User:
    """Restore a deleted dependent with all reminders and history.

    The response is 409 if the caller already has five dependents.
    """
    return service.undelete_dependent(caller, dependent_id)
