"""Errors that services raise, and handlers that turn them into responses.

A service raises an error such as `Conflict` and never sets a status code. `message` is for people, `code` for programs.
"""

from __future__ import annotations

import errno
from collections.abc import Mapping
from http import HTTPStatus

import redis.exceptions
import sqlalchemy.exc
from flask import Flask, Response, current_app, g, json
from marshmallow import Schema, fields
from psycopg2 import errors as pg
from werkzeug.exceptions import HTTPException

from app.core.contact import ask_administrator
from app.core.error_codes import ERROR_CODES
from app.core.lib import sentences

#: Error messages by the dotted path of the field, such as `details.jadwal.0.jam`.
FieldErrors = Mapping[str, list[str]]

#: Operating-system errors: no space left, quota exceeded, file too large.
FULL_DISK = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})

#: Seconds in the `Retry-After` header when the database or the queue is unavailable.
RETRY_AFTER_S = 5


class AppError(Exception):
    """Base class of errors. A subclass sets `status` and `code`. `message` is one Indonesian sentence."""

    status: int = HTTPStatus.INTERNAL_SERVER_ERROR
    code = "internal_error"
    message = "Terjadi kesalahan pada layanan. Silakan coba lagi."

    def __init__(
        self,
        message: str | None = None,
        *,
        code: str | None = None,
        errors: FieldErrors | None = None,
        retry_after: int | None = None,
    ) -> None:
        self.message = message or self.message
        self.code = code or self.code
        self.errors = errors
        self.retry_after = retry_after
        #: Additional fields of the response body, such as `sqlstate` in the SQL console.
        self.extra: dict[str, str] = {}
        super().__init__(self.message)


class BadRequest(AppError):
    status = HTTPStatus.BAD_REQUEST
    code = "bad_request"
    message = "Permintaan tidak dapat dibaca."


class ValidationFailed(BadRequest):
    """Invalid input. `errors` maps each field to its messages, flat or nested like the errors of marshmallow."""

    code = "validation_error"
    message = "Data yang dikirim tidak valid."

    def __init__(self, errors: Mapping[str, object] | list[str]) -> None:
        flat = sentences.flat(errors)
        super().__init__(sentences.as_sentence(flat), errors=flat)


class Unauthorized(AppError):
    status = HTTPStatus.UNAUTHORIZED
    code = "unauthorized"
    message = "Silakan masuk terlebih dahulu."


class Forbidden(AppError):
    status = HTTPStatus.FORBIDDEN
    code = "forbidden"
    message = "Anda tidak punya izin untuk ini."


class NotFound(AppError):
    status = HTTPStatus.NOT_FOUND
    code = "not_found"
    message = "Data tidak ditemukan."


class Conflict(AppError):
    status = HTTPStatus.CONFLICT
    code = "conflict"
    message = "Data ini tidak cocok dengan yang sudah tersimpan."


class Gone(AppError):
    """A record that existed and is now permanently gone."""

    status = HTTPStatus.GONE
    code = "gone"
    message = "Data ini sudah tidak berlaku."


class PayloadTooLarge(AppError):
    status = HTTPStatus.REQUEST_ENTITY_TOO_LARGE
    code = "payload_too_large"
    message = "Data yang dikirim terlalu besar."


class UnsupportedMedia(AppError):
    status = HTTPStatus.UNSUPPORTED_MEDIA_TYPE
    code = "unsupported_media_type"
    message = "Jenis data tidak didukung."


class TooManyRequests(AppError):
    status = HTTPStatus.TOO_MANY_REQUESTS
    code = "too_many_requests"
    message = "Terlalu banyak permintaan."

    def __init__(self, message: str | None = None, *, retry_after: int) -> None:
        again = f"Coba lagi dalam {sentences.wait(retry_after)}."
        super().__init__(f"{message or self.message} {again}", retry_after=retry_after)


class ProviderFailed(AppError):
    """A provider failed, and no cached or stored value exists."""

    status = HTTPStatus.BAD_GATEWAY
    code = "provider_failed"
    message = "Layanan lain yang kami pakai sedang bermasalah. Silakan coba lagi nanti."


class ProviderTimeout(ProviderFailed):
    status = HTTPStatus.GATEWAY_TIMEOUT
    code = "provider_timeout"
    message = "Layanan lain yang kami pakai tidak menjawab. Silakan coba lagi nanti."


class Unavailable(AppError):
    """The database, the queue or another part of the service is temporarily unavailable."""

    status = HTTPStatus.SERVICE_UNAVAILABLE
    code = "service_unavailable"
    message = "Layanan sedang tidak tersedia. Silakan coba lagi."

    def __init__(self, message: str | None = None, *, code: str | None = None) -> None:
        super().__init__(message, code=code, retry_after=RETRY_AFTER_S)


