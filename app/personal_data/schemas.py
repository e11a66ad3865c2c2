"""What the routes of people's own data take and return."""

from __future__ import annotations

from marshmallow import Schema, fields, validate

from app.core.web.fields import enumeration
from app.personal_data.models import ExportState


class OwnPassword(Schema):
    """A stolen session must not be enough."""

    password = fields.String(
        required=True, load_only=True, validate=validate.Length(1, 128), metadata={"format": "password"}
    )


class Export(Schema):
    id = fields.Integer(metadata={"example": 3})
    status = fields.String(
        attribute="state", metadata={**enumeration("ExportStatus", ExportState), "example": "pending"}
    )
