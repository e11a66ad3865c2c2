"""What the role routes take."""

from __future__ import annotations

from marshmallow import Schema, fields, validate

from app.core.web.fields import RecordId, Text


class RoleForm(Schema):
    name = Text(50, required=True, example="relawan")
    is_editable = fields.Boolean(load_default=True)


class RoleEdit(Schema):
    name = Text(50, minimum=1, required=True, example="relawan")
    is_editable = fields.Boolean()


class RoleIdsSchema(Schema):
    role_ids = fields.List(RecordId(), required=True, validate=validate.Length(1, 50), metadata={"example": [4]})
