"""Fixture of a user with a fixed number and e-mail."""

import pytest

from tests.helpers.factories import make_user


@pytest.fixture
def owner(client):
    return client.as_(make_user(username="siti", email="siti@example.com", nomor_hp="081234567890"))
