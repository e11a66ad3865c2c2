"""Fixture of the person whose stored data the tests search for."""

import pytest

from tests.helpers.factories import make_user
from tests.personal_data.leaving import PERSON


@pytest.fixture
def mine(client):
    return client.as_(make_user(**PERSON))
