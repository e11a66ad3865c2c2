"""Marshmallow fields that several sections use. They validate the format and never query the database."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from datetime import UTC, date, datetime
from typing import Any

from marshmallow import Schema, ValidationError, fields, pre_load, validate

from app.core.lib import provinces
from app.core.lib.geo import degrees
from app.core.lib.local_time import rfc3339

#: Years that are accepted in a date. Python itself accepts the years 1 to 9999. This range is smaller, because
#: calculations with a date near the limits of Python could overflow.
YEARS = range(1900, 9001)

#: Letters and symbols that are shown as blanks: Hangul fillers and the Braille blank.
BLANK = frozenset("\u115f\u1160\u2800\u3164\uffa0")

#: Validated fields of a schema, by name. An optional field may be missing.
Loaded = dict[str, Any]


class Boolean(fields.Boolean):
    """A boolean of a request. In a form or a query, it arrives as text. The base class also accepts 0 and 1."""

    def _deserialize(self, value: object, attr: str | None, data: Any, **kwargs: Any) -> bool:
        if not isinstance(value, (bool, str)):
            raise self.make_error("invalid", input=value)
        return super()._deserialize(value, attr, data, **kwargs)


class Timestamp(fields.AwareDateTime):
    """A time in RFC 3339 format with a timezone. It is loaded as UTC and written with `Z`."""

    default_error_messages = {  # noqa: RUF012  # marshmallow reads a plain dict
        "invalid": "tulis seperti 2026-03-02T00:00:00Z.",
        "invalid_awareness": "harus menyebut zona waktu, misalnya 2026-03-02T00:00:00Z.",
    }

    def __init__(self, **kwargs: Any) -> None:
        kwargs.setdefault("metadata", {"example": "2026-03-02T00:00:00Z"})
        super().__init__(format="iso", **kwargs)

    def _deserialize(self, value: object, attr: str | None, data: object, **kwargs: Any) -> datetime:
        try:
            # Convert to UTC, because PostgreSQL rejects UTC offsets beyond 15:59, which RFC 3339 allows.
            moment = super()._deserialize(value, attr, data, **kwargs).astimezone(UTC)
        except OverflowError:
            raise self.make_error("invalid", input=value) from None
        if moment.year not in YEARS:
            raise self.make_error("invalid", input=value)
        return moment

    def _serialize(self, value: datetime | None, attr: str | None, obj: object, **_: object) -> str | None:
        return None if value is None else rfc3339(value)


class AnyDay(fields.Date):
    """A date in the format `YYYY-MM-DD`."""

    def _deserialize(self, value: object, attr: str | None, data: object, **kwargs: Any) -> date:
        day = super()._deserialize(value, attr, data, **kwargs)
        if day.isoformat() != value:  # Python also accepts other ISO 8601 formats, such as 20260302
            raise self.make_error("invalid", input=value, obj_type=self.OBJ_TYPE)
        return day


class Day(AnyDay):
    """A date in the format `YYYY-MM-DD`, in a year of `YEARS`."""

    def _deserialize(self, value: object, attr: str | None, data: object, **kwargs: Any) -> date:
        day = super()._deserialize(value, attr, data, **kwargs)
        if day.year not in YEARS:
            raise self.make_error("invalid", input=value, obj_type=self.OBJ_TYPE)
        return day


class RecordId(fields.Integer):
    """The id of a record: a positive 64-bit integer. In a form or a query, the id arrives as text."""

    def __init__(self, **kwargs: Any) -> None:
        kwargs.setdefault("metadata", {"example": 1})
        super().__init__(validate=validate.Range(1, 2**63 - 1, error="tidak dikenal."), **kwargs)

    def _deserialize(self, value: object, attr: str | None, data: object, **kwargs: Any) -> int:
        # Reject floats, because the base class would cut off a fraction.
        if isinstance(value, float):
            raise self.make_error("invalid", input=value)
        return super()._deserialize(value, attr, data, **kwargs)


class Characters(validate.Length):
    """Validator for the number of characters. For an empty text, the error message does not mention the maximum."""

    def __call__(self, value: Any) -> Any:
        if self.min != 1:
            return super().__call__(value)
        return validate.Length(max=self.max)(validate.Length(1)(value))


def _check_visible(text: str) -> None:
    """Raise `ValidationError` if people can see none of the characters. `Characters` refuses an empty text."""
    if text and not any(unicodedata.category(each)[0] in "LNPS" and each not in BLANK for each in text):
        raise ValidationError("harus berisi huruf, angka atau tanda yang terlihat.")


class Text(fields.String):
    """A text with a maximum length. A required text needs a visible character.

    `example` appears in the API documentation.
    """

    def __init__(self, maximum: int, *, minimum: int | None = None, example: str | None = None, **kwargs: Any) -> None:
        low = minimum if minimum is not None else (1 if kwargs.get("required") else 0)
        if example is not None:
            kwargs["metadata"] = {**kwargs.get("metadata", {}), "example": example}
        visible = [_check_visible] if low else []
        super().__init__(validate=[Characters(low, maximum), *visible, *kwargs.pop("rules", [])], **kwargs)


class Items(validate.Length):
    """Validator for the number of list items. marshmallow's own `Length` would mention characters in its messages."""

    message_min = "harus berjumlah minimal {min}."
    message_max = "harus berjumlah maksimal {max}."
    message_all = "harus berjumlah {min} sampai {max}."


