"""Routes for moderators of the forum: the list of cases, and decisions."""

from __future__ import annotations

from app.core.web.blueprint import Blueprint
from app.core.web.fields import Loaded
from app.core.web.pagination import Listing
from app.forum import moderation_schemas as schemas
from app.forum.service import moderation
from app.forum.service.reads import Record
from app.identity.access import caller, requires
from app.identity.models import RoleName

bp = Blueprint("moderasi", __name__, url_prefix="/admins/moderasi", description="Moderation of the forum")


@bp.get("")
@requires(RoleName.ADMIN)
@bp.arguments(schemas.CaseQuery, location="query")
@bp.response(200, schemas.Case(many=True))
def list_cases(search: schemas.CaseSearch) -> Listing[Record]:
    """List moderation cases, urgent ones first, then the newest."""
    return moderation.list_cases(search)


@bp.put("/<int:case_id>")
@requires(RoleName.ADMIN)
@bp.arguments(schemas.DecisionSchema)
@bp.response(200, schemas.Case)
def update_case(data: Loaded, case_id: int) -> Record:
    """Decide a case. An earlier decision can be changed."""
    return moderation.decide(case_id, data, caller)
