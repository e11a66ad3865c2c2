"""Caregiver-patient links."""

from __future__ import annotations

from typing import Any

from app.caregivers import schemas, service
from app.core.web.blueprint import Blueprint, MessageSchema
from app.core.web.pagination import Page, PageSchema
from app.identity import schemas as identity_schemas
from app.identity.access import authenticated, caller, requires
from app.identity.models import RoleName

bp = Blueprint("caregivers", __name__, description="Links between caregivers (pendamping) and patients (pasien)")


@bp.post("/caregiver/patients")
@requires(RoleName.PENDAMPING)
@bp.arguments(schemas.PatientLinkCreate)
@bp.response(201, schemas.Link)
@bp.alt_response(200, schema=schemas.Link, description="The link existed already", success=True)
@bp.alt_response(404, "NOT_FOUND")
def link_patient(data: dict[str, int]) -> Any:
    """Link a patient to the caller."""
    link, is_new = service.link(caller.id, data["patient_id"])
    return link, 201 if is_new else 200


@bp.get("/caregiver/patients")
@authenticated
@bp.arguments(PageSchema, location="query")
@bp.response(200, schemas.LinkedPerson(many=True))
def my_patients(page: Page) -> Any:
    """The caller's patients."""
    return service.patients_of(caller.id, page)


@bp.delete("/caregiver/patients/<int:other_id>")
@authenticated
@bp.response(200, MessageSchema)
def cut_link(other_id: int) -> dict[str, str]:
    """Cut a link: a caregiver names the patient, a patient the caregiver."""
    service.cut(caller.id, other_id)
    return {"message": "Hubungan dihapus."}


@bp.get("/patient/caregivers")
@authenticated
@bp.arguments(PageSchema, location="query")
@bp.response(200, schemas.LinkedPerson(many=True))
def my_caregivers(page: Page) -> Any:
    """The caller's caregivers."""
    return service.caregivers_of(caller.id, page)


@bp.get("/patients")
@authenticated
@bp.arguments(PageSchema, location="query")
@bp.response(200, identity_schemas.Person(many=True))
def patients(page: Page) -> Any:
    """Everybody with the role pasien."""
    return service.people_with_role(RoleName.PASIEN, page)


@bp.get("/caregivers")
@authenticated
@bp.arguments(PageSchema, location="query")
@bp.response(200, identity_schemas.Person(many=True))
def caregivers(page: Page) -> Any:
    """Everybody with the role pendamping."""
    return service.people_with_role(RoleName.PENDAMPING, page)
