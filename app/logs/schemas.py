"""Request and response schemas of log records. Fields of a wrong type are accepted and stored as text."""

from __future__ import annotations

import json
from collections.abc import Mapping

import orjson
from marshmallow import Schema, ValidationError, fields

from app.core.lib.sentences import UNFIT

MAX_BYTES = 8 * 1024
ALIASES = {
    "activity": "activity_description",
    "description": "activity_description",
    "ip": "user_ip",
    "ip_address": "user_ip",
}
NAMED = ("event_type", "event_name", "screen_name", "activity_description", "session_id", "user_ip")


def _field(example: str) -> fields.Raw:
    return fields.Raw(
        allow_none=True,
        metadata={
            "anyOf": [
                {"type": "string"},
                {"type": ["number", "boolean"]},
                {"type": "object", "additionalProperties": {}},
                {"type": "array", "items": {}},
                {"type": "null"},
            ],
            "example": example,
            "description": "Text. Any other type is stored as JSON text",
        },
    )


class LogCreate(Schema):
    """A log record. The named fields are text, and all other fields are stored in `extra`."""

    event_type = _field("click")
    event_name = _field("buka_artikel")
    screen_name = _field("Beranda")
    activity_description = _field("Membuka artikel tentang diabetes")
    session_id = _field("s-123")
    user_ip = _field("203.0.113.7")

    def load(self, data: object, **_: object) -> dict[str, object]:
        """Read a record in one pass, without marshmallow's fields, because this route is called most often.

        Each field of `NAMED` is a text or None. All other fields are in the object `extra`.
        """
        if not isinstance(data, Mapping):
            raise ValidationError({"_schema": [UNFIT]})
        if len(orjson.dumps(data)) > MAX_BYTES:
            raise ValidationError({"_schema": [f"maksimal {MAX_BYTES} byte."]})
        record: dict[str, str | None] = dict.fromkeys(NAMED)
        extra: dict[str, object] = {}
        for name, value in data.items():
            field = ALIASES.get(name, name)
            if field not in record:
                extra[name] = value
            elif record[field] is None or name == field:  # a field's own name wins over its aliases
                record[field] = _text(value)
        return {**record, "extra": extra}


class LogStatus(Schema):
    status = fields.String(metadata={"enum": ["queued"], "example": "queued"})


def _text(value: object) -> str | None:
    """Return text as it is, and anything else as JSON text. Wrong types do not reject a record."""
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False)
