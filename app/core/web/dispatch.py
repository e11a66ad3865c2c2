"""The wrapper around each call of a view: access rule, unit of work and rendering of the response.

A read runs in autocommit mode, a write in one unit of work. If a call fails only because of a concurrent request, the
wrapper retries the call or returns a conflict.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection
from functools import wraps
from typing import Any, Protocol, TypeVar

from flask import request
from psycopg2 import errors as pg
from sqlalchemy.exc import DBAPIError, IntegrityError
from sqlalchemy.orm.exc import StaleDataError
from werkzeug import Response

from app.core import errors
from app.core.database.session import db, unit_of_work
from app.core.web import rate_limits

logger = logging.getLogger(__name__)

#: Message for a record that another request has changed or deleted while this request was running.
CHANGED_MEANWHILE = "Data ini baru saja diubah atau dihapus. Silakan muat ulang."

View = Callable[..., Any]
V = TypeVar("V", bound=View)


class AccessRule(Protocol):
    """Access rule of a view. The decorators of `app.identity.access` store it on the view as `access`."""

    #: The OpenAPI security requirement: `[]` for public, `[{}, {...}]` for optional login, `[{...}]` for required
    #: login.
    security: list[dict[str, list[str]]]
    #: One sentence about the callers, for the API documentation.
    description: str
    #: Roles that may call the view. A caller without any of these roles gets 403.
    roles: Collection[str]

    def enforce(self) -> None:
        """Raise `Unauthorized` or `Forbidden` if the caller may not call the view."""

    def record(self) -> None:
        """Write records about the call, after the view has run.

        The records are committed together with the changes of the view.
        """


#: Methods that only read. Their views run outside a unit of work.
READS = frozenset({"GET", "HEAD", "OPTIONS"})


def in_steps(view: V) -> V:
    """Mark a view that writes, but outside a unit of work. Its service opens a unit for each step.

    Use it if one step must stay saved when the next one fails, or if a step calls a provider. A service that runs a
    single statement, or none, needs no unit.
    """
    view.has_unit = False  # type: ignore[attr-defined]
    return view


def in_a_unit(view: V) -> V:
    """Mark a GET that writes. It runs in a unit of work."""
    view.has_unit = True  # type: ignore[attr-defined]
    return view


def around(view: View, access: AccessRule) -> Callable[..., Response]:
    """Wrap a view of the API."""
    load_first: Callable[..., None] | None = getattr(view, "load_first", None)

    def serve(args: tuple[object, ...], kwargs: dict[str, object]) -> Response:
        if load_first is None:
            access.enforce()
        response: Response = view(*args, **kwargs)
        access.record()
        return response

    @wraps(view)
    def call(*args: object, **kwargs: object) -> Response:
        if load_first is not None:
            access.enforce()
            load_first(**kwargs)
        try:
            return _serve(lambda: serve(args, kwargs), has_unit=_has_unit(view))
        except (IntegrityError, StaleDataError) as error:
            if isinstance(error, IntegrityError) and not isinstance(error.orig, pg.ForeignKeyViolation):
                raise
            logger.warning("another request deleted a row that this request refers to: %s", type(error).__name__)
            access.enforce()  # raises `Unauthorized` if the caller's account has been deleted
            raise errors.Conflict(CHANGED_MEANWHILE, code="changed_meanwhile") from None

    return call


def around_page(view: View) -> View:
    """Wrap a view of a public page."""

    @wraps(view)
    def call(*args: object, **kwargs: object) -> Response:
        return _serve(lambda: view(*args, **kwargs), has_unit=_has_unit(view))

    return call


def _has_unit(view: View) -> bool:
    has_unit: bool = getattr(view, "has_unit", request.method not in READS)
    return has_unit


def _serve(call: Callable[[], Response], *, has_unit: bool, repeats: int = 1) -> Response:
    """Run a call of a view, in autocommit mode or in one unit of work. After a deadlock, retry the unit."""
    if not has_unit:
        response = call()
        if db.session.registry.has():
            db.session.commit()  # releases the connection before the response is sent
        return response
    try:
        with unit_of_work():
            return call()
    except DBAPIError as error:
        if not repeats or not isinstance(error.orig, pg.DeadlockDetected):
            raise
    logger.warning("deadlock with another request: retrying")
    rate_limits.start_retry()
    for upload in request.files.values():
        upload.stream.seek(0)
    return _serve(call, has_unit=has_unit, repeats=repeats - 1)
