"""Who writes in the forum, and who decides about it."""

from __future__ import annotations

import pytest

from tests.helpers.client import Client
from tests.helpers.factories import make_user


@pytest.fixture
def siti(client: Client) -> Client:
    return client.as_(make_user())
