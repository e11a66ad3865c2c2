"""HTTP caching of public reads: `Cache-Control` and `ETag`.

A route declares it next to its access rule. Only a 200 or 404 response to a request without a token may be cached.
All other responses have `no-store` (`app.core.web.request`). The service itself caches no responses.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import wraps
from typing import TypeVar

from flask import after_this_request, request
from werkzeug import Response
from werkzeug.http import parse_etags

from app.core.errors import NotFound

View = TypeVar("View", bound=Callable[..., object])

A_DAY_S = 86_400
TEN_MINUTES_S = 600

#: hashlib releases the GIL for data of 2,048 bytes or more. Acquiring it again takes longer than the hash.
CHUNK = 2047


class Caching:
    """Cache headers of a route's successful responses."""

    def __init__(self, max_age_s: int, stale_if_error_s: int) -> None:
        #: `stale-while-revalidate` equals `max-age`. Content that people write is therefore at most two seconds old,
        #: and a hidden post disappears in that time.
        stale_s = self.max_age_s = max_age_s
        self.header = (
            f"public, max-age={max_age_s}, stale-while-revalidate={stale_s}, stale-if-error={stale_if_error_s}"
        )

    def around(self, view: Callable[..., Response]) -> Callable[..., Response]:
        """Wrap the view: make its successful responses to requests without a token cacheable."""

        @wraps(view)
        def call(*args: object, **kwargs: object) -> Response:
            environ = request.environ
            try:
                response = view(*args, **kwargs)
            except NotFound:
                if "HTTP_AUTHORIZATION" not in environ:
                    after_this_request(self._keep_absence)
                raise
            if "HTTP_AUTHORIZATION" in environ or response.status_code != 200:
                return response
            etag = hash_of(response.get_data())
            response.headers["Cache-Control"] = self.header
            response.headers["ETag"] = f'"{etag}"'
            if "HTTP_IF_NONE_MATCH" in environ and parse_etags(environ["HTTP_IF_NONE_MATCH"]).contains_weak(etag):
                response.status_code = 304  # werkzeug drops the body and its headers
            return response

        return call

    def _keep_absence(self, response: Response) -> Response:
        """Make a 404 cacheable, but without `stale-while-revalidate`: it must replace the copy of a deleted record."""
        response.headers["Cache-Control"] = f"public, max-age={self.max_age_s}"
        return response


def cached(max_age_s: int, *, stale_if_error_s: int = TEN_MINUTES_S) -> Callable[[View], View]:
    """Allow caches to store a public GET for `max_age_s` seconds, and for `stale_if_error_s` more during an outage.

    Use 1 s for content that people write, 60 s for content that administrators edit.
    """
    caching = Caching(max_age_s, stale_if_error_s)

    def mark(view: View) -> View:
        view.caching = caching  # type: ignore[attr-defined]
        return view

    return mark


def hash_of(body: bytes) -> str:
    """Return the SHA-1 of the body as hex, equal in every process."""
    digest = hashlib.sha1(usedforsecurity=False)
    whole = memoryview(body)
    for start in range(0, len(whole), CHUNK):
        digest.update(whole[start : start + CHUNK])
    return digest.hexdigest()
