"""Webhook events about the service's own number."""

import sqlalchemy as sa

from app.core.database.session import db, unit_of_work
from app.core.jobs.queue import connection
from app.inbox import jobs as inbox
from app.notifications.models import Inbound
from app.providers import webhooks

QUALITY = {"event": "FLAGGED", "current_limit": "TIER_250"}


def change(field, value):
    return {"entry": [{"time": 1, "changes": [{"field": field, "value": value}]}]}


EVENTS = [
    ("fonnte", webhooks.read_fonnte_device, {"device": "6281", "status": "disconnect"}, True),
    ("whatsapp_cloud", webhooks.read_whatsapp, change("account_update", {"event": "DISABLED_UPDATE"}), True),
    ("whatsapp_cloud", webhooks.read_whatsapp, change("phone_number_quality_update", QUALITY), True),
    ("whatsapp_cloud", webhooks.read_fonnte_device, {"device": "6281", "status": "disconnect"}, False),
]


def test_an_event_about_the_account_rings_the_check_of_the_sender(committed, sim, configure):
    for provider, reader, body, is_heard in EVENTS:
        configure(MESSAGING_PROVIDER=provider)
        with unit_of_work():
            db.session.execute(sa.delete(Inbound))
            for each in reader(body):
                row = Inbound(provider=each.provider, kind=each.kind, payload=dict(each.payload), event_key=each.key)
                db.session.add(row)
        inbox.handle()
        assert db.session.scalars(sa.select(Inbound.outcome)).all() == ["noted" if is_heard else "ignored"]
        assert connection().llen("rq:queue:bulk") == int(is_heard), (provider, body)
        connection().flushdb()
