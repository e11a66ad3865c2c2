"""Fixtures: a browser of the push simulator, and a person."""

import pytest

from app.core.database.session import unit_of_work
from tests.helpers.factories import make_user


@pytest.fixture
def browser(sim, keys):
    """Return a new browser's subscription, which uses the service's VAPID key."""
    return sim.push.subscribe(keys)


@pytest.fixture
def user_id():
    with unit_of_work():
        user = make_user()
    return user.id
