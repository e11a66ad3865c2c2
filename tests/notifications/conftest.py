"""The outbox with a simulated gateway behind it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from itertools import count
from typing import Any

import pytest
import sqlalchemy as sa
from flask import Flask

from app.core.database.session import db, unit_of_work
from app.core.lib import clock
from app.notifications import outbox
from app.notifications.models import Channel, Delivery, deliveries
from app.providers import messaging
from dev.simulators import Server
from tests.conftest import config_for_tests

_numbers = count(1)


@pytest.fixture
def gateway(real_app: Flask, sim: Server, monkeypatch: pytest.MonkeyPatch) -> Server:
    """Messages of the application go to the simulator."""
    monkeypatch.setitem(real_app.extensions, "messenger", messaging.make(config_for_tests(**sim.messaging.env())))
    return sim


def add(**fields: Any) -> Delivery:
    """One message in the outbox, committed."""
    n = next(_numbers)
    values: dict[str, Any] = {
        "kind": "test",
        "channel": Channel.MESSAGING,
        "dedupe_key": f"test:{n}",
        "payload": {"text": f"Halo {n}"},
        "target": f"+62812{n:08d}",
        "expires_at": clock.now() + timedelta(hours=1),
        **fields,
    }
    with unit_of_work():
        outbox.add(outbox.Draft(**values))
    return reread(values["dedupe_key"])


def reread(dedupe_key: str) -> Delivery:
    db.session.expire_all()
    return db.session.scalars(sa.select(Delivery).filter_by(dedupe_key=dedupe_key)).one()


def age(seconds: float, *, of: Delivery) -> None:
    """Let time pass for one delivery."""
    back = timedelta(seconds=seconds)
    with unit_of_work():
        db.session.execute(
            sa.update(deliveries)
            .where(deliveries.c.id == of.id)
            .values({name: deliveries.c[name] - back for name in ("due_at", "next_try_at", "expires_at", "created_at")})
        )


Adder = Callable[..., Delivery]
