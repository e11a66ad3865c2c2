"""What a client is told when a provider failed and nothing kept can serve."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from app.core.errors import ProviderFailed, ProviderTimeout
from app.providers.responses import ProviderError


@contextmanager
def answering() -> Iterator[None]:
    """Turn a `ProviderError` into the contract's 502 or 504; the provider's own words stay here."""
    try:
        yield
    except ProviderError as error:
        raise (ProviderTimeout() if error.timed_out else ProviderFailed()) from error
