"""Routes for moderators of the forum: cases, decisions, crisis phrases and emergency phrases."""

from __future__ import annotations

from flask import Response

from app.core.exports import streaming
from app.core.media import pictures
from app.core.web.blueprint import Blueprint, MessageSchema
from app.core.web.fields import Loaded
from app.core.web.pagination import Listing, Search, SearchSchema
from app.forum import moderation_schemas as schemas
from app.forum.models import CrisisPhrase
from app.forum.moderation_schemas import CaseSearch
from app.forum.service import crisis, moderation
from app.forum.service.moderation import Case, Identity
from app.identity.access import caller, requires
from app.identity.models import RoleName

bp = Blueprint("moderasi", __name__, url_prefix="/admins/moderasi", description="Moderation of the forum")


@bp.get("")
@requires(RoleName.ADMIN)
@bp.arguments(schemas.CaseQuery, location="query")
@bp.response(200, schemas.Case(many=True))
def list_cases(search: CaseSearch) -> Listing[Case]:
    """List moderation cases, urgent ones first, then the newest."""
    return moderation.list_all(search)


@bp.post("")
@requires(RoleName.ADMIN)
@bp.arguments(schemas.CaseCreate)
@bp.response(201, schemas.Case)
@bp.alt_response(200, schema=schemas.Case, description="The post already had a case", success=True)
def create_case(data: Loaded) -> tuple[Case, int]:
    """Create a case for a post, and decide it. The post may have no reports."""
    case, is_new = moderation.create(data, caller)
    return case, 201 if is_new else 200


@bp.put("/<int:case_id>")
@requires(RoleName.ADMIN)
@bp.arguments(schemas.DecisionSchema)
@bp.response(200, schemas.Case)
def update_case(data: Loaded, case_id: int) -> Case:
    """Decide a case. An earlier decision can be changed until the post is deleted."""
    return moderation.decide(case_id, data, caller)


@bp.get("/<int:case_id>/gambar")
@requires(RoleName.ADMIN)
@bp.response(200, streaming.FILE, content_type=pictures.CONTENT_TYPE)
def get_case_image(case_id: int) -> Response:
    """Return the picture of a case's post. Moderators also get a picture that is hidden from everybody else."""
    return pictures.response(moderation.get_image(case_id), f"kasus-{case_id}.webp")


@bp.post("/<int:case_id>/identitas")
@requires(RoleName.ADMIN)
@bp.arguments(schemas.IdentityCreate)
@bp.response(200, schemas.Identity)
def lift_pseudonym(data: dict[str, str], case_id: int) -> Identity:
    """Return the name of the author who wrote a case's post under a pseudonym.

    This works once for each case. The audit log records the access, and the author gets a notification.
    """
    return moderation.lift_pseudonym(case_id, data["reason"], caller)


@bp.get("/frasa")
@requires(RoleName.ADMIN)
@bp.arguments(SearchSchema, location="query")
@bp.response(200, schemas.Phrase(many=True))
def list_phrases(search: Search) -> Listing[CrisisPhrase]:
    """List the crisis and emergency phrases, newest first."""
    return crisis.list_phrases(search)


@bp.post("/frasa")
@requires(RoleName.ADMIN)
@bp.arguments(schemas.PhraseCreate)
@bp.response(201, schemas.Phrase)
def create_phrase(data: dict[str, str]) -> CrisisPhrase:
    """Create a phrase. It also matches other spellings and slang forms of its words."""
    return crisis.create_phrase(**data)


@bp.delete("/frasa/<int:phrase_id>")
@requires(RoleName.ADMIN)
@bp.response(200, MessageSchema)
def delete_phrase(phrase_id: int) -> dict[str, str]:
    """Delete a phrase."""
    crisis.delete_phrase(phrase_id)
    return {"message": "Frasa dihapus."}
