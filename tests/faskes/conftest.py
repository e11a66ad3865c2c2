"""Fixture of a simulated places provider that counts its calls."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from flask import Flask

from app.providers import places
from app.providers.http import Http
from dev.simulators import Server
from tests.conftest import config_for_tests
from tests.providers.patience import PATIENT


@pytest.fixture
def provider(real_app: Flask, sim: Server, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """Configure a simulated places provider. Its page tokens are valid at once."""
    sim.places.delay_s = 0
    config = config_for_tests(**sim.places.env())
    asked = places.from_config(config)
    assert asked is not None
    asked._http = Http("places", attempts=1, **PATIENT)
    monkeypatch.setitem(real_app.extensions, "config", config)
    yield sim
    places.from_config.cache_clear()
