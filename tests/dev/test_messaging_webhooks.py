"""Tests of webhook calls by the simulated providers: receipts and incoming messages."""

from threading import Thread

import pytest
import sqlalchemy as sa
from werkzeug.serving import make_server

from app.core.database.session import db, unit_of_work
from app.inbox import jobs as inbox
from app.notifications import jobs
from app.notifications.models import Inbound, Receipt
from app.providers import messaging as provider
from dev.simulators import webhooks
from dev.stack.waiting import wait_until
from tests.helpers.factories import make_user
from tests.helpers.simulated import parsed
from tests.notifications.deliveries import add, reread

PHONE = "+6281234567890"


@pytest.fixture(params=["fonnte", "whatsapp_cloud"])
def wire(request):
    return str(request.param)


@pytest.fixture
def service(committed, sim, wire, monkeypatch, change_settings):
    """Yield the address of the service.

    The service sends through the gateway `wire` and accepts webhooks from both gateways.
    """
    variables = {**sim.messaging.env(), **webhooks.settings(), "MESSAGING_PROVIDER": wire}
    change_settings(**parsed(variables))
    monkeypatch.setitem(committed.extensions, "messenger", provider.make(committed.extensions["config"]))
    server = make_server("127.0.0.1", 0, committed, threaded=True)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    with unit_of_work():
        make_user(nomor_hp="081234567890", nama_ktp="Siti")
    yield f"http://127.0.0.1:{server.server_port}"
    sim.messaging.webhooks.close()
    server.shutdown()
    thread.join()
    server.server_close()


def write(sim, text, wire):
    """Send a message from a person, and wait until it is handled."""
    before = count()
    sim.messaging.write(PHONE, text, wire)
    wait_until(lambda: count() > before)
    inbox.handle()


def count():
    db.session.rollback()
    return db.session.scalars(sa.select(sa.func.count()).select_from(Inbound)).one()


def handled(is_done):
    inbox.handle()
    return is_done()


def test_receipts_in_any_order_set_the_furthest_receipt(service, sim, wire):
    sim.messaging.call_back(service, told=["sent", "delivered", "read"], times=2, shuffled=True, late_s=0.2)
    write(sim, "halo", wire)  # opens the 24 hours in which WhatsApp allows free texts
    row = add(target=PHONE)
    jobs.drain("urgent")
    wait_until(lambda: len(sim.messaging.webhooks.answers) >= 7)
    wait_until(lambda: handled(lambda: reread(row.dedupe_key).receipt == Receipt.READ))
    assert set(sim.messaging.webhooks.answers) == {200}


def test_an_incoming_message_is_answered_although_the_service_was_down(service, sim, wire):
    sim.messaging.call_back(sim.closed_url, told=[])
    sim.messaging.write(PHONE, "BERHENTI", wire)
    wait_until(lambda: sim.messaging.webhooks.answers == [0])
    sim.messaging.webhooks.url = service
    wait_until(lambda: count() == 1)
    inbox.handle()
    jobs.drain("urgent")
    assert [message.text.split(".")[0] for message in sim.messaging.to(PHONE)] == ["Pengingat tetap kami kirim"]


def test_a_failure_reported_later_sets_the_receipt(service, sim, wire):
    sim.messaging.call_back(service)
    write(sim, "halo", wire)
    jobs.drain("urgent")
    row = add(target=PHONE)
    sim.messaging.fail_later()
    jobs.drain("urgent")
    wait_until(lambda: handled(lambda: reread(row.dedupe_key).receipt == Receipt.FAILED))
    assert reread(row.dedupe_key).receipt_code == ("invalid" if wire == "fonnte" else "131026")
