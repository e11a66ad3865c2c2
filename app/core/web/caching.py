"""HTTP caching of public reads, with the headers `Cache-Control` and `ETag`.

A route declares its caching next to its access rule. Only a 200 response to a request without a token may be
cached. All other responses have `no-store` (see `app.core.web.request`). The service itself caches no responses.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TypeVar

from flask import request
from werkzeug import Response

View = TypeVar("View", bound=Callable[..., object])

A_DAY_S = 86_400
TEN_MINUTES_S = 600


def cached(max_age_s: int, *, stale_if_error_s: int = TEN_MINUTES_S) -> Callable[[View], View]:
    """Let caches store a public GET for `max_age_s` seconds, and during an outage for `stale_if_error_s` seconds more.

    Use 1 s for content from users, and 60 s for content from administrators.
    """
    # `stale-while-revalidate` equals `max-age`. In a cache, the response of a route with `max-age` 1 s is therefore at
    # most two seconds old. A post that a moderator hides disappears from caches within this time.
    header = f"public, max-age={max_age_s}, stale-while-revalidate={max_age_s}, stale-if-error={stale_if_error_s}"

    def around(view: Callable[..., Response]) -> Callable[..., Response]:
        """Wrap the view so that caches may store its successful responses to requests without a token."""

        @wraps(view)
        def call(*args: object, **kwargs: object) -> Response:
            response = view(*args, **kwargs)
            if "Authorization" in request.headers or response.status_code != 200:
                return response
            response.headers["Cache-Control"] = header
            response.add_etag()  # a hash of the body, which is the same in all processes
            if request.if_none_match.contains_weak(response.get_etag()[0] or ""):
                response.status_code = 304  # werkzeug drops the body of a 304, and the headers about the body
            return response

        return call

    def mark(view: View) -> View:
        view.caching = around  # type: ignore[attr-defined]
        return view

    return mark
