"""Helpers that create HTTP clients of providers, and return the error of a call."""

from __future__ import annotations

from typing import Any

import pytest

from app.providers.http import Http, ProviderError
from tests.providers.patience import PATIENT

OK = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 11\r\n\r\n" + b'{"ok":true}'


def client(**options: Any) -> Http:
    return Http("test", **{"attempts": 1, **PATIENT, **options})


def failure(http: Http, url: str, method: str = "GET", **options: Any) -> ProviderError:
    with pytest.raises(ProviderError) as caught:
        http.fetch(method, url, **options).json()
    return caught.value