#: Codes and messages for errors that werkzeug and Flask raise.
HTTP_ERRORS: dict[int, tuple[str, str]] = {
    400: (BadRequest.code, BadRequest.message),
    404: ("route_not_found", "Alamat tidak ditemukan."),
    405: ("method_not_allowed", "Metode tidak diizinkan untuk alamat ini."),
    408: ("request_timeout", "Permintaan terlalu lama diterima."),
    413: (PayloadTooLarge.code, PayloadTooLarge.message),
    414: ("uri_too_long", "Alamat terlalu panjang."),
    415: (UnsupportedMedia.code, UnsupportedMedia.message),
    429: (TooManyRequests.code, TooManyRequests.message),
    431: ("headers_too_large", "Kepala permintaan terlalu besar."),
}


#: Database errors for a value that no column can store. They mean that the input is invalid. Schemas reject most such
#: values earlier.
UNSTORABLE = (
    pg.NumericValueOutOfRange,
    pg.UntranslatableCharacter,
    pg.CharacterNotInRepertoire,
    pg.DatetimeFieldOverflow,
)


class ApiErrorSchema(Schema):
    """The body of every error response."""

    error = fields.String(
        required=True, metadata={"title": "ErrorCode", "enum": ERROR_CODES, "example": "validation_error"}
    )
    message = fields.String(
        required=True,
        metadata={
            "description": "One Indonesian sentence for the user",
            "example": "NIK harus 16 digit angka.",
        },
    )
    errors = fields.Dict(
        keys=fields.String(),
        values=fields.List(fields.String()),
        metadata={
            "x-optional": True,
            "description": "Only for invalid input: messages for each field, by its dotted path",
            "example": {"nik": ["harus 16 digit angka."]},
        },
    )
    sqlstate = fields.String(
        metadata={
            "x-optional": True,
            "description": "Only in the SQL console: PostgreSQL error code",
            "example": "42P01",
        }
    )
    request_id = fields.String(
        required=True,
        metadata={"description": "Equals the X-Request-ID header", "example": "3f0c1d0f8a5b4c6e9d2a7b1e4f5c6d7e"},
    )


def handle_app_error(error: AppError) -> Response:
    body: dict[str, object] = {"error": error.code, "message": error.message, **error.extra}
    if error.errors is not None:
        body["errors"] = error.errors
    body["request_id"] = g.get("request_id", "")
    response = current_app.response_class(json.dumps(body), status=error.status, mimetype="application/json")
    if error.retry_after is not None:
        response.headers["Retry-After"] = str(error.retry_after)
    return response


def handle_http_exception(error: HTTPException) -> Response:
    """Return the response for a routing error or an unhandled exception. Flask has already logged the exception."""
    if error.response is not None:
        return error.response  # type: ignore[return-value]  # a redirect or a deliberate response
    status = error.code or 500
    unnamed = BadRequest if status < 500 else AppError
    code, message = HTTP_ERRORS.get(status, (unnamed.code, unnamed.message))
    if unnamed is AppError and message == AppError.message:
        message += ask_administrator("Jika terulang,")
    named = AppError(message, code=code)
    named.status = status
    response = handle_app_error(named)
    response.headers.update([pair for pair in error.get_headers() if pair[0] in ("Allow", "Retry-After")])
    return response


def handle_database_error(error: sqlalchemy.exc.DBAPIError) -> Response:
    """Return 503 if the database is unavailable or a retry may help.

    Return 400 for values that the database cannot store.

    Raise all other errors.
    """
    lost = error.connection_invalidated or isinstance(error, sqlalchemy.exc.OperationalError)
    repeatable = isinstance(error.orig, (pg.DeadlockDetected, pg.SerializationFailure, pg.QueryCanceled))
    if lost or repeatable:
        current_app.logger.error("database unavailable: %s", type(error.orig).__name__)
        return handle_app_error(Unavailable())
    if isinstance(error.orig, UNSTORABLE):
        return handle_app_error(BadRequest("Nilai di luar jangkauan.", code="value_out_of_range"))
    raise error


def handle_unavailable(error: Exception) -> Response:
    current_app.logger.error("backend unavailable: %s", type(error).__name__)
    return handle_app_error(Unavailable())


def handle_os_error(error: OSError) -> Response:
    """Return 503 if the disk is too full for an uploaded file. Raise all other errors."""
    if error.errno in FULL_DISK:
        current_app.logger.error("disk full: %s", error.strerror)
        return handle_app_error(Unavailable())
    raise error


def init_app(app: Flask) -> None:
    app.register_error_handler(AppError, handle_app_error)
    app.register_error_handler(HTTPException, handle_http_exception)
    app.register_error_handler(sqlalchemy.exc.DBAPIError, handle_database_error)
    app.register_error_handler(OSError, handle_os_error)
    app.register_error_handler(sqlalchemy.exc.TimeoutError, handle_unavailable)
    app.register_error_handler(redis.exceptions.ConnectionError, handle_unavailable)
    app.register_error_handler(redis.exceptions.TimeoutError, handle_unavailable)
