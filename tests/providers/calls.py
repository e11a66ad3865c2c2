"""Helpers that create HTTP clients of providers, and return the error of a call."""

import pytest

from app.providers.http import Http, ProviderError
from tests.providers.patience import PATIENT


def ok(body):
    """Return the bytes of a successful response with this body."""
    return b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body) + body


OK = ok(b'{"ok":true}')


def client(**options):
    return Http("test", **{"attempts": 1, **PATIENT, **options})


def failure(http, url, method="GET", **options):
    with pytest.raises(ProviderError) as caught:
        http.fetch(method, url, **options).json()
    return caught.value
