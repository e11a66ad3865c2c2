"""Strict parser for JSON, multipart forms and query strings.

Invalid input gives 400 with the common error body. Spaces around strings are removed, except in passwords. The parser
rejects texts that PostgreSQL cannot store (NUL, lone surrogates), and very deep nesting.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NoReturn, TypeVar

import orjson
from flask import Request
from marshmallow import EXCLUDE, Schema, ValidationError, fields
from webargs.core import missing
from webargs.flaskparser import FlaskParser
from werkzeug.datastructures import FileStorage, MultiDict

from app.core.errors import BadRequest, ValidationFailed

MAX_JSON_BYTES = 1024 * 1024
MAX_MULTIPART_BYTES = 10 * 1024 * 1024
MAX_DEPTH = 32

T = TypeVar("T")

PASSWORDS = frozenset({"password", "new_password", "current_password"})
FORM_TYPES = frozenset({"multipart/form-data", "application/x-www-form-urlencoded"})


NO_FILE = "pilih berkas."
UNSTORABLE_TEXT = "Teks mengandung karakter yang tidak diizinkan."

#: A character of a surrogate pair, as JSON writes it. orjson refuses half of a pair.
SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


class Upload(fields.Field[object]):
    """An uploaded picture, loaded as a binary stream.

    With `repeats`, a client may send the address of the current picture as text instead of a new picture. The picture
    then stays unchanged.
    """

    default_error_messages = {"invalid": NO_FILE}  # noqa: RUF012  # marshmallow reads a plain dict

    def __init__(self, *, repeats: bool = False, **kwargs: Any) -> None:
        limits = "JPEG (up to 40 megapixels), PNG or WebP (up to 24), at most 5 MB"
        kwargs.setdefault("metadata", {"type": "string", "format": "binary", "description": limits})
        super().__init__(**kwargs)
        self._repeats = repeats

    def _deserialize(self, value: object, *_: object, **__: object) -> object:
        if self._repeats and isinstance(value, str):
            return value
        if not isinstance(value, FileStorage):
            raise self.make_error("invalid")
        return value.stream


class JsonText(fields.Field[object]):
    """Any JSON value. In a form, the field is a string that contains JSON."""


class Parser(FlaskParser):
    """webargs' parser with the body rules and status codes of this service.

    The additional location `multipart` accepts a form or JSON.
    """

    DEFAULT_VALIDATION_STATUS = 400
    DEFAULT_UNKNOWN_BY_LOCATION = dict.fromkeys(
        ("json", "multipart", "query", "path", "headers", "cookies", "form", "files"), EXCLUDE
    )

    def __init__(self) -> None:
        super().__init__()
        self.__location_map__ = {**self.__location_map__, "multipart": self.load_multipart}

    def load_json(self, req: Request, schema: Schema) -> object:
        body = req.get_data(cache=True)
        return clean(parse_json(body)) if body.strip() else missing

    def load_multipart(self, req: Request, schema: Schema) -> object:
        if req.mimetype not in FORM_TYPES:
            return self.load_json(req, schema)
        return clean(_from_form(req.form, req.files, schema))

    def load_querystring(self, req: Request, schema: Schema) -> object:
        # A form sends an empty text for an input that the user left blank. Otherwise the first value of a name counts.
        sent = list(clean(req.args).items(multi=True))
        return {name: value for name, value in reversed(sent) if value}

    def handle_error(
        self,
        error: ValidationError,
        req: Request,
        schema: Schema,
        *,
        error_status_code: int | None,
        error_headers: object,
    ) -> NoReturn:
        # webargs groups the error messages by location. Clients need only the name of the field.
        (messages,) = error.messages_dict.values()
        raise ValidationFailed(messages) from None


def parse_json(body: bytes | str) -> object:
    """Parse JSON. If an object names a key twice, the last value counts.

    Raise `BadRequest`: `invalid_text` for half of a surrogate pair, `invalid_json` for all else that is invalid.
    """
    try:
        value: object = orjson.loads(body)
    except orjson.JSONDecodeError:
        if SURROGATE.search(body if isinstance(body, str) else body.decode("latin-1")):
            raise BadRequest(UNSTORABLE_TEXT, code="invalid_text") from None
        raise BadRequest("JSON tidak valid.", code="invalid_json") from None
    if _too_deep(value):
        raise BadRequest(f"JSON bersarang lebih dari {MAX_DEPTH} tingkat.", code="invalid_json")
    return value


def clean(value: T, key: str = "") -> T:
    """Return the value without spaces around its strings.

    Raise `BadRequest` for a text that PostgreSQL cannot store.
    """
    match value:
        case str():
            if "\0" in value or not _is_unicode(value):
                raise BadRequest(UNSTORABLE_TEXT, code="invalid_text")
            return value if key in PASSWORDS else value.strip()  # type: ignore[return-value]
        case MultiDict():
            pairs = [(clean(name), clean(item, name)) for name, item in value.items(multi=True)]
            return MultiDict(pairs)  # type: ignore[return-value]
        case Mapping():
            return {clean(name): clean(item, name) for name, item in value.items()}  # type: ignore[return-value]
        case list():
            return [clean(item, key) for item in value]  # type: ignore[return-value]
        case _:
            return value


def _from_form(form: MultiDict[str, str], files: MultiDict[str, FileStorage], schema: Schema) -> dict[str, object]:
    """Convert a form to the equivalent JSON.

    In the form, an array is a repeated field or one JSON array. An object is a string that contains JSON.
    """
    data: dict[str, object] = {}
    for name, field in schema.load_fields.items():
        key = field.data_key or name
        if isinstance(field, Upload):
            upload = files.get(key)
            # If the user selects no file, a browser sends a part without a file name. Ignore this part.
            if upload is not None and upload.filename:
                data[key] = upload
            elif form.get(key):
                data[key] = form[key]
        elif form.get(key) == "" and key in PASSWORDS and not field.required:
            continue  # a browser also sends a password input that the user left blank
        elif key in form:
            data[key] = _form_value(form.getlist(key), field)
    return data


def _form_value(values: list[str], field: fields.Field[object]) -> object:
    first = values[0].strip()
    if isinstance(field, fields.List):
        return parse_json(first) if len(values) == 1 and first.startswith("[") else [v for v in values if v.strip()]
    if isinstance(field, (fields.Nested, fields.Dict, JsonText)):
        return parse_json(first) if first else None
    return values[0]


def _too_deep(value: object) -> bool:
    level = [value]
    for _ in range(MAX_DEPTH):
        level = [
            item
            for node in level
            if isinstance(node, (dict, list))
            for item in (node.values() if isinstance(node, dict) else node)
            if isinstance(item, (dict, list))
        ]
        if not level:
            return False
    return True


def _is_unicode(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
