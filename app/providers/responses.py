"""What comes back from a provider: its whole answer, or an error that says what to do about it."""

from __future__ import annotations

import email.utils
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import orjson

#: What went wrong:
#: - `timeout`: it took too long; `unreachable`: no connection came about, so nothing happened there
#: - `broken`: the connection or the answer broke off; `garbage`: the answer makes no sense
#: - `status`: an error status; `redirect`: one that we may not follow; `oversized`: more than we want
#: - `refused`: an address that we may not call; `busy`: not even tried, the provider has enough to do
Kind = Literal["timeout", "unreachable", "broken", "garbage", "status", "redirect", "oversized", "refused", "busy"]

#: The answer may be another one soon.
_TRANSIENT_STATUSES = frozenset({408, 425, 429})
#: A NUL as JSON writes it, which PostgreSQL holds in no text. A backslash that is escaped itself begins none.
_NUL = re.compile(rb"(?<!\\)((?:\\\\)*)\\u0000")
_REDIRECTS = frozenset({301, 302, 303, 307, 308})


class ProviderError(Exception):
    """A call that failed. `permanent` means that repeating it is of no use, `retry_after` is in seconds.

    `written` says that the request, or a part of it, had left when the call failed.

    `response` is the provider's answer, where one came; its text is for the adapter, never for a log or a
    client.
    """

    def __init__(
        self,
        provider: str,
        kind: Kind,
        *,
        permanent: bool = False,
        retry_after: float | None = None,
        response: ProviderResponse | None = None,
        reason: str | None = None,
        written: bool = False,
    ) -> None:
        self.provider = provider
        self.written = written
        self.kind = kind
        self.permanent = permanent
        self.retry_after = retry_after
        self.response = response
        self.status = response.status if response else None
        #: The provider's own words, for an operator alone.
        self.words: str | None = None
        self.reason = reason or (f"status {self.status}" if kind == "status" else kind)
        super().__init__(f"{provider}: {self.reason}")

    @property
    def timed_out(self) -> bool:
        return self.kind == "timeout"

    @property
    def outcome_unknown(self) -> bool:
        """Whether the provider may have done what was asked: the request was written, and no answer says otherwise.

        An error status does say so. A good one around a body that makes no sense says neither.
        """
        return self.written and self.kind in ("timeout", "broken", "garbage", "oversized")

    @property
    def is_down(self) -> bool:
        """Whether the host itself is in trouble, rather than our call wrong or unwelcome."""
        return self.kind in ("timeout", "unreachable", "broken") or (self.status or 0) >= 500

    @property
    def outcome(self) -> str:
        """The label of the metrics."""
        return f"{self.status // 100}xx" if self.kind == "status" and self.status else self.kind


@dataclass(frozen=True, slots=True)
class ProviderResponse:
    """A provider's whole answer, read and unpacked."""

    provider: str
    url: str
    status: int
    headers: Mapping[str, str]
    body: bytes

    def json(self) -> dict[str, object]:
        """The JSON object of the body, without NULs; anything else is `garbage`, whatever type the headers claim."""
        try:
            value = orjson.loads(_NUL.sub(rb"\1", self.body))
        except ValueError:
            value = None
        if not isinstance(value, dict):
            raise self.garbage()
        return value

    def garbage(self) -> ProviderError:
        """The error of a good status whose body makes no sense."""
        return ProviderError(self.provider, "garbage", response=self, written=True)


def status_error(response: ProviderResponse) -> ProviderError | None:
    """The error that a status means; `None` for 2xx."""
    if 200 <= response.status < 300:
        return None
    if response.status in _REDIRECTS:
        return ProviderError(response.provider, "redirect", permanent=True, response=response)
    transient = response.status >= 500 or response.status in _TRANSIENT_STATUSES
    wait = retry_after(response.headers.get("Retry-After"))
    return ProviderError(response.provider, "status", permanent=not transient, retry_after=wait, response=response)


def retry_after(text: str | None) -> float | None:
    """Seconds of a `Retry-After` header: a number or a date; `None` for neither."""
    if not text:
        return None
    if text.strip().isdecimal():
        return float(text) if len(text) < 9 else None
    try:
        moment = email.utils.parsedate_to_datetime(text)
    except ValueError:
        return None
    return max(0.0, moment.timestamp() - time.time())
