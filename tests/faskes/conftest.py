"""Fixture of a simulated places provider that counts its calls."""

import pytest

from app.providers import places
from app.providers.http import Http
from tests.conftest import config_for_tests
from tests.providers.patience import PATIENT


@pytest.fixture
def provider(real_app, sim, monkeypatch):
    """Configure a simulated places provider. Its page tokens are valid at once."""
    sim.places.delay_s = 0
    config = config_for_tests(**sim.places.env())
    asked = places.from_config(config)
    asked._http = Http("places", attempts=1, **PATIENT)
    monkeypatch.setitem(real_app.extensions, "config", config)
    yield sim
    places.from_config.cache_clear()
