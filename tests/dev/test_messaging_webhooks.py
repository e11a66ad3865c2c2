"""Tests of webhook calls by the simulated providers: receipts and incoming messages."""

from dataclasses import fields, replace
from threading import Thread

import pytest
import sqlalchemy as sa
from werkzeug.serving import make_server

from app.core.database.session import db, unit_of_work
from app.inbox import jobs as inbox
from app.notifications import jobs
from app.notifications.delivery import messaging
from app.notifications.models import DeliveryState, Inbound, Receipt
from app.providers import messaging as provider
from config import Config
from dev.simulators import webhooks
from dev.stack.waiting import wait_until
from tests.helpers.factories import make_user
from tests.notifications.deliveries import add, age, ready, reread, words_of

PHONE = "+6281234567890"


@pytest.fixture(params=["fonnte", "whatsapp_cloud"])
def wire(request):
    return str(request.param)


@pytest.fixture
def service(committed, sim, wire, monkeypatch):
    """Yield the address of the service.

    The service sends through the gateway `wire` and accepts webhooks from both gateways.
    """
    variables = {**sim.messaging.env(), **webhooks.settings(), "MESSAGING_PROVIDER": wire}
    simulated = Config.from_env({"ENVIRONMENT": "testing", **variables})
    changed = {each.name: getattr(simulated, each.name) for each in fields(Config) if each.name.upper() in variables}
    config = replace(committed.extensions["config"], **changed)
    monkeypatch.setitem(committed.extensions, "config", config)
    monkeypatch.setitem(committed.extensions, "messenger", provider.make(config))
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


def write(sim, text, wire, **more):
    """Send a message from a person, and wait until it is handled."""
    before = count()
    sim.messaging.write(PHONE, text, wire, **more)
    wait_until(lambda: count() > before)
    inbox.handle()


def count():
    db.session.rollback()
    return db.session.scalars(sa.select(sa.func.count()).select_from(Inbound)).one()


def handled(is_done):
    inbox.handle()
    return is_done()


@pytest.mark.parametrize(
    "manner",
    [{}, {"times": 3}, {"told": ["sent", "delivered", "read"], "times": 2, "shuffled": True, "late_s": 0.2}],
    ids=["in order", "three times", "shuffled and late"],
)
def test_receipts_in_any_order_set_the_furthest_receipt(service, sim, wire, manner):
    sim.messaging.call_back(service, **manner)
    write(sim, "halo", wire)  # opens the 24 hours in which WhatsApp allows free texts
    row = add(target=PHONE)
    jobs.drain("urgent")
    furthest = Receipt.READ if "told" in manner else Receipt.DELIVERED
    told = 1 + len(manner.get("told", ("sent", "delivered"))) * manner.get("times", 1)
    wait_until(lambda: len(sim.messaging.webhooks.answers) >= told)
    wait_until(lambda: handled(lambda: reread(row.dedupe_key).receipt == furthest))
    assert set(sim.messaging.webhooks.answers) == {200}


def test_an_incoming_message_is_answered_to_its_sender(service, sim, wire):
    sim.messaging.call_back(service, told=[])
    write(sim, "BERHENTI", wire)
    jobs.drain("urgent")
    assert [message.text.split(".")[0] for message in sim.messaging.to(PHONE)] == ["Pengingat tetap kami kirim"]


@pytest.mark.parametrize(
    ("text", "more", "expected"),
    [
        ("SUDAH", {}, {"type": "text"}),
        ("SUDAH", {"about": "wamid.7"}, {"type": "text", "about": "wamid.7"}),
        ("Sudah", {"pressed": "T:x"}, {"type": "interactive", "pressed": "T:x"}),
        ("✅", {"kind": "reaction", "about": "wamid.7"}, {"type": "reaction", "about": "wamid.7"}),
        ("", {"kind": "reaction", "about": "wamid.7"}, {"type": "reaction", "about": "wamid.7"}),
        ("sudah", {"kind": "image"}, {"type": "image"}),
        ("", {"kind": "audio"}, {"type": "audio"}),
        ("", {"kind": "video"}, {"type": "video"}),
        ("", {"kind": "sticker"}, {"type": "sticker"}),
        ("", {"kind": "document"}, {"type": "document"}),
        ("", {"kind": "location"}, {"type": "location"}),
        ("belum", {"kind": "edit", "about": "wamid.in.7"}, {"type": "text", "edited": "wamid.in.7"}),
    ],
)
def test_each_kind_of_incoming_message_is_stored(service, sim, wire, text, more, expected):
    if wire == "fonnte":  # Fonnte's webhooks contain no reactions, edits, quotes or pressed buttons
        if more.get("kind") in ("reaction", "edit"):
            return
        expected = {"type": "text" if {"about", "pressed"} & {*more} or not more else "media"}
    sim.messaging.call_back(service, told=[])
    write(sim, text, wire, **more)
    (row,) = db.session.scalars(sa.select(Inbound)).all()
    payload = {name: value for name, value in row.payload.items() if name not in ("at", "asked")}
    assert (row.text, payload) == (text, expected)


def test_a_failure_reported_later_sets_the_receipt(service, sim, wire):
    sim.messaging.call_back(service)
    write(sim, "halo", wire)
    jobs.drain("urgent")
    row = add(target=PHONE)
    sim.messaging.fail_later()
    jobs.drain("urgent")
    wait_until(lambda: handled(lambda: reread(row.dedupe_key).receipt == Receipt.FAILED))
    assert reread(row.dedupe_key).receipt_code == ("invalid" if wire == "fonnte" else "131026")


@pytest.mark.parametrize("wire", ["whatsapp_cloud"], indirect=True)
def test_a_receipt_confirms_a_send_whose_worker_was_killed(service, sim, wire):
    sim.messaging.call_back(service, told=["sent"])
    write(sim, "halo", wire)
    sim.messaging.sent.clear()
    row = add(target=PHONE)
    claimed = ready()
    while claimed.id != row.id:  # Skip the response to the greeting.
        claimed = ready()
    messaging.send(claimed)  # The worker is killed after sending and before it stores the outcome.
    wait_until(lambda: handled(lambda: reread(row.dedupe_key).state == DeliveryState.SENT))
    age(60, of=row)
    jobs.drain("urgent")
    assert [message.text for message in sim.messaging.to(PHONE)].count(str(words_of(row)["text"])) == 1


def test_a_webhook_call_is_retried_if_the_service_is_down(service, sim, wire):
    sim.messaging.call_back(sim.closed_url)
    sim.messaging.write(PHONE, "BERHENTI", wire)
    wait_until(lambda: sim.messaging.webhooks.answers == [0])
    sim.messaging.webhooks.url = service
    wait_until(lambda: count() == 1)
