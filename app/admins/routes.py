"""Routes for administrators: users, caregiver links, statistics, exports and the audit log."""

from __future__ import annotations

from flask import Response

from app.admins import schemas
from app.admins.schemas import DayRange, ExportChoice, UserSearch
from app.admins.service import admins, exports, overview, relations, reminders, users
from app.admins.service.relations import Relation
from app.caregivers import schemas as caregiver_schemas
from app.caregivers import service as caregivers
from app.caregivers.service import LinkedPerson
from app.core.exports import streaming
from app.core.exports.streaming import MIMETYPES
from app.core.web.blueprint import Blueprint, MessageSchema
from app.core.web.fields import Loaded
from app.core.web.pagination import Listing, Search, SearchSchema
from app.identity import audit
from app.identity import schemas as identity_schemas
from app.identity.access import caller, requires
from app.identity.audit import AuditSearch
from app.identity.care import CaregiverLink
from app.identity.models import RoleName, User
from app.identity.own_password import limit_own_password
from app.identity.upload_limits import limit_admin_uploads

bp = Blueprint("admins", __name__, url_prefix="/admins", description="Users, links, statistics, exports, audit log")

# --- administrators -------------------------------------------------------------------------------------------------


@bp.get("")
@requires(RoleName.ADMIN)
@bp.arguments(SearchSchema, location="query")
@bp.response(200, schemas.UserRow(many=True))
def list_admins(search: Search) -> Listing[User]:
    """List all administrators."""
    return admins.list_all(search)


@bp.post("")
@requires(RoleName.ADMIN)
@limit_admin_uploads
@bp.arguments(schemas.AdminCreate, location="multipart")
@bp.response(201, identity_schemas.Account)
def create_admin(data: Loaded) -> User:
    """Create an administrator. Without a username, one is made from the e-mail."""
    return admins.create(data, by=caller)


@bp.get("/<username>")
@requires(RoleName.ADMIN)
@bp.response(200, identity_schemas.Account)
def get_admin(username: str) -> User:
    """Return an administrator by username."""
    return admins.get(username, by=caller)


@bp.put("/<int:user_id>")
@requires(RoleName.ADMIN)
@limit_own_password
@limit_admin_uploads
@bp.arguments(schemas.AdminUpdate, location="multipart")
@bp.response(200, identity_schemas.Account)
def update_admin(data: Loaded, user_id: int) -> User:
    """Update an administrator. Missing fields stay unchanged.

    Only super-admins change the password or phone number of another administrator. A staff account is an exception:
    an administrator created it, and it never had another role than admin.
    """
    return admins.update(user_id, data, by=caller)


@bp.delete("/<int:user_id>")
@requires(RoleName.ADMIN)
@bp.response(200, MessageSchema)
def delete_admin(user_id: int) -> dict[str, str]:
    """Delete an administrator. The response is 409 for the caller's own account and for the last administrator.

    Only a staff account is deleted. Any other account stays. It loses the administrator's roles and all sessions, and
    the message says so.
    """
    return {"message": admins.delete(user_id, by=caller)}


@bp.delete("/<int:user_id>/otp")
@requires(RoleName.ADMIN)
@limit_own_password
@bp.arguments(schemas.OtpRemove)
@bp.response(204)
def remove_admin_otp(data: dict[str, str], user_id: int) -> None:
    """Remove the second factor of a user who lost the phone and the recovery codes. Only for super-admins.

    The super-admin sends their own password. The user's sessions end, and a message informs the user. The response is
    409 for the caller's own second factor.
    """
    admins.remove_otp(user_id, **data, by=caller)


# --- users ----------------------------------------------------------------------------------------------------------


@bp.get("/users")
@requires(RoleName.ADMIN)
@bp.arguments(schemas.UserSearchSchema, location="query")
@bp.response(200, schemas.UserRow(many=True))
def list_users(search: UserSearch) -> Listing[User]:
    """List users, newest first. `q` searches username, name, e-mail and phone number.

    The total of a filtered list stops at 10,000.
    """
    return users.list_all(search)


@bp.get("/users/<int:user_id>")
@requires(RoleName.ADMIN)
@bp.response(200, identity_schemas.User)
def get_user(user_id: int) -> User:
    """Return a user with pseudonym and decrypted NIK. The audit log records the access."""
    return users.get(user_id, by=caller)


@bp.put("/users/<int:user_id>")
@requires(RoleName.ADMIN)
@bp.arguments(schemas.UserUpdate)
@bp.response(200, identity_schemas.Account)
def update_user(data: Loaded, user_id: int) -> User:
    """Verify a user, or replace their roles."""
    return users.update(user_id, data, by=caller)


