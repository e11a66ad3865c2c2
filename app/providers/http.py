"""HTTP client for every call to an outside service.

The client limits the time of a call, the size of a response, parallel calls, addresses and redirects. The client
retries only calls that are safe to repeat. A query string may contain keys, so logs and errors contain no query
strings.
"""

from __future__ import annotations

import logging
import os
import random
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from http.cookiejar import DefaultCookiePolicy
from typing import Any
from urllib.parse import urljoin, urlsplit
from weakref import WeakSet

import requests
import urllib3.exceptions
from requests.structures import CaseInsensitiveDict

from app.core.operations.metrics import count_provider_call
from app.providers.circuit_breaker import Breaker
from app.providers.responses import ErrorKind, ProviderError, ProviderResponse, status_error
from app.providers.sockets import Adapter, AddressPolicy, AddressRefusedError, deadline, is_written
from config import Config

__all__ = ["AddressPolicy", "Http", "ProviderError", "ProviderResponse", "policy_of"]

logger = logging.getLogger(__name__)

USER_AGENT = "health-support/1.0"

_MAX_REDIRECTS = 5


def policy_of(config: Config, setting: str) -> AddressPolicy:
    """Return the address policy for the service whose address is in a setting.

    In production, only public addresses are allowed if the setting has its default value or None. In all other cases,
    any address is allowed, because the address from the operator is trusted.
    """
    default = next(field.default for field in fields(Config) if field.name == setting)
    if config.is_production and getattr(config, setting) in (default, None):
        return AddressPolicy.PUBLIC
    return AddressPolicy.ANYWHERE


class Http:
    """Client for the calls to one provider.

    Threads can share a client. A forked child process opens new connections.
    """

    def __init__(
        self,
        provider: str,
        *,
        policy: AddressPolicy = AddressPolicy.PUBLIC,
        headers: Mapping[str, str] | None = None,
        connect_s: float = 2.0,
        read_s: float = 4.0,
        budget_s: float = 6.0,
        attempts: int = 3,
        max_bytes: int = 2_000_000,
        parallel: int = 4,
    ) -> None:
        """Set up the client. `budget_s` limits the seconds of one `fetch`, including its retries.

        `parallel` is the maximum number of simultaneous calls of this process.
        """
        self.provider = provider
        self.budget_s = budget_s
        self._policy = policy
        self._headers = {"User-Agent": USER_AGENT, "Accept-Encoding": "gzip, deflate", **(headers or {})}
        self._connect_s, self._read_s = connect_s, read_s
        self._attempts = attempts
        self._max_bytes = max_bytes
        self._parallel = parallel
        self.reset()
        _clients.add(self)

    def reset(self) -> None:
        """Drop all connections and recorded failures."""
        self._session = requests.Session()
        self._session.trust_env = False  # use no .netrc, and no proxy: a proxy resolves host names itself
        self._session.cookies.set_policy(DefaultCookiePolicy(allowed_domains=[]))
        self._session.headers.clear()
        self._session.headers.update(self._headers)
        adapter = Adapter(self._policy, self._parallel)
        self._session.mount("http://", adapter)
        self._session.mount("https://", adapter)
        self._slots = threading.BoundedSemaphore(self._parallel)
        self._breaker = Breaker()

    def get_json(self, url: str, params: Mapping[str, object], *, budget_s: float | None = None) -> dict[str, object]:
        return self.fetch("GET", url, params=params, budget_s=budget_s).json()

    def fetch(
        self,
        method: str,
        url: str,
        *,
        params: Mapping[str, object] | None = None,
        data: Mapping[str, object] | bytes | None = None,
        json: object = None,
        headers: Mapping[str, str] | None = None,
        budget_s: float | None = None,
        may_follow: Callable[[str], bool] | None = None,
    ) -> ProviderResponse:
        """Return the provider's 2xx response. Raise `ProviderError` for any other result.

        A GET or HEAD is retried on a temporary status, on timeouts and on connection errors, within the time budget.
        Any other method is retried only if no connection was made. Redirects of a GET or HEAD are followed only where
        `may_follow` returns true.
        """
        stop = time.monotonic() + (self.budget_s if budget_s is None else budget_s)
        call = _Call(method, url, {"params": params, "data": data, "json": json, "headers": dict(headers or {})})
        tries = hops = 0
        while True:
            try:
                return self._attempt(call, stop)
            except ProviderError as error:
                target = _redirect_target(call, error)
                if target and may_follow and hops < _MAX_REDIRECTS and may_follow(target):
                    hops += 1
                    call = call.moved(target)
                    continue
                logger.warning("%s", error, extra={"provider": self.provider})
                tries += 1
                wait = self._wait(call, error, tries)
                if wait is None or time.monotonic() + wait >= stop:
                    raise
            time.sleep(wait)

    def _wait(self, call: _Call, error: ProviderError, tries: int) -> float | None:
        repeatable = error.kind == "unreachable" or (
            call.is_read and not error.permanent and error.kind in ("timeout", "broken", "status")
        )
        if not repeatable or tries >= self._attempts:
            return None
        backoff: float = 0.2 * 2 ** (tries - 1) * random.uniform(0.5, 1.5)  # noqa: S311  # no secret
        return max(backoff, error.retry_after or 0)

    def _attempt(self, call: _Call, stop: float) -> ProviderResponse:
        host = _origin(call.url)[1]
        slots = self._slots
        if not self._breaker.allows(host) or not slots.acquire(blocking=False):
            raise ProviderError(self.provider, "busy", retry_after=Breaker.REST_S)
        started = time.monotonic()
        try:
            result = self._exchange(call, max(stop - started, 0.01))
        finally:
            slots.release()
        seconds = time.monotonic() - started
        if isinstance(result, ProviderResponse):
            self._breaker.record(host, down=False)
            count_provider_call(self.provider, "ok", seconds)
            return result
        self._breaker.record(host, down=result.is_down)
        count_provider_call(self.provider, result.outcome, seconds)
        raise result

    def _exchange(self, call: _Call, seconds: float) -> ProviderResponse | ProviderError:
        """Send one request and return the response or the error.

        Do not raise the error here. Otherwise Python would attach the library's error to our error, and the logs would
        show both errors.
        The library's error quotes the address, which may contain the provider's key.
        """
        timeouts = (min(self._connect_s, seconds), min(self._read_s, seconds))
        with deadline(seconds) as passed:
            try:
                with self._session.request(
                    call.method, call.url, **call.parts, timeout=timeouts, stream=True, allow_redirects=False
                ) as raw:
                    body = raw.raw.read(self._max_bytes + 1, decode_content=True)
            except (OSError, urllib3.exceptions.HTTPError, ValueError) as error:
                return self._failure("timeout" if passed.is_set() else _kind(error))
            if passed.is_set() and not _says_its_end(raw):
                return self._failure("timeout")  # the body may be truncated: the response has no length to compare
        headers = CaseInsensitiveDict(raw.headers)
        response = ProviderResponse(self.provider, call.url, raw.status_code, headers, body)
        refusal = status_error(response)
        if refusal is None and len(body) > self._max_bytes:
            return ProviderError(self.provider, "oversized", permanent=True, written=True)
        return refusal or response

    def _failure(self, kind: ErrorKind) -> ProviderError:
        return ProviderError(self.provider, kind, permanent=kind == "refused", written=is_written())


