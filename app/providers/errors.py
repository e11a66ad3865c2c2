"""Error responses for clients if a provider fails and the cache has no value."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from app.core.errors import ProviderFailed, ProviderTimeout
from app.providers.responses import ProviderError


@contextmanager
def answering() -> Iterator[None]:
    """Turn a `ProviderError` into a 502 or 504 response. The provider's own message is not sent to the client."""
    try:
        yield
    except ProviderError as error:
        raise (ProviderTimeout() if error.timed_out else ProviderFailed()) from error
