"""Routes of caregiver-patient links, their scopes, invitations and dependents."""

from __future__ import annotations

from app.caregivers import dependents, invitations, schemas, service
from app.caregivers.models import Invitation
from app.caregivers.service import LinkedPerson
from app.core.errors import NotFound
from app.core.web.blueprint import Blueprint, MessageSchema
from app.core.web.fields import Loaded
from app.core.web.idempotency import secret_answer
from app.core.web.pagination import Listing, Page, PageSchema, Search, SearchSchema
from app.core.web.rate_limits import limit
from app.identity import schemas as identity_schemas
from app.identity.access import authenticated, by_caller, caller, requires
from app.identity.care import CaregiverLink
from app.identity.models import RoleName, User

bp = Blueprint("caregivers", __name__, description="Links between caregivers (pendamping) and patients (pasien)")


@bp.post("/caregiver/patients")
@requires(RoleName.PENDAMPING)
@limit("100 per hour; 200 per day", key=by_caller)  # limited, because each new link sends a message to the patient
@bp.arguments(schemas.PatientLinkCreate)
@bp.response(201, schemas.Link)
@bp.alt_response(200, schema=schemas.Link, description="The link existed already", success=True)
def create_link(data: Loaded) -> tuple[CaregiverLink, int]:
    """Link a patient to the caller, who is a caregiver.

    The response is 403 `invitation_needed` if the patient deleted an earlier link.
    """
    link, is_new = service.create(caller.id, data["patient_id"], uninvited=True)
    return link, 201 if is_new else 200


@bp.get("/caregiver/patients")
@authenticated
@bp.arguments(PageSchema, location="query")
@bp.response(200, schemas.ConsentedPerson(many=True))
def list_own_patients(page: Page) -> Listing[LinkedPerson]:
    """List the caller's patients."""
    return service.list_patients(caller.id, Search(page))


@bp.delete("/caregiver/patients/<int:other_id>")
@authenticated
@bp.response(200, MessageSchema)
def delete_link(other_id: int) -> dict[str, str]:
    """Delete a link. A caregiver gives the patient's id, and a patient gives the caregiver's id."""
    service.delete_own(caller.id, other_id)
    return {"message": "Hubungan dihapus."}


@bp.get("/patient/caregivers")
@authenticated
@bp.arguments(PageSchema, location="query")
@bp.response(200, schemas.ConsentedPerson(many=True))
def list_own_caregivers(page: Page) -> Listing[LinkedPerson]:
    """List the caller's caregivers."""
    return service.list_caregivers(caller.id, page)


@bp.put("/patient/caregivers/<int:caregiver_id>")
@authenticated
@bp.arguments(schemas.ConsentUpdate)
@bp.response(200, schemas.ConsentedPerson)
def update_consent(data: Loaded, caregiver_id: int) -> LinkedPerson:
    """Replace the scopes of a caregiver of the caller. Removed scopes end immediately."""
    return service.update_scopes(caller.id, caregiver_id, data["scopes"])


# --- invitations ----------------------------------------------------------------------------------------------------


@bp.post("/patient/invitations")
@requires(RoleName.PASIEN)
@secret_answer
@limit("20 per day", key=by_caller)
@bp.arguments(schemas.InvitationCreate)
@bp.response(201, schemas.InvitationCreated)
def create_invitation(data: Loaded) -> dict[str, object]:
    """Create an invitation to become the caller's caregiver: a code and a link, for one person and seven days.

    The invitation also ends with the session that created it.
    """
    return invitations.create(caller, data["scopes"])


@bp.get("/patient/invitations")
@authenticated
@bp.arguments(PageSchema, location="query")
@bp.response(200, schemas.Invitation(many=True))
def list_invitations(page: Page) -> Listing[Invitation]:
    """List the caller's open invitations."""
    return invitations.list_open(caller.id, page)


@bp.delete("/patient/invitations/<int:invitation_id>")
@authenticated
@bp.response(204)
def delete_invitation(invitation_id: int) -> None:
    """Delete an invitation."""
    invitations.delete(caller.id, invitation_id)


@bp.post("/caregiver/invitations")
@requires(RoleName.PENDAMPING)
@limit("10 per 5 minutes; 50 per day", key=by_caller, counts=NotFound)
@bp.arguments(schemas.InvitationCode)
@bp.response(201, schemas.ConsentedLink)
@bp.alt_response(200, schema=schemas.ConsentedLink, description="The link existed already", success=True)
def redeem_invitation(data: dict[str, str]) -> tuple[CaregiverLink, int]:
    """Accept an invitation by its code, and become a caregiver of the patient who sent it.

    The response is 404 if the code is unknown, used or expired.
    """
    link, is_new = invitations.redeem(caller.id, data["code"])
    return link, 201 if is_new else 200


# --- dependents -----------------------------------------------------------------------------------------------------


@bp.post("/caregiver/dependents")
@requires(RoleName.PENDAMPING)
@limit("20 per day", key=by_caller)
@bp.arguments(schemas.DependentCreate)
@bp.response(201, schemas.Dependent)
def create_dependent(data: Loaded) -> User:
    """Create an account for a person without a phone. The caller manages the account and gets its reminders.

    At most five such accounts are allowed.
    """
    return dependents.create(caller, data)


@bp.get("/caregiver/dependents")
@requires(RoleName.PENDAMPING)
@bp.arguments(PageSchema, location="query")
@bp.response(200, schemas.Dependent(many=True))
def list_dependents(page: Page) -> Listing[User]:
    """List the people without a phone whose accounts the caller manages."""
    return dependents.list_own(caller.id, page)


# --- people ---------------------------------------------------------------------------------------------------------


@bp.get("/patients")
@authenticated
@bp.arguments(SearchSchema, location="query")
@bp.response(200, identity_schemas.Person(many=True))
def list_patients(search: Search) -> Listing[User]:
    """List all users with the role pasien. The total stops at 10,000; `q` searches username and name."""
    return service.list_with_role(RoleName.PASIEN, search)


@bp.get("/caregivers")
@authenticated
@bp.arguments(SearchSchema, location="query")
@bp.response(200, identity_schemas.Person(many=True))
def list_caregivers(search: Search) -> Listing[User]:
    """List all users with the role pendamping. The total stops at 10,000; `q` searches username and name."""
    return service.list_with_role(RoleName.PENDAMPING, search)
