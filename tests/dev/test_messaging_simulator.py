"""Tests of the simulated APIs of the two messaging providers, compared with the providers' documentation."""

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


def test_fonnte_accepts_a_message_and_returns_lists_of_ids_and_targets(sim):
    reply = fonnte(sim, target="081234567890")
    assert reply["status"] is True
    assert reply["target"] == ["6281234567890"]  # the country code replaces a leading zero
    assert len(reply["id"]) == 1
    assert reply["process"] == "pending"
    assert [(message.target, message.text) for message in sim.messaging.sent] == [("6281234567890", "Halo")]
    assert sim.messaging.to("+62 812-3456-7890") == sim.messaging.sent


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


def test_fonnte_refuses_invalid_numbers_and_rate_limited_calls(sim):
    sim.messaging.mark_invalid("6281234567890")
    assert fonnte(sim)["reason"] == "target invalid"
    assert fonnte(sim, target="6281234567891")["status"] is True
    sim.fault("messaging", "rate_limit")
    assert fonnte(sim, target="6281234567891") == {"status": False, "reason": "rate limit"}


def test_whatsapp_accepts_text_and_templates(sim):
    reply = whatsapp(sim)
    assert reply.status_code == 200
    assert reply.json()["contacts"] == [{"input": "6281234567890", "wa_id": "6281234567890"}]
    assert reply.json()["messages"][0]["id"].startswith("wamid.")
    template = {"name": "pengingat_obat", "language": {"code": "id"}}
    assert whatsapp(sim, type="template", template=template, text=None).status_code == 200
    assert [message.text for message in sim.messaging.sent] == ["Halo", "pengingat_obat"]


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


def test_a_disconnected_phone_refuses_messages_or_sends_them_later(sim):
    sim.messaging.disconnect()
    assert fonnte(sim)["reason"] == "request invalid on disconnected device"
    sim.messaging.disconnect(holds=True)
    assert fonnte(sim, message="pertama")["status"] is True
    ref = fonnte(sim, message="kedua")["id"][0]
    assert sim.messaging.sent == []
    delete = {"url": f"{sim.url}/messaging/delete-message", "headers": {"Authorization": TOKEN}, "timeout": PATIENCE_S}
    assert requests.post(data={"id": ref}, **delete).json() == {"status": True}
    assert requests.post(data={"id": ref}, **delete).json() == {"status": False, "reason": "message not found"}
    sim.messaging.connect()
    assert [message.text for message in sim.messaging.sent] == ["pertama"]
    assert [told["status"] for told in sim.messaging.told] == ["disconnect", "disconnect", "connect"]


def test_an_accepted_message_can_fail_later(sim):
    sim.messaging.fail_later(code="131026")
    ref = whatsapp(sim, biz_opaque_callback_data="d:7").json()["messages"][0]["id"]
    (status,) = sim.messaging.told[-1]["entry"][0]["changes"][0]["value"]["statuses"]
    assert (status["id"], status["status"], status["biz_opaque_callback_data"]) == (ref, "failed", "d:7")
    assert status["errors"][0]["code"] == 131026
    assert whatsapp(sim).status_code == 200
    assert len(sim.messaging.sent) == 1


def test_whatsapp_refuses_because_of_ban_limit_or_closed_window(sim):
    sim.messaging.limit_people(1)
    assert whatsapp(sim).status_code == 200
    assert whatsapp(sim, to="6281234567899").json()["error"]["code"] == 131048
    sim.messaging.sender.wrote.add("6281234567899")
    assert whatsapp(sim, to="6281234567899").status_code == 200
    sim.messaging.sender.keeps_hours = True
    assert whatsapp(sim).json()["error"]["code"] == 131047
    template = {"name": "pengingat_obat", "language": {"code": "id"}}
    assert whatsapp(sim, type="template", template=template, text=None).status_code == 200
    sim.messaging.ban()
    assert whatsapp(sim).json()["error"]["code"] == 131031
