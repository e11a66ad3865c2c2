"""Fixtures: an application with active webhooks, and the fake phone of Siti, a patient."""

import uuid
from datetime import UTC, timedelta

import pytest
import sqlalchemy as sa

from app.core.database.session import db
from app.pengingat.models import Occurrence
from tests.inbox.phones import APP_SECRET, FONNTE_TOKEN, VERIFY_TOKEN, Phone
from tests.inbox.reminders import mark_sent, medicine
from tests.pengingat.conftest import moment

__all__ = ["moment"]


@pytest.fixture
def live(real_app, change_settings):
    """Return the application with active webhooks of both providers."""
    change_settings(
        whatsapp_app_secret=APP_SECRET,
        whatsapp_verify_token=VERIFY_TOKEN,
        fonnte_webhook_token=FONNTE_TOKEN,
        messaging_number="+6281100000000",
    )
    return real_app


@pytest.fixture
def provider(live, client):
    return client


@pytest.fixture
def phone(siti):
    return Phone(siti.user.phone)


@pytest.fixture
def sent(moment, siti):
    """Return a function that sends one reminder message about the named medicines.

    The doses were due `ago` minutes ago. `ref` is the provider's message id.
    """

    def send(*names, ago=5, ref=None):
        due_at, token = moment.now - timedelta(minutes=ago), uuid.uuid4()
        at = (due_at - timedelta(days=1)).astimezone(UTC)
        made = []
        for name in names:
            now, moment.now = moment.now, at
            id_ = medicine(siti, name, f"{due_at:%H:%M}")
            moment.now = now
            row = db.session.scalars(sa.select(Occurrence).filter_by(reminder_id=id_, due_at=due_at)).one()
            mark_sent(row, token, ref)
            made.append(row.id)
        db.session.commit()
        return made

    return send
