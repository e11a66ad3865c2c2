"""The wrapper around each call of a view: access rule, unit of work and rendering of the response.

If a call fails only because of a concurrent request, the wrapper retries the call or returns a conflict.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection
from functools import wraps
from typing import Any, Protocol

from flask import request
from psycopg2 import errors as pg
from sqlalchemy.exc import DBAPIError, IntegrityError
from sqlalchemy.orm.exc import StaleDataError
from werkzeug import Response

from app.core import errors
from app.core.database.session import unit_of_work
from app.core.web import rate_limits

logger = logging.getLogger(__name__)

#: Message for a record that another request has changed or deleted while this request was running.
CHANGED_MEANWHILE = "Data ini baru saja diubah atau dihapus. Silakan muat ulang."

View = Callable[..., Any]


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


def around(view: View, access: AccessRule) -> Callable[..., Response]:
    """Wrap a view of the API."""
    load_first: Callable[..., None] | None = getattr(view, "load_first", None)

    @wraps(view)
    def call(*args: object, **kwargs: object) -> Response:
        access.enforce()
        if load_first is not None:
            load_first(**kwargs)
        try:
            return _serve(view, access, args, kwargs, repeats=1)
        except (IntegrityError, StaleDataError) as error:
            if isinstance(error, IntegrityError) and not isinstance(error.orig, pg.ForeignKeyViolation):
                raise
            logger.warning("another request deleted a row that this request refers to: %s", type(error).__name__)
            access.enforce()  # raises `Unauthorized` if the caller's account has been deleted
            raise errors.Conflict(CHANGED_MEANWHILE, code="changed_meanwhile") from None

    return call


def in_a_unit(view: View) -> View:
    """Wrap a view of a public page."""

    @wraps(view)
    def call(*args: object, **kwargs: object) -> Response:
        return _serve(view, None, args, kwargs, repeats=1)

    return call


def _serve(
    view: View, access: AccessRule | None, args: tuple[object, ...], kwargs: dict[str, object], *, repeats: int
) -> Response:
    """Run the view in one unit of work. After a deadlock, retry the view if the unit is retryable."""
    try:
        with unit_of_work() as unit:
            response: Response = view(*args, **kwargs)
            if access is not None:
                access.record()
    except DBAPIError as error:
        if not repeats or unit.is_retry_forbidden or not isinstance(error.orig, pg.DeadlockDetected):
            raise
    else:
        return response
    logger.warning("deadlock with another request: retrying")
    rate_limits.start_retry()
    for upload in request.files.values():
        upload.stream.seek(0)
    return _serve(view, access, args, kwargs, repeats=repeats - 1)
