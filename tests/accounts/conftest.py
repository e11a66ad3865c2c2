"""Fixture of a user with a fixed number and e-mail."""

from __future__ import annotations

import pytest

from tests.helpers.client import Client
from tests.helpers.factories import make_user


@pytest.fixture
def owner(client: Client) -> Client:
    return client.as_(make_user(username="siti", email="siti@example.com", nomor_hp="081234567890"))
