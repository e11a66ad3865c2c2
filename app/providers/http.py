"""HTTP client for every call to an outside service.

The client limits the time of a call, the size of a response and parallel calls. It follows no redirects, and retries
only calls that are safe to repeat. A query string may contain keys, so logs and errors contain no query strings.
"""

from __future__ import annotations

import logging
import os
import random
import ssl
import threading
import time
from collections.abc import Mapping
from http.cookiejar import DefaultCookiePolicy
from typing import Any
from weakref import WeakSet

import requests
import urllib3.exceptions
from requests.adapters import HTTPAdapter

from app.core.operations.metrics import count_provider_call
from app.providers.responses import ErrorKind, ProviderError, ProviderResponse, status_error

__all__ = ["Http", "ProviderError", "ProviderResponse"]

logger = logging.getLogger(__name__)

USER_AGENT = "health-support/1.0"

#: Maximum bytes that are read at once. Between two reads the client checks the time and the size.
_CHUNK_BYTES = 65_536


class Http:
    """Client for the calls to one provider.

    Threads can share a client. A forked child process opens new connections.
    """

    def __init__(
        self,
        provider: str,
        *,
        headers: Mapping[str, str] | None = None,
        connect_s: float = 2.0,
        read_s: float = 3.0,
        budget_s: float = 6.0,
        attempts: int = 3,
        max_bytes: int = 2_000_000,
        parallel: int = 4,
    ) -> None:
        """Set up the client. `budget_s` limits the seconds of one `fetch`, including its retries.

        A read that has begun may exceed the budget by `read_s`. `parallel` is the maximum number of simultaneous calls
        of this process.
        """
        self.provider = provider
        self.budget_s = budget_s
        self._headers = {"User-Agent": USER_AGENT, "Accept-Encoding": "gzip, deflate", **(headers or {})}
        self._connect_s, self._read_s = connect_s, read_s
        self._attempts = attempts
        self._max_bytes = max_bytes
        self._parallel = parallel
        self.reset()
        _clients.add(self)

    def reset(self) -> None:
        """Drop all connections."""
        self._session = session(self._headers, self._parallel)
        self._slots = threading.BoundedSemaphore(self._parallel)

    def get_json(self, url: str, params: Mapping[str, object], *, budget_s: float | None = None) -> dict[str, object]:
        return self.fetch("GET", url, params=params, budget_s=budget_s).json()

    def fetch(self, method: str, url: str, *, budget_s: float | None = None, **parts: Any) -> ProviderResponse:
        """Return the provider's 2xx response. Raise `ProviderError` for any other result.

        A GET is retried on a temporary status, on timeouts and on connection errors, within the time budget. Any other
        method is retried only if no connection was made. `parts` are arguments of `requests.Session.request`.
        """
        stop = time.monotonic() + (self.budget_s if budget_s is None else budget_s)
        tries = 0
        while True:
            tries += 1
            result = self._attempt(method, url, parts, stop)
            if isinstance(result, ProviderResponse):
                return result
            logger.warning("%s", result, extra={"provider": self.provider})
            is_repeatable = result.kind == "unreachable" or (
                method == "GET" and not result.permanent and result.kind in ("timeout", "broken", "status")
            )
            backoff: float = 0.2 * 2 ** (tries - 1) * random.uniform(0.5, 1.5)  # noqa: S311  # no secret
            wait = max(backoff, result.retry_after or 0)
            if not is_repeatable or tries >= self._attempts or time.monotonic() + wait >= stop:
                raise result
            time.sleep(wait)

    def _attempt(self, method: str, url: str, parts: dict[str, Any], stop: float) -> ProviderResponse | ProviderError:
        slots = self._slots
        if not slots.acquire(blocking=False):
            return ProviderError(self.provider, "busy", retry_after=5)
        started = time.monotonic()
        try:
            result = self._exchange(method, url, parts, stop)
        finally:
            slots.release()
        outcome = "ok" if isinstance(result, ProviderResponse) else result.outcome
        count_provider_call(self.provider, outcome, time.monotonic() - started)
        return result

    def _exchange(self, method: str, url: str, parts: dict[str, Any], stop: float) -> ProviderResponse | ProviderError:
        """Send one request and return the response or the error.

        Do not raise the error here. Otherwise Python would attach the library's error to our error, and the logs would
        show both errors. The library's error quotes the address, which may contain the provider's key.
        """
        left = max(stop - time.monotonic(), 0.01)
        timeouts = (min(self._connect_s, left), min(self._read_s, left))
        body = b""
        try:
            with self._session.request(
                method, url, **parts, timeout=timeouts, stream=True, allow_redirects=False
            ) as answer:
                while len(body) <= self._max_bytes and (
                    data := answer.raw.read1(min(_CHUNK_BYTES, self._max_bytes + 1), decode_content=True)
                ):
                    body += data
                    if time.monotonic() > stop:
                        return ProviderError(self.provider, "timeout", written=True)
        except (OSError, urllib3.exceptions.HTTPError, ValueError) as error:
            kind = _kind(error)
            return ProviderError(
                self.provider, kind, permanent=kind == "refused", written=kind not in ("refused", "unreachable")
            )
        response = ProviderResponse(self.provider, url, answer.status_code, answer.headers, body)
        refusal = status_error(response)
        if refusal is None and len(body) > self._max_bytes:
            return ProviderError(self.provider, "oversized", permanent=True, written=True)
        return refusal or response


def session(headers: Mapping[str, str], parallel: int) -> requests.Session:
    """Return a session that keeps up to `parallel` connections, and uses neither cookies, `.netrc` nor proxies."""
    made = requests.Session()
    made.trust_env = False
    made.cookies.set_policy(DefaultCookiePolicy(allowed_domains=[]))
    made.headers.clear()
    made.headers.update(headers)
    for scheme in ("http://", "https://"):
        made.mount(scheme, HTTPAdapter(pool_connections=parallel, pool_maxsize=parallel))
    return made


def _kind(error: Exception) -> ErrorKind:
    """Return our error kind for an error of the library `requests` or `urllib3`.

    An error of `requests` has the error of `urllib3` in its `args`.
    """
    inner = error.args[0] if error.args else None
    cause = getattr(inner, "reason", inner)
    is_distrusted = any(isinstance(each, ssl.SSLCertVerificationError) for each in getattr(cause, "args", ()))
    is_unconnected = isinstance(cause, urllib3.exceptions.NewConnectionError)
    if is_distrusted or is_unconnected or isinstance(error, requests.ConnectTimeout):
        return "unreachable"
    if isinstance(error, (requests.Timeout, TimeoutError, urllib3.exceptions.TimeoutError)):
        return "timeout"
    return "refused" if isinstance(error, ValueError) else "broken"  # a ValueError means an invalid address


_clients: WeakSet[Http] = WeakSet()


def _reset_all() -> None:
    for client in list(_clients):
        client.reset()


def init_app() -> None:
    """Make every forked process reset its clients.

    If two processes shared one connection, each could read the other's responses.
    """
    os.register_at_fork(after_in_child=_reset_all)
