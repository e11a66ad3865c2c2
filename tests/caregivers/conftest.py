"""A patient and a caregiver, who know nothing of each other yet."""

from __future__ import annotations

from typing import Any

import pytest

from app.identity.models import RoleName, User
from tests.helpers.client import Client
from tests.helpers.factories import make_user

PATH = "/patient/invitations"


@pytest.fixture
def budi(client: Client) -> User:
    return make_user(RoleName.PENDAMPING, username="budi", nama_ktp="Budi Santoso")


@pytest.fixture
def siti(client: Client) -> User:
    return make_user(RoleName.PASIEN, username="siti", nama_ktp="Siti Aminah")


@pytest.fixture
def as_budi(client: Client, budi: User) -> Client:
    return client.as_(budi)


@pytest.fixture
def as_siti(client: Client, siti: User) -> Client:
    return client.as_(siti)


def invite(patient: Client, *scopes: str) -> dict[str, Any]:
    response = patient.post(PATH, {"scopes": list(scopes)})
    assert response.status_code == 201, response.text
    invitation: dict[str, Any] = response.json
    return invitation
