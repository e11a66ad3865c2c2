"""Tests of where personal texts are stored after a day of reminders, alerts, replies and broadcasts."""

import logging
from datetime import timedelta

import pytest
import sqlalchemy as sa

from app.caregivers import service as caregivers
from app.core.database.session import db, unit_of_work
from app.identity.models import RoleName
from app.notifications import jobs as outbox_jobs
from app.notifications.broadcasts import fan_out
from app.notifications.models import Broadcast, Delivery, DeliveryState, deliveries
from app.pengingat import jobs
from app.pengingat.models import Occurrence, Pengingat
from app.providers import messaging as provider
from tests.forum.posts import category_id, write_reply, write_thread
from tests.helpers.apps import config_for_tests
from tests.helpers.client import Client
from tests.helpers.factories import make_user
from tests.pengingat.medicines import medicine
from tests.personal_data.traces import places_of

#: Personal texts, with the tables that may contain each of them.
OWN = {
    "Namaqx": {"users"},
    "Penulisqx": {"users"},
    "Judulqx": {"reminders", "occurrences"},
    "Obatqx": {"reminders"},
    "Utasqx": {"posts"},
    "81277660044": {"users", "phone_numbers"},
}


@pytest.fixture
def gateway(committed, sim, real_app, monkeypatch, change_settings):
    """Return a simulated provider. Change the settings, so that broadcasts may be sent at any hour."""
    change_settings(broadcast_hours=(0, 24))
    monkeypatch.setitem(real_app.extensions, "messenger", provider.make(config_for_tests(**sim.messaging.env())))
    return sim


def pass_hour():
    hour = timedelta(hours=1)
    with unit_of_work():
        for table, names in (
            (Delivery, ("due_at", "next_try_at", "expires_at")),
            (Occurrence, ("due_at",)),
            (Pengingat, ("planned_until",)),
            (Broadcast, ("starts_at",)),
        ):
            moments = {name: getattr(table, name) - hour for name in names}
            db.session.execute(sa.update(table).values(moments).execution_options(synchronize_session=False))
    jobs.top_up()
    jobs.miss_overdue()
    for broadcast_id in db.session.scalars(sa.select(Broadcast.id).where(Broadcast.starts_at < sa.func.now())).all():
        fan_out.fan_out(broadcast_id)
    outbox_jobs.drain("urgent")
    outbox_jobs.drain("bulk")


def test_after_a_day_personal_texts_are_only_in_the_expected_tables(gateway, committed, caplog, change_settings):
    caplog.set_level(logging.DEBUG)
    with unit_of_work():
        siti = make_user(nama_ktp="Namaqx Aminah", nomor_hp="081277660044")
        budi, rina = make_user(RoleName.PENDAMPING), make_user(nama_ktp="Penulisqx")
        siti_id, budi_id = siti.id, budi.id
        caregivers.create(budi_id, siti_id)
        caregivers.update_scopes(siti_id, budi_id, ["alerts", "history"])
    change_settings(environment="production")  # production stores no message texts
    client = Client(committed)
    medicine(siti_id, "Obatqx", title="Judulqx", penting=True)
    thread = write_thread(client.as_(siti), title="Utasqx", category_id=category_id("Umum"))
    write_reply(client.as_(rina), thread["id"])
    outbox_jobs.drain("urgent")
    for _ in range(24):
        pass_hour()
    said = " ".join(["", *(message.text for message in gateway.messaging.sent)])
    assert all(f" {word}" in said or f"“{word}" in said for word in ("Namaqx", "Penulisqx", "Obatqx", "Utasqx")), said
    assert {"reminder", "alert", "forum_reply", "broadcast", "security_notice"} <= set(
        db.session.scalars(sa.select(deliveries.c.kind).where(deliveries.c.state == DeliveryState.SENT))
    )
    places = places_of(committed, OWN)
    for mark, own in OWN.items():
        assert places[mark] <= own, mark
        told = [record for record in caplog.records if not record.name.startswith(("sqlalchemy", "tests", "dev"))]
        assert not [record for record in told if mark in str(vars(record))], mark
