"""A log record, as loosely as clients send them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from marshmallow import INCLUDE, Schema, ValidationError, fields, post_load, pre_load

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

    class Meta:
        unknown = INCLUDE

    event_type = _field("click")
    event_name = _field("buka_artikel")
    screen_name = _field("Beranda")
    activity_description = _field("Membuka artikel tentang diabetes")
    session_id = _field("s-123")
    user_ip = _field("203.0.113.7")

    @pre_load
    def read_loosely(self, data: Any, **_: Any) -> Any:
        if not isinstance(data, Mapping):
            return data
        if len(json.dumps(data, ensure_ascii=False).encode()) > MAX_BYTES:
            raise ValidationError(f"paling besar {MAX_BYTES} byte.")
        found = dict(data)
        for alias, name in ALIASES.items():
            if alias in found and found.get(name) is None:
                found[name] = found.pop(alias)
        return {name: _text(value) if name in NAMED else value for name, value in found.items()}

    @post_load
    def gather_extra(self, data: dict[str, Any], **_: Any) -> dict[str, Any]:
        named = {name: data.get(name) for name in NAMED}
        return {**named, "extra": {name: value for name, value in data.items() if name not in NAMED}}


class QueuedSchema(Schema):
    status = fields.String(metadata={"example": "queued"})


def _text(value: Any) -> str | None:
    """Numbers and objects in a text's place are kept as text: a log is not worth a refusal."""
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False)
