"""Fixture of the person whose stored data the tests search for."""

from __future__ import annotations

import pytest

from tests.helpers.client import Client
from tests.helpers.factories import make_user
from tests.personal_data.leaving import PERSON


@pytest.fixture
def mine(client: Client) -> Client:
    return client.as_(make_user(**PERSON))
