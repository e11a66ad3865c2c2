"""A log record, as loosely as clients send them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import orjson
from marshmallow import Schema, ValidationError, fields

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
        metadata={"example": example, "description": "Text; anything else is kept as its JSON text"},
    )


class LogSchema(Schema):
    """The named fields are text; whatever else is sent is kept beside them."""

    event_type = _field("click")
    event_name = _field("buka_artikel")
    screen_name = _field("Beranda")
    activity_description = _field("Membuka artikel tentang diabetes")
    session_id = _field("s-123")
    user_ip = _field("203.0.113.7")

    def load(self, data: Any, **_: Any) -> dict[str, Any]:
        """The record, its other fields in `extra`. This is the route that is called most: no machinery, one pass."""
        if not isinstance(data, Mapping):
            raise ValidationError({"_schema": ["harus berupa objek."]})
        if len(orjson.dumps(data)) > MAX_BYTES:
            raise ValidationError({"_schema": [f"paling besar {MAX_BYTES} byte."]})
        record: dict[str, Any] = dict.fromkeys(NAMED)
        extra: dict[str, Any] = {}
        for name, value in data.items():
            field = ALIASES.get(name, name)
            if field not in record:
                extra[name] = value
            elif record[field] is None or name == field:  # a field's own name counts before its aliases
                record[field] = _text(value)
        return {**record, "extra": extra}


class QueuedSchema(Schema):
    status = fields.String(metadata={"example": "queued"})


def _text(value: Any) -> str | None:
    """Numbers and objects in a text's place are kept as text: a log is not worth a refusal."""
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False)
