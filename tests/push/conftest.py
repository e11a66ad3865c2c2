"""Fixtures: browsers of the push simulator, a person, and the application with keys for web push."""

import pytest

from app.core.database.session import unit_of_work
from tests.helpers.client import Client
from tests.helpers.factories import make_user


@pytest.fixture
def browser(sim, keys):
    """Return a new browser's subscription, which uses the service's VAPID key."""
    return sim.push.subscribe(keys)


@pytest.fixture
def other_browser(sim, keys):
    return sim.push.subscribe(keys)


@pytest.fixture
def caller(committed, keys):
    """Return a client whose requests are committed, so that the worker sees their effects."""
    return Client(committed)


@pytest.fixture
def user_id():
    with unit_of_work():
        user = make_user()
    return user.id
