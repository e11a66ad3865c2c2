"""The watchman outside: an address that is called while all is well, and that raises the alarm when nobody calls.

The wire of https://healthchecks.io/docs/http_api/: the address itself says that all is well, `/fail` below it that it
is not, and the body of a POST is shown beside either.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from app.providers.http import Http
from app.providers.sockets import AddressPolicy


def tell(url: str, problems: Sequence[str]) -> None:
    """Say at `url` what is wrong, a line each; with no problems that all is well. Raises `ProviderError`."""
    _client().fetch("POST", f"{url}/fail" if problems else url, data="\n".join(problems).encode())


@cache
def _client() -> Http:
    # The address is the operator's own.
    return Http("heartbeat", policy=AddressPolicy.ANYWHERE, attempts=2, parallel=1)
