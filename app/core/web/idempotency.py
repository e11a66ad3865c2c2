"""Support for the request header `Idempotency-Key`.

A repeated POST with the same key returns the first response and creates nothing. The key is a row that is inserted in
the same transaction as the new record. A concurrent request with the same key waits for this row. If the first request
commits, the second returns the same response. If the first request is rolled back, its key is rolled back too, and the
second request does the work. The responses of failed requests are therefore never stored.
"""

from __future__ import annotations

import hmac
import re
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import wraps
from hashlib import sha256
from typing import Any, TypeVar

import orjson
import sqlalchemy as sa
from flask import Response, current_app, g, request
from sqlalchemy.dialects.postgresql import JSONB, insert
from sqlalchemy.orm import Mapped, mapped_column

from app.core.database.personal import SECRET, Delete, Nothing, Personal
from app.core.database.session import Base, db
from app.core.errors import AppError, Conflict, ValidationFailed
from app.core.settings import settings
from app.core.web.parsing import FORM_TYPES, parse_json

View = TypeVar("View", bound=Callable[..., Any])

HEADER, REPLAYED = "Idempotency-Key", "Idempotency-Replayed"
KEY = re.compile(r"[A-Za-z0-9_-]{8,64}")

#: Status codes of routes that create something, either immediately or by a job.
CREATED = frozenset({201, 202})

KEPT = timedelta(hours=24)

PARAMETER = {
    "in": "header",
    "name": HEADER,
    "required": False,
    "description": "Key that the client chooses for one create and sends with each retry. For 24 hours, the route"
    f" returns the same response to this user, with `{REPLAYED}: true`. Another body is 409 (`idempotency_mismatch`).",
    "schema": {"type": "string", "pattern": f"^{KEY.pattern}$", "example": "3f0c1d0f-8a5b-4c6e-9d2a-7b1e4f5c6d7e"},
}


class IdempotencyKey(Base):
    __tablename__ = "idempotency_keys"
    __personal__ = Personal(
        of=("user_id",), export=Nothing("Responses of one day, whose data is in the export anyway"), erase=Delete()
    )

    user_id: Mapped[int] = mapped_column(sa.ForeignKey("users.id", ondelete="CASCADE"), primary_key=True)
    endpoint: Mapped[str] = mapped_column(sa.String(120), primary_key=True)
    key: Mapped[str] = mapped_column(sa.String(64), primary_key=True)
    fingerprint: Mapped[bytes] = mapped_column(
        sa.LargeBinary(32),
        comment="SHA-256 of the request, to detect a key that is reused for another request",
        info=SECRET,
    )
    status: Mapped[int | None] = mapped_column(
        sa.SmallInteger, comment="HTTP status of the stored response; null while the first request is still running"
    )
    body: Mapped[bytes | None] = mapped_column(info=SECRET)
    created_at: Mapped[datetime] = mapped_column(server_default=sa.func.now(), index=True)


def secret_answer(view: View) -> View:
    """Mark a view that does not support `Idempotency-Key`, because a secret in its response must not be stored."""
    view.has_secret_answer = True  # type: ignore[attr-defined]
    return view


def takes_key(view: Callable[..., Any], methods: object, security: object) -> bool:
    """Return whether the route supports `Idempotency-Key`. It must create something and require a login."""
    is_create = methods == ["POST"] and getattr(view, "status", None) in CREATED
    return is_create and security == [{"bearer": []}] and not hasattr(view, "has_secret_answer")


def once(view: Callable[..., Response]) -> Callable[..., Response]:
    """Add support for `Idempotency-Key` to the view.

    If the key was used before, return the stored response. The wrapper runs inside the unit of work.
    """

    @wraps(view)
    def call(*args: object, **kwargs: Any) -> Response:
        key = request.headers.get(HEADER)
        if key is None:
            return view(*args, **kwargs)
        if not KEY.fullmatch(key):
            raise ValidationFailed({HEADER: ["harus 8 sampai 64 huruf, angka, garis bawah, atau tanda hubung."]})
        name = {"user_id": g.caller.id, "endpoint": request.endpoint, "key": key}
        fingerprint = _fingerprint()
        if not _claim(name, fingerprint):
            return _replay(name, fingerprint)
        response = view(*args, **kwargs)
        db.session.execute(
            sa.update(IdempotencyKey)
            .filter_by(**name)
            .values(status=response.status_code, body=response.get_data())
            .execution_options(synchronize_session=False)
        )
        return response

    return call


