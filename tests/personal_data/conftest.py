"""A person, whose rows and pictures are looked for."""

from __future__ import annotations

import pytest
from flask import Flask

from app.identity.models import User
from tests.helpers.client import Client
from tests.helpers.factories import make_user
from tests.personal_data.leaving import PERSON


@pytest.fixture
def siti(app: Flask) -> User:
    return make_user(**PERSON)


@pytest.fixture
def mine(client: Client, siti: User) -> Client:
    return client.as_(siti)
