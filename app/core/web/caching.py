"""HTTP caching of public reads: for how long a copy may be kept and shown, and which copy it is (`ETag`).

A route declares it beside its access. Only the good answer to a request without a token may be kept, and the answer
that there is nothing. Everything else leaves with `no-store` (`app.core.web.request`). The service itself never answers
from a copy: what it says is fresh.
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

#: From 2,048 bytes on hashlib lets go of the interpreter, and getting it back costs a turn of all threads: more than
#: the hash itself.
CHUNK = 2047


class Caching:
    """What a cache may do with copies of a route's good answers."""

    def __init__(self, max_age_s: int, stale_if_error_s: int) -> None:
        #: For so long after that an old copy is shown while a cache fetches the next one, and nobody waits for it. What
        #: people write is two seconds old at most: a post that moderators hide is gone by then.
        stale_s = self.max_age_s = max_age_s
        self.header = (
            f"public, max-age={max_age_s}, stale-while-revalidate={stale_s}, stale-if-error={stale_if_error_s}"
        )

    def around(self, view: Callable[..., Response]) -> Callable[..., Response]:
        """The view, whose good answers to nobody in particular may be kept."""

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
                response.status_code = 304  # werkzeug leaves the body out, and what describes it
            return response

        return call

    def _keep_absence(self, response: Response) -> Response:
        """Let a cache replace its copy of what is gone, which it would show to others while it fetches the next one."""
        response.headers["Cache-Control"] = f"public, max-age={self.max_age_s}"
        return response


def cached(max_age_s: int, *, stale_if_error_s: int = TEN_MINUTES_S) -> Callable[[View], View]:
    """Anybody may keep what a public GET answers: so many seconds, and so many more while the service is away.

    One second for what people write, sixty for what administrators keep.
    """
    caching = Caching(max_age_s, stale_if_error_s)

    def mark(view: View) -> View:
        view.caching = caching  # type: ignore[attr-defined]
        return view

    return mark


def hash_of(body: bytes) -> str:
    """The same for the same bytes in every process."""
    digest = hashlib.sha1(usedforsecurity=False)
    whole = memoryview(body)
    for start in range(0, len(whole), CHUNK):
        digest.update(whole[start : start + CHUNK])
    return digest.hexdigest()
