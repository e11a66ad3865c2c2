"""Administration: people, caregiver relations, statistics, exports, the audit log."""

from __future__ import annotations

from typing import Any

from app.admins import schemas
from app.admins.schemas import AdminChanges, NewAdmin, PersonChanges
from app.admins.service import admins, exports, overview, relations, users
from app.caregivers import schemas as caregiver_schemas
from app.caregivers import service as caregivers
from app.core.exports import streaming
from app.core.web.blueprint import Blueprint, MessageSchema
from app.core.web.pagination import Page, PageSchema, Search, SearchSchema
from app.identity import audit
from app.identity import schemas as identity_schemas
from app.identity.access import caller, requires
from app.identity.models import RoleName

bp = Blueprint("admins", __name__, url_prefix="/admins", description="People, relations, statistics, exports, audit")

# --- administrators -------------------------------------------------------------------------------------------------


@bp.get("")
@requires(RoleName.ADMIN)
@bp.arguments(SearchSchema, location="query")
@bp.response(200, identity_schemas.Account(many=True))
def list_admins(search: Search) -> Any:
    """All administrators."""
    return admins.admins(search.page, search.q)


@bp.post("")
@requires(RoleName.ADMIN)
@bp.arguments(schemas.AdminCreate, location="multipart")
@bp.response(201, identity_schemas.Account)
@bp.alt_response(409, "CONFLICT")
def create_admin(data: NewAdmin) -> Any:
    """Add an administrator; without a username one is made from the e-mail."""
    return admins.create_admin(data, by=caller)


@bp.get("/<username>")
@requires(RoleName.ADMIN)
@bp.response(200, identity_schemas.Account)
def get_admin(username: str) -> Any:
    """One administrator, by username."""
    return admins.admin_named(username)


@bp.put("/<int:user_id>")
@requires(RoleName.ADMIN)
@bp.arguments(schemas.AdminUpdate, location="multipart")
@bp.response(200, identity_schemas.Account)
@bp.alt_response(409, "CONFLICT")
def edit_admin(data: AdminChanges, user_id: int) -> Any:
    """Change an administrator; what is not sent stays."""
    return admins.edit_admin(user_id, data, by=caller)


@bp.delete("/<int:user_id>")
@requires(RoleName.ADMIN)
@bp.response(200, MessageSchema)
@bp.alt_response(409, "CONFLICT")
def delete_admin(user_id: int) -> dict[str, str]:
    """Delete an administrator, but neither oneself nor the last one."""
    admins.delete_admin(user_id, by=caller)
    return {"message": "Administrator dihapus."}


# --- users ----------------------------------------------------------------------------------------------------------


@bp.get("/users")
@requires(RoleName.ADMIN)
@bp.arguments(SearchSchema, location="query")
@bp.response(200, identity_schemas.Account(many=True))
def list_users(search: Search) -> Any:
    """Everybody; `q` looks into username, name, e-mail and phone number, and counts up to 10,000 that it finds."""
    return users.people(search.page, search.q)


@bp.get("/users/<int:user_id>")
@requires(RoleName.ADMIN)
@bp.response(200, identity_schemas.User)
def get_user(user_id: int) -> Any:
    """One person, NIK decrypted; that it was looked at goes into the audit log."""
    return users.person(user_id, by=caller)


@bp.put("/users/<int:user_id>")
@requires(RoleName.ADMIN)
@bp.arguments(schemas.UserUpdate)
@bp.response(200, identity_schemas.Account)
@bp.alt_response(409, "CONFLICT")
def change_user(data: PersonChanges, user_id: int) -> Any:
    """Verify a person, or replace their roles."""
    return users.change_person(user_id, data, by=caller)


# --- caregivers and patients ----------------------------------------------------------------------------------------


@bp.get("/caregiver-patient/all")
@requires(RoleName.ADMIN)
@bp.arguments(SearchSchema, location="query")
@bp.response(200, schemas.Relation(many=True))
def list_relations(search: Search) -> Any:
    """All links between caregivers and patients."""
    return relations.relations(search.page, search.q)


@bp.get("/caregiver-patient")
@requires(RoleName.ADMIN)
@bp.arguments(schemas.CaregiverQuery, location="query")
@bp.arguments(PageSchema, location="query")
@bp.response(200, caregiver_schemas.LinkedPerson(many=True))
def patients_of(query: dict[str, int], page: Page) -> Any:
    """The patients of one caregiver."""
    return caregivers.list_patients(query["caregiver_id"], page)


@bp.post("/caregiver-patient")
@requires(RoleName.ADMIN)
@bp.arguments(schemas.LinkCreate)
@bp.response(201, caregiver_schemas.Link)
@bp.alt_response(200, schema=caregiver_schemas.Link, description="The link existed already", success=True)
@bp.alt_response(404, "NOT_FOUND")
def link(data: dict[str, int]) -> Any:
    """Link a caregiver and a patient."""
    link, is_new = caregivers.create(**data)
    return link, 201 if is_new else 200


@bp.delete("/caregiver-patient")
@requires(RoleName.ADMIN)
@bp.arguments(schemas.LinkCreate)
@bp.response(200, MessageSchema)
@bp.alt_response(404, "NOT_FOUND")
def unlink(data: dict[str, int]) -> dict[str, str]:
    """Cut the link between a caregiver and a patient."""
    relations.cut(**data, by=caller)
    return {"message": "Hubungan dihapus."}


# --- statistics -----------------------------------------------------------------------------------------------------


@bp.get("/overview")
@requires(RoleName.ADMIN)
@bp.arguments(schemas.RangeQuery, location="query")
@bp.response(200, schemas.Overview)
def get_overview(query: dict[str, Any]) -> Any:
    """Totals, provinces, growth, activity and categories; the last 30 days by default, ten years at most."""
    return overview.overview(**query)


# --- exports --------------------------------------------------------------------------------------------------------


@bp.get("/export/<report>")
@requires(RoleName.ADMIN)
@bp.arguments(schemas.ExportQuery, location="query")
@bp.response(200, {"type": "string", "format": "binary"}, content_type="text/csv")
def export(query: dict[str, Any], report: str) -> Any:
    """Download a report (users, admins, activity-logs, domicile) as csv, xlsx or pdf (at most 5,000 rows)."""
    return streaming.download_response(exports.export(report, caller, **query))


# --- audit ----------------------------------------------------------------------------------------------------------


@bp.get("/audit")
@requires(RoleName.ADMIN)
@bp.arguments(schemas.AuditSearchSchema, location="query")
@bp.response(200, schemas.AuditEntry(many=True))
def list_audit(search: schemas.AuditSearch) -> Any:
    """Who looked at a NIK, exported, changed roles or deleted; statements of the SQL console for super-admins alone."""
    return audit.entries(caller, search.page, q=search.q, action=search.action)
