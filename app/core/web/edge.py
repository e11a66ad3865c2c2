"""The edge around each call: its access rule, and one unit of work inside which the response is rendered.

What failed because of another request alone is done over, or told as a conflict.
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

#: What somebody else changed or deleted between two statements of ours.
CHANGED_MEANWHILE = "Data ini baru saja diubah atau dihapus. Silakan muat ulang."

UNKNOWN_NAME = "bukan parameter yang dikenal."

View = Callable[..., Any]


class Access(Protocol):
    """Who may call a view; set on it as `access` by the decorators of `app.identity.access`."""

    #: The OpenAPI security requirement: `[]` public, `[{}, {...}]` optional, `[{...}]` needed.
    security: list[dict[str, list[str]]]
    #: One sentence: who may call.
    description: str
    #: Whose lack is a 403.
    roles: Collection[str]

    def enforce(self) -> None:
        """Raise `Unauthorized` or `Forbidden` for a caller who may not."""

    def record(self) -> None:
        """Called in the unit of work once the view has done its work, which is committed with what this adds."""


def around(view: View, access: Access, query_names: Collection[str]) -> Callable[..., Response]:
    """The call of an API's view, which takes the query parameters of these names."""

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
            access.enforce()  # `Unauthorized` when it is the caller who is gone
            raise errors.Conflict(CHANGED_MEANWHILE, code="changed_meanwhile") from None

    return call


def in_a_unit(view: View) -> View:
    """The call of a page, which is open to everybody."""

    @wraps(view)
    def call(*args: object, **kwargs: object) -> Response:
        return _serve(view, None, args, kwargs, repeats=1)

    return call


def _refuse_unknown_names(query_names: Collection[str]) -> None:
    """`ValidationFailed` for a parameter that the route does not have: a developer's typo, ignored in production."""
    unknown = [name for name in request.args if name not in query_names]
    if unknown:
        raise errors.ValidationFailed({name: [UNKNOWN_NAME] for name in unknown})


def _serve(
    view: View, access: Access | None, args: tuple[object, ...], kwargs: dict[str, object], *, repeats: int
) -> Response:
    """One unit of work, done over when PostgreSQL ended it as the victim of a deadlock and nothing has left it."""
    try:
        with unit_of_work() as unit:
            response: Response = view(*args, **kwargs)
            if access is not None:
                access.record()
    except DBAPIError as error:
        if not repeats or unit.has_left_traces or not isinstance(error.orig, pg.DeadlockDetected):
            raise
    else:
        return response
    logger.warning("a request met another in a deadlock and is done over")
    for upload in request.files.values():
        upload.stream.seek(0)
    return _serve(view, access, args, kwargs, repeats=repeats - 1)
