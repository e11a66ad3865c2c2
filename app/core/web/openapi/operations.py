"""What the OpenAPI document says of an operation because of its rule and its decorators."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection
from http import HTTPStatus

from app.core.web.idempotency import PARAMETER
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
    takes_key: bool,
) -> Document:
    """Name, description and refusals; `who` says who may call it, `is_restricted` that a role is needed."""
    needs_token = {"bearer": []} in security
    responses: Document = _refusals(view, rule, methods, needs_token=needs_token, needs_role=is_restricted)
    if is_cached:
        responses["304"] = {"description": "The copy that `If-None-Match` names is still the same. No body."}
    return {
        "operationId": operation_id(view.__name__),
        "description": "\n\n".join(filter(None, [_description(view), who])),
        "security": security,
        "responses": responses,
        **({"parameters": [PARAMETER]} if takes_key else {}),
    }


def operation_id(view: str) -> str:
    """`list_threads` as clients call it: `listThreads`."""
    first, *others = view.split("_")
    return first + "".join(map(str.capitalize, others))


def _description(view: Callable[..., object]) -> str:
    """What the docstring says beyond its first line, which is the summary."""
    return inspect.cleandoc(view.__doc__ or "").partition("\n\n")[2]


def _refusals(
    view: Callable[..., object], rule: str, methods: Collection[str], *, needs_token: bool, needs_role: bool
) -> Document:
    """The refusals that follow from rule and decorators; what a view itself refuses, an `alt_response` says.

    Everything can meet a developer's unknown parameter (400), nginx' limits (429) and a database that is away (503).
    `default` is for what no document foretells, in the same shape.
    """
    places: set[str] = getattr(view, "locations", set())
    refusals = {
        400: True,
        401: needs_token,
        403: needs_role,
        404: "<" in rule,
        409: needs_token and "GET" not in methods,  # another request took away what this one refers to
        413: bool(places & {"json", "multipart"}),
        415: "multipart" in places,
        429: True,
        503: True,
    }
    return {str(status): HTTPStatus(status).name for status, given in refusals.items() if given}
