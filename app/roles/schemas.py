"""Request schemas of roles. The response schema is `app.identity.schemas.Role`."""

from __future__ import annotations

from marshmallow import Schema

from app.core.web.fields import Boolean, ListOf, RecordId, Text


class RoleCreate(Schema):
    name = Text(50, required=True, example="relawan")
    is_editable = Boolean(load_default=True)


class RoleUpdate(Schema):
    name = Text(50, minimum=1, required=True, example="relawan")
    is_editable = Boolean()


class RoleSelection(Schema):
    role_ids = ListOf(RecordId(), least=1, most=50, required=True, metadata={"example": [4]})
