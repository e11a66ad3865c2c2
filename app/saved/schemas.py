"""Response schema of a save."""

from __future__ import annotations

from marshmallow import Schema, fields


class IsSaved(Schema):
    is_saved = fields.Boolean(metadata={"example": True})
