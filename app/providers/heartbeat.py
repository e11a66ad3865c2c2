"""Heartbeat to an external monitor, which raises an alarm when the calls stop.

The protocol is https://healthchecks.io/docs/http_api/. A call to the address reports success. A call to the address
with `/fail` at its end reports a failure. The monitor shows the body of the POST in both cases.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from app.providers.http import Http


def send(url: str, problems: Sequence[str]) -> None:
    """Report the problems to the monitor at `url`, one per line. Report success if the list is empty.

    Raise `ProviderError` if the call fails.
    """
    _client().fetch("POST", f"{url}/fail" if problems else url, data="\n".join(problems).encode())


@cache
def _client() -> Http:
    return Http("heartbeat", attempts=2, parallel=1)
