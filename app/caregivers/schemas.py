"""Schemas of links between caregivers and patients."""

from __future__ import annotations

from marshmallow import Schema, fields, validate

from app.core.web.fields import ListOf, RecordId, Text, Timestamp, enumeration
from app.identity.care import Scope
from app.identity.schemas import Name, Person, PersonUpdate

SCOPES = [scope.value for scope in Scope]
SCOPE = {**enumeration("CareScope", SCOPES), "example": Scope.HISTORY}


class Scopes(fields.List[str]):
    """The scopes (rights) that a patient gives a caregiver."""

    def __init__(self) -> None:
        super().__init__(fields.String(validate=validate.OneOf(SCOPES), metadata=SCOPE))


class PatientLinkCreate(Schema):
    """A new link between the caller, who is the caregiver, and a patient."""

    patient_id = RecordId(required=True, metadata={"example": 12})


class ConsentUpdate(Schema):
    """The scopes (rights) that replace the caregiver's current ones."""

    scopes = ListOf(
        fields.String(validate=validate.OneOf(SCOPES), metadata=SCOPE),
        most=len(SCOPES),
        required=True,
        metadata={"description": "alerts: gets missed-dose alerts; history: reads history; manage: edits reminders"},
    )


class InvitationCreate(ConsentUpdate):
    """The scopes (rights) that the invited caregiver gets."""


class InvitationCode(Schema):
    code = Text(20, required=True, example="K7MP4WQX9R")


class Invitation(Schema):
    id = fields.Integer(metadata={"example": 3})
    scopes = Scopes()
    expires_at = Timestamp()


class InvitationCreated(Invitation):
    """A new invitation. Only this response contains the code, because the database stores only its hash."""

    code = fields.String(metadata={"example": "K7MP4WQX9R"})
    link = fields.String(metadata={"format": "uri", "example": "https://sehat.example.id/undangan?code=K7MP4WQX9R"})


class DependentCreate(Schema):
    """A person without a phone, whose account the caller will manage."""

    nama_ktp = Name(100, required=True, example="Ibu Siti", metadata={"description": "The name used in messages"})
    domicile = PersonUpdate().fields["domicile"]
    preferences = PersonUpdate().fields["preferences"]


class Dependent(Schema):
    id = fields.Integer(metadata={"example": 31})
    nama_ktp = fields.String(metadata={"example": "Ibu Siti"})
    created_at = Timestamp()


class Link(Schema):
    id = fields.Integer(metadata={"example": 9})
    caregiver_id = fields.Integer(metadata={"example": 7})
    patient_id = fields.Integer(metadata={"example": 12})
    created_at = Timestamp()


class ConsentedLink(Link):
    """A link between a caregiver and a patient, with the scopes (rights) that the patient gives."""

    scopes = Scopes()


class LinkedPerson(Person):
    """The other person of the caller's link, and the time when the link was created."""

    link_id = fields.Integer(metadata={"example": 9})
    linked_at = Timestamp()


class ConsentedPerson(LinkedPerson):
    """The other person of the caller's link, with the scopes (rights) that the patient gives."""

    scopes = Scopes()