class ListOf(fields.List[Any]):
    """A list of `least` to `most` items.

    A list that is too long is rejected before its items are validated. marshmallow would check the length last: a 1 MB
    list of 200,000 invalid items took 6 s.
    """

    def __init__(self, item: fields.Field[Any], *, most: int, least: int | None = None, **kwargs: Any) -> None:
        self._length = Items(least, most)
        super().__init__(item, validate=[self._length, *kwargs.pop("rules", [])], **kwargs)

    def _deserialize(self, value: object, attr: str | None, data: Any, **kwargs: Any) -> Any:
        if isinstance(value, list):
            self._length(value)
        return super()._deserialize(value, attr, data, **kwargs)


def enumeration(name: str, values: Iterable[str]) -> dict[str, object]:
    """Return field metadata that gives an enumeration a name in the OpenAPI document.

    Clients then have one type for this enumeration.
    """
    return {"title": name, "enum": list(values)}


class ProvinceName(fields.String):
    """One of the 38 provinces, in a response."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(metadata={**enumeration("Province", provinces.PROVINCES), "example": "Jawa Barat"}, **kwargs)


class Province(fields.String):
    """One of the 38 provinces, in a request. All common spellings are accepted and replaced by the official one."""

    default_error_messages = {"invalid": "harus salah satu provinsi di Indonesia."}  # noqa: RUF012

    def __init__(self, **kwargs: Any) -> None:
        kwargs.setdefault(
            "metadata", {"example": "Jawa Barat", "description": "Any usual spelling, see GET /provinces"}
        )
        super().__init__(**kwargs)

    def _deserialize(self, value: object, *args: object, **kwargs: Any) -> str:
        text = super()._deserialize(value, *args, **kwargs)
        province = provinces.canonical(text) if len(text) <= 100 else None
        if province is None:
            raise self.make_error("invalid")
        return province


class Form(Schema):
    """A schema for forms. An empty input becomes null if the field allows null."""

    @pre_load
    def blank_is_null(self, data: object, **_: object) -> object:
        if not isinstance(data, dict):
            return data
        fields_of = {field.data_key or name: field for name, field in self.load_fields.items()}
        return {
            name: None if value == "" and name in fields_of and fields_of[name].allow_none else value
            for name, value in data.items()
        }


class Degrees(fields.Field[float]):
    """Latitude or longitude: a finite number from -`limit` to `limit`, or the same number as text."""

    default_error_messages = {"invalid": "isi dengan derajat dari -{limit} sampai {limit}."}  # noqa: RUF012

    def __init__(self, limit: int, *, example: float, **kwargs: Any) -> None:
        described = {"type": "number", "minimum": -limit, "maximum": limit, "example": example}
        super().__init__(metadata=described, **kwargs)
        self.limit = limit

    def _serialize(self, value: float | None, *_: object, **__: object) -> float | None:
        return value

    def _deserialize(self, value: object, *_: object, **__: object) -> float:
        try:
            return degrees(value, self.limit)
        except ValueError:
            raise self.make_error("invalid", limit=self.limit) from None


class PositionSchema(Schema):
    """Position of the caller, as query parameters of the `nearby` routes."""

    lat = Degrees(90, required=True, example=-6.88)
    lng = Degrees(180, required=True, example=107.55)
