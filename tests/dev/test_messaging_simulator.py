"""The simulated APIs of the two messaging providers refuse what the providers refuse."""

import requests

from dev.simulators.messaging import TOKEN
from dev.simulators.senders import SENDER_ID
from dev.stack.waiting import PATIENCE_S


def fonnte(sim, token=TOKEN, **form):
    form = {"target": "6281234567890", "message": "Halo", "countryCode": "62"} | form
    reply = requests.post(f"{sim.url}/messaging/send", headers={"Authorization": token}, data=form, timeout=PATIENCE_S)
    assert reply.status_code == 200  # Fonnte returns status 200 even for errors.
    return reply.json()


def whatsapp(sim, token=f"Bearer {TOKEN}", sender=SENDER_ID, **body):
    body = {
        "messaging_product": "whatsapp", "to": "6281234567890", "type": "text", "text": {"body": "Halo"},
    } | body  # fmt: skip
    url = f"{sim.url}/messaging/{sender}/messages"
    return requests.post(url, headers={"Authorization": token}, json=body, timeout=PATIENCE_S)


def test_fonnte_refuses_with_status_false_and_a_reason(sim):
    refusals = {
        "token invalid": {"token": f"Bearer {TOKEN}"},
        "input invalid": {"target": ""},
        "target invalid": {"target": "12"},
        "message cannot be empty": {"message": ""},
    }
    for reason, change in refusals.items():
        assert fonnte(sim, **change) == {"status": False, "reason": reason}
    assert sim.messaging.sent == []


def test_whatsapp_refuses_with_its_error_codes(sim):
    refusals = [
        (401, 190, {"token": TOKEN}),
        (400, 100, {"sender": "1"}),
        (400, 100, {"messaging_product": "sms"}),
        (400, 100, {"text": {"body": ""}}),
        (400, 131026, {"to": "12"}),
    ]
    for status, code, change in refusals:
        reply = whatsapp(sim, **change)
        assert (reply.status_code, reply.json()["error"]["code"]) == (status, code), change
    assert sim.messaging.sent == []
