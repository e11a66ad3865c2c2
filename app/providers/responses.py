"""Provider responses, and the error that says whether a retry is useful."""

from __future__ import annotations

import email.utils
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import MAXYEAR, datetime, tzinfo
from typing import Literal

import orjson

from app.core.lib.local_time import rfc3339

#: Kinds of errors:
#: - `timeout`: the call took too long
#: - `unreachable`: no connection was made, so the provider did nothing
#: - `broken`: the connection or the response broke off
#: - `garbage`: the response is not understandable
#: - `status`: an error status
#: - `redirect`: a redirect that must not be followed
#: - `oversized`: the response is longer than the limit
#: - `refused`: the address must not be called
#: - `busy`: not called, because the provider is paused or the parallel calls are used up
ErrorKind = Literal["timeout", "unreachable", "broken", "garbage", "status", "redirect", "oversized", "refused", "busy"]

#: Statuses below 500 that are worth a retry. Some push services throttle with 406.
_TRANSIENT_STATUSES = frozenset({406, 408, 425, 429})
#: Pattern of an escaped NUL character in JSON. PostgreSQL cannot store NUL in a text. If the backslash before `u0000`
#: is itself escaped, the text is not a NUL.
_NUL = re.compile(rb"(?<!\\)((?:\\\\)*)\\u0000")
_REDIRECTS = frozenset({301, 302, 303, 307, 308})


class ProviderError(Exception):
    """A failed call. If `permanent` is True, a retry is useless. `retry_after` is in seconds.

    `written` is True if at least a part of the request was sent. `response` is the provider's response, if any. Only
    the module for this provider may read the body of the response, because the text must not reach logs or the
    clients of our API.
    """

    def __init__(
        self,
        provider: str,
        kind: ErrorKind,
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
        #: The provider's error message, only for operators.
        self.words: str | None = None
        self.reason = reason or (f"status {self.status}" if kind == "status" else kind)
        super().__init__(f"{provider}: {self.reason}")

    @property
    def timed_out(self) -> bool:
        return self.kind == "timeout"

    @property
    def outcome_unknown(self) -> bool:
        """Return whether the provider may have done what was requested.

        The result is True if a part of the request was sent and no error status was received. A 2xx status with an
        unusable body is not an error status.
        """
        return self.written and self.kind in ("timeout", "broken", "garbage", "oversized")

    @property
    def is_down(self) -> bool:
        """Return whether the host itself has trouble. False means that our call was wrong or rejected."""
        return self.kind in ("timeout", "unreachable", "broken") or (self.status or 0) >= 500

    @property
    def outcome(self) -> str:
        """Return the label for the metrics."""
        return f"{self.status // 100}xx" if self.kind == "status" and self.status else self.kind


@dataclass(frozen=True, slots=True)
class ProviderResponse:
    """A complete response, read and unpacked."""

    provider: str
    url: str
    status: int
    headers: Mapping[str, str]
    body: bytes

    def json(self) -> dict[str, object]:
        """Return the JSON object of the body without NULs. The content type is not checked.

        Raise a `garbage` error if the body is not a JSON object.
        """
        try:
            value = orjson.loads(_NUL.sub(rb"\1", self.body))
        except ValueError:
            value = None
        if not isinstance(value, dict):
            raise self.garbage()
        return value

    def garbage(self) -> ProviderError:
        """Return the error for a 2xx response with an unusable body."""
        return ProviderError(self.provider, "garbage", response=self, written=True)


def status_error(response: ProviderResponse) -> ProviderError | None:
    """Return the error for a status, or `None` for 2xx."""
    if 200 <= response.status < 300:
        return None
    if response.status in _REDIRECTS:
        return ProviderError(response.provider, "redirect", permanent=True, response=response)
    transient = response.status >= 500 or response.status in _TRANSIENT_STATUSES
    wait = retry_after(response.headers.get("Retry-After"))
    return ProviderError(response.provider, "status", permanent=not transient, retry_after=wait, response=response)


def one_line(value: object, longest: int) -> str | None:
    """Return a provider's text on one line, without characters that cannot be shown. Return None if it is blank."""
    if not isinstance(value, str):
        return None
    shown = "".join(character if character.isprintable() else " " for character in value)
    return " ".join(shown.split())[:longest] or None


def moment(value: object, zone: tzinfo | None = None) -> str | None:
    """Return a provider's time in RFC 3339 format. Without a time zone, it is a time in `zone`, or else invalid."""
    try:
        read = datetime.fromisoformat(value.strip()) if isinstance(value, str) else None
    except ValueError:
        return None
    zoned = read if read is None or read.tzinfo else read.replace(tzinfo=zone)
    # Years before 1900 have fewer than four digits, and a time near year 9999 may overflow in UTC.
    return rfc3339(zoned) if zoned and zoned.tzinfo and 1900 <= zoned.year < MAXYEAR else None


def retry_after(text: str | None) -> float | None:
    """Return the seconds of a `Retry-After` header, which is a number or a date. Return `None` if it is invalid."""
    if not text:
        return None
    if text.strip().isdecimal():
        return float(text) if len(text) < 9 else None
    try:
        moment = email.utils.parsedate_to_datetime(text)
    except ValueError:
        return None
    return max(0.0, moment.timestamp() - time.time())
