"""`Idempotency-Key`: a POST that creates, sent again with its key, is answered as the first time and creates nothing.

The key is a row, written in the transaction of the create. A twin that comes meanwhile waits at that row: it gets the
answer when the first commits, and does the work itself when the first is rolled back. So refusals are never kept.
"""

from __future__ import annotations

import hmac
import re
from collections.abc import Callable, Collection
from datetime import datetime, timedelta
from functools import wraps
from hashlib import sha256
from typing import Any, TypeVar

import orjson
import sqlalchemy as sa
from flask import Response, current_app, g, request
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Mapped, mapped_column

from app.core.database.personal import Delete, Nothing, Personal
from app.core.database.session import Base, db
from app.core.errors import AppError, Conflict, ValidationFailed
from app.core.settings import settings
from app.core.web.parsing import FORM_TYPES, parse_json

View = TypeVar("View", bound=Callable[..., Any])

HEADER, REPLAYED = "Idempotency-Key", "Idempotency-Replayed"
KEY = re.compile(r"[A-Za-z0-9_-]{8,64}")

#: Statuses of a route that creates something, at once or by a job.
CREATED = frozenset({201, 202})

#: How long an answer is kept.
KEPT = timedelta(hours=24)

PARAMETER = {
    "in": "header",
    "name": HEADER,
    "required": False,
    "description": "Chosen by the client for one create, and sent again with each try: for 24 hours the same route"
    f" gives the same person the same answer, with `{REPLAYED}: true`. Another body is 409 (`idempotency_mismatch`).",
    "schema": {"type": "string", "pattern": f"^{KEY.pattern}$", "example": "3f0c1d0f-8a5b-4c6e-9d2a-7b1e4f5c6d7e"},
}


class IdempotencyKey(Base):
    __tablename__ = "idempotency_keys"
    __personal__ = Personal(
        of=("user_id",), export=Nothing("For a day it repeats answers that the export holds anyway"), erase=Delete()
    )

    user_id: Mapped[int] = mapped_column(sa.ForeignKey("users.id", ondelete="CASCADE"), primary_key=True)
    endpoint: Mapped[str] = mapped_column(sa.String(120), primary_key=True)
    key: Mapped[str] = mapped_column(sa.String(64), primary_key=True)
    fingerprint: Mapped[bytes] = mapped_column(sa.LargeBinary(32), comment="SHA-256 of what was asked")
    status: Mapped[int | None] = mapped_column(sa.SmallInteger, comment="null while the create is under way")
    body: Mapped[bytes | None]
    created_at: Mapped[datetime] = mapped_column(server_default=sa.func.now(), index=True)


def secret_answer(view: View) -> View:
    """Mark a create whose answer holds what is stored nowhere else, as a code: it takes no `Idempotency-Key`."""
    view.has_secret_answer = True  # type: ignore[attr-defined]
    return view


def takes_key(view: Callable[..., Any], methods: object, security: object) -> bool:
    """Whether a route creates something for a known person, so that its answer can be given again."""
    is_create = methods == ["POST"] and getattr(view, "status", None) in CREATED
    return is_create and security == [{"bearer": []}] and not hasattr(view, "has_secret_answer")


def once(view: Callable[..., Response]) -> Callable[..., Response]:
    """The view, past which a request comes whose key was answered before. Inside the unit of work."""

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
    """Delete the answers that are no longer given again."""
    db.session.execute(sa.delete(IdempotencyKey).where(_is_over).execution_options(synchronize_session=False))


def forget(user_id: int, blueprint: str) -> None:
    """Give this person no answer again that routes of a blueprint gave them: they may not see it any more."""
    theirs = (IdempotencyKey.user_id == user_id, IdempotencyKey.endpoint.startswith(f"{blueprint}.", autoescape=True))
    db.session.execute(sa.delete(IdempotencyKey).where(*theirs).execution_options(synchronize_session=False))


def forget_texts(blueprint: str, words: Collection[str], values: Collection[str]) -> None:
    """Empty the answers of a blueprint's routes that hold one of these words, or one of these values whole.

    Asked again they create nothing.
    """
    parts = [*(orjson.dumps(word).decode()[1:-1] for word in words), *(orjson.dumps(text).decode() for text in values)]
    body = sa.func.convert_from(IdempotencyKey.body, "UTF8")
    said = sa.or_(sa.false(), *(body.contains(part, autoescape=True) for part in parts))
    db.session.execute(
        sa.update(IdempotencyKey)
        .where(IdempotencyKey.endpoint.startswith(f"{blueprint}.", autoescape=True), said)
        .values(status=None, body=None)
        .execution_options(synchronize_session=False)
    )


_is_over = IdempotencyKey.created_at < sa.func.statement_timestamp() - KEPT


def _claim(name: dict[str, object], fingerprint: bytes) -> bool:
    """Make the key this request's, waiting for a twin under way; False when it has its answer already."""
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
    if stored is None or stored.status is None:  # forgotten at this very moment
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
    """What is asked: path, query and body. Of a form its fields and files: each try has a boundary of its own.

    Under our secret, which a copy of the database does not hold: there may be a password in it, soon guessed from a
    plain hash of what else is known.
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
    except (AppError, TypeError):  # the view refuses it, or it has what orjson does not write
        return [raw]
