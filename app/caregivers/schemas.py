"""A caregiver-patient link, and the people at its other end."""

from __future__ import annotations

from typing import TypedDict

from marshmallow import Schema, fields

from app.core.web.fields import RecordId, Timestamp
from app.identity.schemas import Person


class NewPatientLink(TypedDict):
    patient_id: int


class PatientLinkCreate(Schema):
    """The link that a caregiver creates: the caller is the other end."""

    patient_id = RecordId(required=True, metadata={"example": 12})


class Link(Schema):
    id = fields.Integer(metadata={"example": 9})
    caregiver_id = fields.Integer(metadata={"example": 7})
    patient_id = fields.Integer(metadata={"example": 12})
    created_at = Timestamp()


class LinkedPerson(Person):
    """A person at the other end of a link, and since when."""

    link_id = fields.Integer(metadata={"example": 9})
    linked_at = Timestamp()
