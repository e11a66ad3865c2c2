"""Fixtures for the SQL console. It uses its own connections, so its tests commit."""

import pytest

from app.core.database.session import db
from app.identity.models import RoleName
from app.superadmin.service import session
from dev.stack.waiting import PATIENCE_S
from tests.helpers.client import Client
from tests.helpers.factories import make_user


@pytest.fixture(autouse=True)
def patient(monkeypatch):
    """Raise the time limit of statements, so that a busy machine causes no timeout."""
    monkeypatch.setattr(session, "LIMIT_S", PATIENCE_S)


@pytest.fixture
def boss(committed):
    """Create a super-admin and commit, so that other connections see them."""
    user = make_user(RoleName.SUPERADMIN, username="bos", nik="3273014502900001")
    client = Client(committed).as_superadmin(user)
    db.session.commit()
    return client
