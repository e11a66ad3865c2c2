"""The administrator who looks after the others."""

from __future__ import annotations

import pytest

from tests.helpers.client import Client
from tests.helpers.factories import make_admin


@pytest.fixture
def admin(client: Client) -> Client:
    return client.as_(make_admin(username="rina", nama_ktp="Rina Wijaya"))
