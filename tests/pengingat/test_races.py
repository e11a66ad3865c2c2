"""Schedulers, edits and workers that run at the same time."""

from datetime import timedelta

import pytest
import sqlalchemy as sa

from app.core.database.session import db, unit_of_work
from app.notifications.delivery import claims, settlements
from app.notifications.models import Channel, Delivery, DeliveryState
from app.pengingat import jobs, service
from app.pengingat.models import Pengingat
from tests.helpers.overlap import run_together
from tests.pengingat.ledgers import make_reminders, waiting

pytestmark = pytest.mark.processes


def test_four_concurrent_top_ups_add_each_delivery_once(committed, moment, obat):
    for _ in range(4):
        make_reminders(25, obat)
    moment.move(hours=30)
    run_together(committed, *[jobs.top_up] * 4)
    rows = db.session.execute(sa.select(sa.func.count(), sa.func.count(Delivery.dedupe_key.distinct()))).one()
    assert tuple(rows) == (56, 56)  # two for each person and each of seven moments of the past 30 and the next 60 hours


def test_an_edit_during_a_top_up_leaves_only_the_new_schedule(committed, moment, obat):
    user_id, ids = make_reminders(30, obat)
    moment.move(hours=30)
    details = {**obat["details"], "frekuensi": 1, "jadwal": [{"jam": "05:00", "jumlah": 2, "satuan": "tablet"}]}

    def edit():
        for reminder_id in ids:
            with unit_of_work():
                service.update(user_id, reminder_id, {"details": details})

    run_together(committed, edit, jobs.top_up, jobs.top_up)
    jobs.top_up()
    assert [due for due in waiting() if due > "03 07:00"] == ["04 05:00"]  # it is now the 3rd, 07:00


def test_deleting_reminders_during_a_top_up_leaves_no_deliveries(committed, moment, obat):
    user_id, ids = make_reminders(30, obat)
    moment.move(hours=30)

    def remove():
        for reminder_id in ids:
            with unit_of_work():
                service.delete(user_id, reminder_id)

    run_together(committed, remove, jobs.top_up, jobs.top_up)
    assert db.session.scalar(sa.select(sa.func.count()).select_from(Pengingat)) == 0
    assert waiting() == []


def test_a_claimed_delivery_ends_as_sent_after_an_edit_of_its_reminder(siti, moment, obat):
    created = siti.post("/pengingat/obat", obat).json
    with unit_of_work():
        db.session.execute(sa.update(Delivery).values(next_try_at=sa.func.statement_timestamp()))
        db.session.execute(sa.update(Delivery).values(expires_at=sa.func.statement_timestamp() + timedelta(hours=1)))
    claimed = claims.claim("urgent", Channel.MESSAGING)
    assert claimed is not None
    siti.put(f"/pengingat/{created['id']}", {"is_done": True})
    siti.put(f"/pengingat/{created['id']}", {"is_done": False})
    settlements.record_sent(claimed, None)
    row = db.session.get_one(Delivery, claimed.id, populate_existing=True)
    assert row.state == DeliveryState.SENT
