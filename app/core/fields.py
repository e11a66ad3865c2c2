"""Marshmallow fields that several sections share. They check shape and never touch the database."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from marshmallow import fields, validate

from app.core.clock import rfc3339


class Timestamp(fields.AwareDateTime):
    """RFC 3339 with a zone in; UTC with `Z` out."""

    default_error_messages = {  # noqa: RUF012  # marshmallow reads a plain dict
        "invalid": "harus berupa waktu RFC 3339, misalnya 2026-03-02T00:00:00Z.",
        "invalid_awareness": "harus menyebut zona waktu.",
    }

    def __init__(self, **kwargs: Any) -> None:
        kwargs.setdefault("metadata", {"example": "2026-03-02T00:00:00Z"})
        super().__init__(format="iso", **kwargs)

    def _serialize(self, value: datetime | None, attr: str | None, obj: Any, **_: Any) -> str | None:  # noqa: ARG002
        return None if value is None else rfc3339(value)


class RecordId(fields.Integer):
    """An identifier: a positive integer that a column can hold."""

    def __init__(self, **kwargs: Any) -> None:
        kwargs.setdefault("metadata", {"example": 1})
        super().__init__(strict=True, validate=validate.Range(1, 2**63 - 1), **kwargs)


class Text(fields.String):
    """Text of a bounded length; a required one is not blank. `echoes` names an example for the documentation."""

    def __init__(
        self, maximum: int, *, minimum: int | None = None, example: str | None = None, **kwargs: Any
    ) -> None:
        low = minimum if minimum is not None else (1 if kwargs.get("required") else 0)
        if example is not None:
            kwargs["metadata"] = {**kwargs.get("metadata", {}), "example": example}
        super().__init__(validate=[validate.Length(low, maximum), *kwargs.pop("rules", [])], **kwargs)
