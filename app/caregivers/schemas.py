"""A caregiver-patient link, and the people at its other end."""

from __future__ import annotations

from marshmallow import Schema, fields, validate

from app.core.web.fields import ListOf, RecordId, Text, Timestamp, enumeration
from app.identity.care import Scope
from app.identity.schemas import Name, Person, PersonUpdate

SCOPES = [scope.value for scope in Scope]
SCOPE = {**enumeration("CareScope", SCOPES), "example": Scope.HISTORY}


class Scopes(fields.List[str]):
    """What a patient allows a caregiver, in a response."""

    def __init__(self) -> None:
        super().__init__(fields.String(validate=validate.OneOf(SCOPES), metadata=SCOPE))


class PatientLinkCreate(Schema):
    """The link that a caregiver creates: the caller is the other end."""

    patient_id = RecordId(required=True, metadata={"example": 12})


class ConsentUpdate(Schema):
    """What the patient allows from now on; what is not named is allowed no more."""

    scopes = ListOf(
        fields.String(validate=validate.OneOf(SCOPES), metadata=SCOPE),
        most=len(SCOPES),
        required=True,
        metadata={"description": "alerts: told of a missed dose; history: reads the history; manage: keeps reminders"},
    )


class InvitationCreate(ConsentUpdate):
    """What whoever takes the invitation will be allowed."""


class InvitationCode(Schema):
    code = Text(20, required=True, example="K7MP4WQX9R")


class Invitation(Schema):
    id = fields.Integer(metadata={"example": 3})
    scopes = Scopes()
    expires_at = Timestamp()


class CodeCreated(Schema):
    """The code is kept as a hash: it is told here and nowhere else."""

    code = fields.String(metadata={"example": "K7MP4WQX9R"})
    link = fields.String(
        allow_none=True,
        metadata={
            "format": "uri",
            "example": "https://sehat.example.id/undangan/K7MP4WQX9R",
            "description": "null where the service has no public address",
        },
    )


class InvitationCreated(CodeCreated, Invitation):
    """A new invitation with its code."""


class DependentCreate(Schema):
    """Somebody without a phone, whose account the caller will keep."""

    nama_ktp = Name(100, required=True, example="Ibu Siti", metadata={"description": "As messages will name them"})
    domicile = PersonUpdate().fields["domicile"]
    preferences = PersonUpdate().fields["preferences"]


class Dependent(Schema):
    id = fields.Integer(metadata={"example": 31})
    nama_ktp = fields.String(metadata={"example": "Ibu Siti"})
    created_at = Timestamp()


class Handover(CodeCreated):
    expires_at = Timestamp()


class Link(Schema):
    id = fields.Integer(metadata={"example": 9})
    caregiver_id = fields.Integer(metadata={"example": 7})
    patient_id = fields.Integer(metadata={"example": 12})
    created_at = Timestamp()


class ConsentedLink(Link):
    """A link, and what the patient allows by it."""

    scopes = Scopes()


class LinkedPerson(Person):
    """A person at the other end of a link, and since when."""

    link_id = fields.Integer(metadata={"example": 9})
    linked_at = Timestamp()


class ConsentedPerson(LinkedPerson):
    """A person at the other end of an own link, and what the patient allows the caregiver."""

    scopes = Scopes()