@bp.delete("/users/<int:user_id>/sesi")
@requires(RoleName.ADMIN)
@bp.arguments(schemas.Reason)
@bp.response(204)
def end_user_sessions(data: dict[str, str], user_id: int) -> None:
    """End all sessions of a user, for example after a phone was lost. A message informs the user."""
    users.end_sessions(user_id, data["reason"], by=caller)


@bp.delete("/users/<int:user_id>/phone")
@requires(RoleName.ADMIN)
@bp.arguments(schemas.Reason)
@bp.response(200, identity_schemas.Account)
def free_phone(data: dict[str, str], user_id: int) -> User:
    """Remove the number from an account, so that its real owner can use it. The user sees the reason.

    The user's unfinished verifications and reset links are deleted, and pending messages to the number are cancelled.
    The response is 403 for a super-admin's number.
    """
    return users.free_phone(user_id, data["reason"], by=caller)


# --- caregivers and patients ----------------------------------------------------------------------------------------


@bp.get("/caregiver-patient/all")
@requires(RoleName.ADMIN)
@bp.arguments(SearchSchema, location="query")
@bp.response(200, schemas.Relation(many=True))
def list_relations(search: Search) -> Listing[Relation]:
    """List all links between caregivers and patients."""
    return relations.list_all(search)


@bp.get("/caregiver-patient")
@requires(RoleName.ADMIN)
@bp.arguments(schemas.CaregiverQuery, location="query")
@bp.arguments(SearchSchema, location="query")
@bp.response(200, caregiver_schemas.LinkedPerson(many=True))
def list_caregiver_patients(query: dict[str, int], search: Search) -> Listing[LinkedPerson]:
    """List the patients of a caregiver."""
    return caregivers.list_patients(query["caregiver_id"], search)


@bp.post("/caregiver-patient")
@requires(RoleName.ADMIN)
@bp.arguments(schemas.LinkCreate)
@bp.response(201, caregiver_schemas.Link)
@bp.alt_response(200, schema=caregiver_schemas.Link, description="The link existed already", success=True)
def create_relation(data: Loaded) -> tuple[CaregiverLink, int]:
    """Link a caregiver and a patient."""
    link, is_new = caregivers.create(**data)
    return link, 201 if is_new else 200


@bp.delete("/caregiver-patient")
@requires(RoleName.ADMIN)
@bp.arguments(schemas.LinkCreate)
@bp.response(200, MessageSchema)
def delete_relation(data: Loaded) -> dict[str, str]:
    """Delete the link between a caregiver and a patient."""
    relations.delete(**data, by=caller)
    return {"message": "Hubungan dihapus."}


# --- statistics -----------------------------------------------------------------------------------------------------


@bp.get("/overview")
@requires(RoleName.ADMIN)
@bp.arguments(schemas.RangeQuery, location="query")
@bp.response(200, schemas.Overview)
def get_overview(query: DayRange) -> dict[str, object]:
    """Return totals, provinces, growth, activity and categories. The default range is the last 30 days.

    The maximum range is ten years.
    """
    return overview.get(**query)


@bp.get("/overview/hari-ini")
@requires(RoleName.ADMIN)
@bp.response(200, schemas.Today)
def get_today() -> dict[str, object]:
    """Return the numbers of reminders since midnight in Jakarta, of patients and of unverified users."""
    return reminders.get_today()


# --- exports --------------------------------------------------------------------------------------------------------


@bp.get("/export/<report>", parameters=[schemas.REPORT])
@requires(RoleName.ADMIN)
@bp.arguments(schemas.ExportQuery, location="query")
@bp.response(200, streaming.FILE, content_type=MIMETYPES["csv"])
@bp.alt_response(200, schema=streaming.FILE, content_type=MIMETYPES["xlsx"])
@bp.alt_response(200, schema=streaming.FILE, content_type=MIMETYPES["pdf"])
def export_report(query: ExportChoice, report: str) -> Response:
    """Download a report (users, admins, activity-logs, domicile): xlsx or pdf for people, csv for programs.

    A pdf shows the first 5,000 rows and says how many there are.
    """
    return streaming.download_response(exports.export(report, caller, **query))


# --- audit ----------------------------------------------------------------------------------------------------------


@bp.get("/audit")
@requires(RoleName.ADMIN)
@bp.arguments(schemas.AuditSearchSchema, location="query")
@bp.response(200, schemas.AuditEntry(many=True))
def list_audit_entries(search: AuditSearch) -> Listing[audit.Entry]:
    """List audit entries: NIK and pseudonym reads, exports, role changes, deletions.

    Only super-admins see entries about SQL statements.
    """
    return audit.list_all(caller, search)
