"""Fixtures of the end-to-end tests, with the running service."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from flask import Flask

from dev.simulators import Server
from dev.stack.processes import Stack
from tests.helpers.apps import empty


@pytest.fixture(scope="module", autouse=True)
def _emptied(real_app: Flask) -> Iterator[None]:
    """Empty the database after each test file, because separate processes have committed rows to it."""
    yield
    with real_app.app_context():
        empty()


@pytest.fixture
def stack(committed: Flask, variables: dict[str, str], sim: Server, tmp_path: Path) -> Iterator[Stack]:
    env = {**variables, **sim.messaging.env(), **sim.captcha.env(), "FRONTEND_URL": "https://app.example.org",
           "JWT_SECRET_KEYS": "end-to-end-" + "k" * 60}  # fmt: skip
    with Stack(env, tmp_path) as stack:
        yield stack
