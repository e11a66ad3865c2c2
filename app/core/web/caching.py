"""HTTP caching of public reads, with the headers `Cache-Control` and `ETag`.

A route declares its caching next to its access rule. Only a 200 response to a request without a token may be
cached. All other responses have `no-store` (see `app.core.web.request`). The service itself caches no responses.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import wraps
from typing import TypeVar

from flask import request
from werkzeug import Response
from werkzeug.http import parse_etags

View = TypeVar("View", bound=Callable[..., object])

A_DAY_S = 86_400
TEN_MINUTES_S = 600

#: Maximum bytes per call of hashlib. For 2,048 bytes or more, hashlib releases Python's global lock (GIL). Acquiring
#: the GIL again takes longer than the hash.
CHUNK = 2047


class Caching:
    """The caching of one route: the headers of its successful responses."""

    def __init__(self, max_age_s: int, stale_if_error_s: int) -> None:
        #: `stale-while-revalidate` equals `max-age`. In a cache, the response of a route with `max-age` 1 s is
        #: therefore at most two seconds old. A post that a moderator hides disappears from caches within this time.
        stale_s = self.max_age_s = max_age_s
        self.header = (
            f"public, max-age={max_age_s}, stale-while-revalidate={stale_s}, stale-if-error={stale_if_error_s}"
        )

    def around(self, view: Callable[..., Response]) -> Callable[..., Response]:
        """Wrap the view so that caches may store its successful responses to requests without a token."""

        @wraps(view)
        def call(*args: object, **kwargs: object) -> Response:
            environ = request.environ
            response = view(*args, **kwargs)
            if "HTTP_AUTHORIZATION" in environ or response.status_code != 200:
                return response
            etag = hash_of(response.get_data())
            response.headers["Cache-Control"] = self.header
            response.headers["ETag"] = f'"{etag}"'
            if "HTTP_IF_NONE_MATCH" in environ and parse_etags(environ["HTTP_IF_NONE_MATCH"]).contains_weak(etag):
                response.status_code = 304  # werkzeug drops the body of a 304, and the headers about the body
            return response

        return call


def cached(max_age_s: int, *, stale_if_error_s: int = TEN_MINUTES_S) -> Callable[[View], View]:
    """Let caches store a public GET for `max_age_s` seconds, and during an outage for `stale_if_error_s` seconds more.

    Use 1 s for content from users, and 60 s for content from administrators.
    """
    caching = Caching(max_age_s, stale_if_error_s)

    def mark(view: View) -> View:
        view.caching = caching  # type: ignore[attr-defined]
        return view

    return mark


def hash_of(body: bytes) -> str:
    """Return the SHA-1 hash of the body in hex. All processes return the same hash."""
    digest = hashlib.sha1(usedforsecurity=False)
    whole = memoryview(body)
    for start in range(0, len(whole), CHUNK):
        digest.update(whole[start : start + CHUNK])
    return digest.hexdigest()
