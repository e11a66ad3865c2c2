"""OpenAPI description of an operation, generated from its access rule and its decorators."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection
from http import HTTPStatus

from app.core.web.openapi.document import Document


def described(
    view: Callable[..., object],
    *,
    rule: str,
    methods: Collection[str],
    security: list[dict[str, list[str]]],
    who: str,
    is_restricted: bool,
    is_cached: bool,
) -> Document:
    """Return the id, description, security and error responses of an operation.

    `who` describes the callers. `is_restricted` is true if the caller needs a certain role.
    """
    needs_token = {"bearer": []} in security
    responses: Document = _refusals(view, rule, methods, needs_token=needs_token, needs_role=is_restricted)
    if is_cached:
        responses["304"] = {"description": "The cached version in `If-None-Match` is still current. No body."}
    return {
        "operationId": operation_id(view.__name__),
        "description": "\n\n".join(filter(None, [_description(view), who])),
        "security": security,
        "responses": responses,
    }


def operation_id(view: str) -> str:
    """Return the operation id for the name of a view: `listThreads` for `list_threads`."""
    first, *others = view.split("_")
    return first + "".join(map(str.capitalize, others))


def _description(view: Callable[..., object]) -> str:
    """Return the docstring without its first line, which is the summary."""
    return inspect.cleandoc(view.__doc__ or "").partition("\n\n")[2]


def _refusals(
    view: Callable[..., object], rule: str, methods: Collection[str], *, needs_token: bool, needs_role: bool
) -> Document:
    """Return the error responses that follow from the access rule and the decorators. `alt_response` adds others.

    Every route may return 400 (unknown parameter in development), 429 (limit of nginx) and 503 (database unavailable).
    The response `default` stands for unexpected errors. It has the same schema as these responses.
    """
    places: set[str] = getattr(view, "locations", set())
    refusals = {
        400: True,
        401: needs_token,
        403: needs_role,
        404: "<" in rule,
        # another request may have deleted a record to which this request refers
        409: needs_token and "GET" not in methods,
        413: bool(places & {"json", "multipart"}),
        415: "multipart" in places,
        429: True,
        503: True,
    }
    return {str(status): HTTPStatus(status).name for status, given in refusals.items() if given}
