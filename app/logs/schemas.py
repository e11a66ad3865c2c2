"""A log record, as loosely as clients send them."""

from __future__ import annotations

import json
from collections.abc import Mapping

import orjson
from marshmallow import Schema, ValidationError, fields

from app.core.lib.sentences import UNFIT

#: The named fields, each with a text or None, and the others as an object in `extra`.
NewLog = Mapping[str, object]

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
            "description": "Text; anything else is kept as its JSON text",
        },
    )


class LogCreate(Schema):
    """The named fields are text; whatever else is sent is kept beside them."""

    event_type = _field("click")
    event_name = _field("buka_artikel")
    screen_name = _field("Beranda")
    activity_description = _field("Membuka artikel tentang diabetes")
    session_id = _field("s-123")
    user_ip = _field("203.0.113.7")

    def load(self, data: object, **_: object) -> NewLog:
        """Read a record in one pass; without marshmallow's fields, for no route is called more often."""
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
            elif record[field] is None or name == field:  # a field's own name counts before its aliases
                record[field] = _text(value)
        return {**record, "extra": extra}


class LogStatus(Schema):
    status = fields.String(metadata={"enum": ["queued"], "example": "queued"})


def _text(value: object) -> str | None:
    """Anything but text becomes its JSON text: a log record is not refused for its types."""
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False)