def delete_old() -> None:
    """Delete expired keys with their responses."""
    db.session.execute(sa.delete(IdempotencyKey).where(_is_over).execution_options(synchronize_session=False))


def delete_of_user(user_id: int, blueprint: str) -> None:
    """Delete this user's stored responses from one blueprint, because the user no longer has access to the data."""
    theirs = (IdempotencyKey.user_id == user_id, IdempotencyKey.endpoint.startswith(f"{blueprint}.", autoescape=True))
    db.session.execute(sa.delete(IdempotencyKey).where(*theirs).execution_options(synchronize_session=False))


def clear(endpoint: str, record_id: int) -> None:
    """Clear the stored responses of an endpoint with the record that has this id.

    The keys remain, so a repeated request still creates nothing.
    """
    body = sa.cast(sa.func.convert_from(IdempotencyKey.body, "UTF8"), JSONB)
    db.session.execute(
        sa.update(IdempotencyKey)
        .where(IdempotencyKey.endpoint == endpoint, body["id"] == sa.cast(record_id, JSONB))
        .values(status=None, body=None)
        .execution_options(synchronize_session=False)
    )


_is_over = IdempotencyKey.created_at < sa.func.statement_timestamp() - KEPT


def _claim(name: dict[str, object], fingerprint: bytes) -> bool:
    """Insert the key. If a concurrent request uses the same key, wait. Return False if the key was already used."""
    now = sa.func.statement_timestamp()
    statement = insert(IdempotencyKey).values(**name, fingerprint=fingerprint, created_at=now)
    claimed = statement.on_conflict_do_update(
        index_elements=["user_id", "endpoint", "key"],
        set_={"fingerprint": fingerprint, "created_at": now, "status": None, "body": None},
        where=_is_over,
    ).returning(sa.true())
    return db.session.scalar(claimed) is not None


def _replay(name: dict[str, object], fingerprint: bytes) -> Response:
    stored = db.session.execute(
        sa.select(IdempotencyKey.fingerprint, IdempotencyKey.status, IdempotencyKey.body).filter_by(**name)
    ).one_or_none()
    if stored is None or stored.status is None:  # the key was deleted, or its response was cleared
        raise Conflict("Permintaan ini sedang diproses. Silakan coba lagi.", code="changed_meanwhile")
    if stored.fingerprint != fingerprint:
        raise Conflict(
            "Kunci ini sudah dipakai untuk permintaan lain. Silakan kirim ulang dengan kunci baru.",
            code="idempotency_mismatch",
        )
    response = current_app.response_class(stored.body, stored.status, content_type="application/json")
    response.headers[REPLAYED] = "true"
    return response


def _fingerprint() -> bytes:
    """Return an HMAC (keyed hash) of the request's path, query and body.

    For a form, use its fields and files, because the boundary of the form changes with each attempt. The HMAC uses a
    secret that is not in the database. A plain hash would help an attacker to guess a password in the body.
    """
    digest = hmac.new(settings.secret_key.encode(), digestmod=sha256)
    for part in (request.path.encode(), request.query_string, *_body()):
        digest.update(len(part).to_bytes(8, "big") + part)
    return digest.digest()


def _body() -> list[bytes]:
    if request.mimetype in FORM_TYPES:
        fields = sorted(f"{name}={value}".encode() for name, value in request.form.items(multi=True))
        files = sorted(
            name.encode() + b"=" + sha256(upload.stream.read()).digest()
            for name, upload in request.files.items(multi=True)
        )
        for upload in request.files.values():
            upload.stream.seek(0)
        return [b"form", *fields, *files]
    raw = request.get_data(cache=True)
    try:
        return [orjson.dumps(parse_json(raw), option=orjson.OPT_SORT_KEYS)]
    except (AppError, TypeError):  # the view rejects this body, or orjson cannot write it
        return [raw]
