"""Fixtures of the end-to-end tests, with the running service."""

import pytest

from dev.stack.processes import Stack
from tests.helpers.apps import empty


@pytest.fixture(scope="module", autouse=True)
def _emptied(real_app):
    """Empty the database after each test file, because separate processes have committed rows to it."""
    yield
    with real_app.app_context():
        empty()


@pytest.fixture
def stack(committed, variables, sim, tmp_path):
    env = {**variables, **sim.messaging.env(), **sim.captcha.env(), "FRONTEND_URL": "https://app.example.org",
           "JWT_SECRET_KEYS": "end-to-end-" + "k" * 60}  # fmt: skip
    with Stack(env, tmp_path) as stack:
        yield stack
