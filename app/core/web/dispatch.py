"""The wrapper around each call: access rule, unit of work and rendering of the response.

A call that fails only because of a concurrent request is retried, or answered with a conflict.
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
from app.core.settings import settings

logger = logging.getLogger(__name__)

#: Message for a record that another request changed or deleted between two of our statements.
CHANGED_MEANWHILE = "Data ini baru saja diubah atau dihapus. Silakan muat ulang."

UNKNOWN_NAME = "bukan parameter yang dikenal."

View = Callable[..., Any]


class AccessRule(Protocol):
    """Access rule of a view. The decorators of `app.identity.access` set it as `access`."""

    #: The OpenAPI security requirement: `[]` public, `[{}, {...}]` optional login, `[{...}]` login required.
    security: list[dict[str, list[str]]]
    #: One sentence for the API documentation.
    description: str
    #: Roles that give access. A caller without any of these gets 403.
    roles: Collection[str]

    def enforce(self) -> None:
        """Raise `Unauthorized` or `Forbidden` if the caller has no access."""

    def record(self) -> None:
        """Add records to the unit of work after the view has run. They are committed with the view's own changes."""


def around(view: View, access: AccessRule, query_names: Collection[str]) -> Callable[..., Response]:
    """Wrap an API view that has the query parameters `query_names`."""

    @wraps(view)
    def call(*args: object, **kwargs: object) -> Response:
        access.enforce()
        try:
            if request.query_string and settings.is_development:
                _refuse_unknown_names(query_names)
            return _serve(view, access, args, kwargs, repeats=1)
        except (IntegrityError, StaleDataError) as error:
            if isinstance(error, IntegrityError) and not isinstance(error.orig, pg.ForeignKeyViolation):
                raise
            logger.warning("a request met another that took away what it referred to: %s", type(error).__name__)
            access.enforce()  # raises `Unauthorized` if the caller's account was deleted
            raise errors.Conflict(CHANGED_MEANWHILE, code="changed_meanwhile") from None

    return call


def in_a_unit(view: View) -> View:
    """Wrap the view of a public page."""

    @wraps(view)
    def call(*args: object, **kwargs: object) -> Response:
        return _serve(view, None, args, kwargs, repeats=1)

    return call


def _refuse_unknown_names(query_names: Collection[str]) -> None:
    """Raise `ValidationFailed` for unknown query parameters. Only development calls this; production ignores them."""
    unknown = [name for name in request.args if name not in query_names]
    if unknown:
        raise errors.ValidationFailed({name: [UNKNOWN_NAME] for name in unknown})


def _serve(
    view: View, access: AccessRule | None, args: tuple[object, ...], kwargs: dict[str, object], *, repeats: int
) -> Response:
    """Run the view in one unit of work. Retry it after a deadlock, if the unit is retryable."""
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
    logger.warning("a request met another in a deadlock and is done over")
    for upload in request.files.values():
        upload.stream.seek(0)
    return _serve(view, access, args, kwargs, repeats=repeats - 1)
