"""What the routes of people's own data take and return."""

from __future__ import annotations

from marshmallow import Schema, fields, validate

from app.core.web.fields import Characters, Timestamp, enumeration
from app.identity.erasure import Posts
from app.personal_data.models import ExportState


class OwnPassword(Schema):
    """A stolen session must not be enough."""

    password = fields.String(
        required=True, load_only=True, validate=Characters(1, 128), metadata={"format": "password"}
    )


class Deletion(OwnPassword):
    forum = fields.String(
        required=True,
        validate=validate.OneOf(list(Posts)),
        metadata={
            "example": "anonymise",
            "description": "What becomes of posts: they read as written by nobody, or go with all replies below them",
        },
    )


class Deleted(Schema):
    message = fields.String(metadata={"example": "Akun Anda akan dihapus pada 9 Maret 2026."})
    due_at = Timestamp(metadata={"description": "Until then a login takes it back"})


class DependentDeleted(Schema):
    message = fields.String(metadata={"example": "Akun ini akan dihapus pada 9 Maret 2026."})
    due_at = Timestamp(metadata={"description": "Until then it can be restored"})


class Export(Schema):
    id = fields.Integer(metadata={"example": 3})
    status = fields.String(
        attribute="state", metadata={**enumeration("ExportStatus", ExportState), "example": "pending"}
    )
