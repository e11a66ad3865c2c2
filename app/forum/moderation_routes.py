"""Moderation of the forum: cases, decisions, and the phrases by which a cry for help is known."""

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
    """Cases, urgent ones first, then the newest."""
    return moderation.list_all(search)


@bp.post("")
@requires(RoleName.ADMIN)
@bp.arguments(schemas.CaseCreate)
@bp.response(201, schemas.Case)
@bp.alt_response(200, schema=schemas.Case, description="The post had a case, which is decided", success=True)
@bp.alt_response(404, "NOT_FOUND")
def create_case(data: Loaded) -> tuple[Case, int]:
    """Decide about a post that nobody has reported."""
    case, is_new = moderation.create(data, caller)
    return case, 201 if is_new else 200


@bp.put("/<int:case_id>")
@requires(RoleName.ADMIN)
@bp.arguments(schemas.DecisionSchema)
@bp.response(200, schemas.Case)
@bp.alt_response(409, "CONFLICT")
def update_case(data: Loaded, case_id: int) -> Case:
    """Decide a case, or decide it otherwise as long as the post is there."""
    return moderation.decide(case_id, data, caller)


@bp.get("/<int:case_id>/gambar")
@requires(RoleName.ADMIN)
@bp.response(200, streaming.FILE, content_type=pictures.CONTENT_TYPE)
def get_case_image(case_id: int) -> Response:
    """The picture of the post that a case is about, also while nobody else is served it."""
    return pictures.response(moderation.get_image(case_id), f"kasus-{case_id}.webp")


@bp.post("/<int:case_id>/identitas")
@requires(RoleName.ADMIN)
@bp.arguments(schemas.IdentityCreate)
@bp.response(200, schemas.Identity)
@bp.alt_response(409, "CONFLICT")
def lift_pseudonym(data: dict[str, str], case_id: int) -> Identity:
    """Who is behind the pseudonym of a case: told once, written into the audit log, and the author is told of it."""
    return moderation.lift_pseudonym(case_id, data["reason"], caller)


@bp.get("/frasa")
@requires(RoleName.ADMIN)
@bp.arguments(SearchSchema, location="query")
@bp.response(200, schemas.Phrase(many=True))
def list_phrases(search: Search) -> Listing[CrisisPhrase]:
    """Phrases by which a cry for help or a medical emergency is known, the latest first."""
    return crisis.list_phrases(search)


@bp.post("/frasa")
@requires(RoleName.ADMIN)
@bp.arguments(schemas.PhraseCreate)
@bp.response(201, schemas.Phrase)
@bp.alt_response(409, "CONFLICT")
def create_phrase(data: dict[str, str]) -> CrisisPhrase:
    """Add a phrase; other spellings and slang words of its words are known."""
    return crisis.create_phrase(**data)


@bp.delete("/frasa/<int:phrase_id>")
@requires(RoleName.ADMIN)
@bp.response(200, MessageSchema)
def delete_phrase(phrase_id: int) -> dict[str, str]:
    """Take a phrase out."""
    crisis.delete_phrase(phrase_id)
    return {"message": "Frasa dihapus."}
