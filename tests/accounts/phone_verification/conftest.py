"""Fixture of a user whose requests commit to the database."""

import pytest

from app.core.database.session import unit_of_work
from app.identity import sessions, users
from tests.accounts.phone_verification.proofs import OWN
from tests.helpers.client import Client
from tests.helpers.factories import make_user


@pytest.fixture
def really(committed):
    """Return a client of Siti whose requests commit to the database.

    A wrong code rolls back its request, but the count of wrong codes must remain.
    """
    with unit_of_work():
        user_id = make_user(username="siti", nomor_hp=OWN).id
    with unit_of_work():
        return Client(committed, sessions.begin(users.get(user_id)).access_token)
