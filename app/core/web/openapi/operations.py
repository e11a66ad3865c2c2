"""OpenAPI description of an operation, generated from its access rule and its decorators."""

from __future__ import annotations

import inspect
from collections.abc import Callable

from app.core.web.openapi.document import Document


def described(
    view: Callable[..., object],
    *,
    security: list[dict[str, list[str]]],
    who: str,
    is_cached: bool,
) -> Document:
    """Return the id, description and security of an operation. `who` describes the callers."""
    not_modified = {"description": "The cached version in `If-None-Match` is still current. No body."}
    return {
        "operationId": operation_id(view.__name__),
        "description": "\n\n".join(filter(None, [_description(view), who])),
        "security": security,
        "responses": {"304": not_modified} if is_cached else {},
    }


def operation_id(view: str) -> str:
    """Return the operation id for the name of a view: `listThreads` for `list_threads`."""
    first, *others = view.split("_")
    return first + "".join(map(str.capitalize, others))


def _description(view: Callable[..., object]) -> str:
    """Return the docstring without its first line, which is the summary."""
    return inspect.cleandoc(view.__doc__ or "").partition("\n\n")[2]
