"""What the role routes take."""

from __future__ import annotations

from marshmallow import Schema, fields, validate

from app.core.web.fields import RecordId, Text


class RoleCreate(Schema):
    name = Text(50, required=True, example="relawan")
    is_editable = fields.Boolean(load_default=True)


class RoleUpdate(Schema):
    name = Text(50, minimum=1, required=True, example="relawan")
    is_editable = fields.Boolean()


class RoleIds(Schema):
    role_ids = fields.List(RecordId(), required=True, validate=validate.Length(1, 50), metadata={"example": [4]})