@dataclass(frozen=True, slots=True)
class _Call:
    method: str
    url: str
    parts: dict[str, Any]

    @property
    def is_read(self) -> bool:
        return self.method in ("GET", "HEAD")

    def moved(self, url: str) -> _Call:
        """Return a call with the same method for the address of a redirect.

        Headers may contain secrets, so the headers are kept only if the origin stays the same.
        """
        same = _origin(url) == _origin(self.url)
        return _Call(self.method, url, {"headers": self.parts["headers"] if same else {}})


def _says_its_end(response: requests.Response) -> bool:
    """Return whether the response declares its length or is chunked. Only then is a truncated body detected."""
    return "Content-Length" in response.headers or response.headers.get("Transfer-Encoding") == "chunked"


def _redirect_target(call: _Call, error: ProviderError) -> str | None:
    if error.kind != "redirect" or not call.is_read or error.response is None:
        return None
    location = error.response.headers.get("Location")
    try:
        return urljoin(call.url, location) if location else None
    except ValueError:
        return None


def _origin(url: str) -> tuple[str, str]:
    """Return the scheme and host of an address. Return two empty strings if the address is invalid."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return "", ""
    return parts.scheme, parts.netloc


def _kind(error: Exception) -> ErrorKind:
    """Return our error kind for an error of the library `requests` or `urllib3`.

    An error of `requests` has the error of `urllib3` in its `args`.
    """
    inner = error.args[0] if error.args else None
    cause = getattr(inner, "reason", inner)
    if isinstance(cause, AddressRefusedError):
        return "refused"
    if isinstance(error, requests.ConnectTimeout) or isinstance(cause, urllib3.exceptions.NewConnectionError):
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
