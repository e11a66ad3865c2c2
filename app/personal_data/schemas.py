"""Schemas of erasure and export."""

from __future__ import annotations

from marshmallow import Schema, fields, validate

from app.core.web.fields import Timestamp, enumeration
from app.identity.erasure import Posts
from app.identity.schemas import OwnPassword
from app.personal_data.models import ExportState


class Deletion(OwnPassword):
    forum = fields.String(
        required=True,
        validate=validate.OneOf(list(Posts)),
        metadata={
            "example": "anonymise",
            "description": "anonymise: posts stay without an author. delete: posts go with all replies below them",
        },
    )


class Deleted(Schema):
    message = fields.String(metadata={"example": "Akun Anda akan dihapus pada 9 Maret 2026."})
    due_at = Timestamp(metadata={"description": "A login before this time cancels the deletion"})


class Export(Schema):
    id = fields.Integer(metadata={"example": 3})
    status = fields.String(
        attribute="state", metadata={**enumeration("ExportStatus", ExportState), "example": "pending"}
    )
