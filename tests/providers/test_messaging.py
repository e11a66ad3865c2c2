"""Clients of the messaging providers, with the simulator."""

import json

import pytest

from app.providers import messaging
from app.providers import whatsapp as whatsapp_cloud
from app.providers.http import ProviderError
from app.providers.messenger import (
    Button,
    Health,
    InvalidNumberError,
    LimitedError,
    OutsideHoursError,
    SenderError,
    Template,
)
from tests.helpers.apps import config_for_tests
from tests.providers.calls import ok
from tests.providers.raw_server import raw

PHONE = "+6281234567890"


@pytest.fixture
def fonnte(sim):
    return messaging.make(config_for_tests(**sim.messaging.env()))


@pytest.fixture
def whatsapp(sim):
    return messaging.make(config_for_tests(**sim.messaging.whatsapp_env()))


@pytest.fixture
def clients(fonnte, whatsapp):
    return {"fonnte": fonnte, "whatsapp": whatsapp}


def failure(call, *args):
    with pytest.raises(ProviderError) as error:
        call(*args)
    return error.value


def test_a_text_is_sent_unchanged_and_returns_its_reference(sim, clients):
    text = "Halo Siti, waktunya minum obat ☺ & teh=1"
    for wire, client in clients.items():
        ref = client.send(PHONE, text)
        message = sim.messaging.sent[-1]
        assert (message.target, message.text, message.ref) == ("6281234567890", text, ref), wire
    assert messaging.make(config_for_tests()).send(PHONE, text) is None  # the outbox of development


BUTTONS = (Button("T:abc", "Sudah diminum"), Button("T:abc:snooze", "Tunda 30 menit"), Button("T:abc:skip", "Lewati"))


def test_a_whatsapp_text_is_sent_with_its_callback_and_with_buttons_unless_it_is_too_long(sim, whatsapp):
    whatsapp.send(PHONE, "Halo\nSiti", callback="d:17", buttons=BUTTONS)
    (message,) = sim.messaging.sent
    assert (message.kind, message.text, message.callback) == ("interactive", "Halo\nSiti", "d:17")
    assert message.buttons == ("T:abc", "T:abc:snooze", "T:abc:skip")
    assert json.loads(sim.messaging.calls[-1].body)["recipient_type"] == "individual"
    whatsapp.send(PHONE, "x" * 1025, buttons=BUTTONS)
    assert (sim.messaging.sent[-1].kind, len(sim.messaging.sent[-1].text)) == ("text", 1025)


def test_fonnte_sends_only_the_text_and_replaces_no_variable_in_it(sim, fonnte):
    text = "Menu: {name} dan {var1}, {} juga"
    fonnte.send(PHONE, text, callback="d:1", buttons=BUTTONS, template=Template("pengingat", ()))
    assert [message.text.replace("\u200d", "") for message in sim.messaging.sent] == [text]


def test_template_parameters_are_cleaned_and_shortened(sim, whatsapp):
    arriving = {"minum\nobat\tini     sekarang": "minum obat ini sekarang", " \n ": "-", "x" * 801: "x" * 799 + "…"}
    for parameter, arrives in arriving.items():
        whatsapp.send(PHONE, "unused", template=Template("pengingat", ("Siti", parameter), ("T:abc", "T:abc:snooze")))
        message = sim.messaging.sent[-1]
        assert (message.kind, message.text) == ("template", f"pengingat | Siti | {arrives}")
        assert message.buttons == ("T:abc", "T:abc:snooze")
        assert json.loads(sim.messaging.calls[-1].body)["template"]["language"] == {"code": "id"}


#: Provider, its errors (codes of WhatsApp), the class of our error, and whether the error is permanent.
REFUSALS = [
    ("fonnte", ("token_invalid", "no_quota", "disconnected"), SenderError, False),
    ("fonnte", ("target_invalid",), InvalidNumberError, True),
    ("fonnte", ("rate_limit",), ProviderError, False),
    ("whatsapp", (190, 0, 10, 200, 131005, 133010, 368, 131031, 131042), SenderError, False),
    ("whatsapp", (131048, 132000, 132001, 132012, 132015, 132016), LimitedError, False),
    ("whatsapp", (131026,), InvalidNumberError, True),
    ("whatsapp", (131047,), OutsideHoursError, True),
    ("whatsapp", (130429, 131056, 131000), ProviderError, False),
    ("whatsapp", (100,), ProviderError, True),
]


def test_the_providers_own_error_decides_the_error_and_whether_it_is_permanent(sim, clients, subtests):
    for wire, codes, expected, permanent in REFUSALS:
        for code in codes:
            with subtests.test(f"{wire}: {code}"):
                sim.fault("messaging", code if wire == "fonnte" else f"code_{code}")
                error = failure(clients[wire].send, PHONE, "Halo")
                for each in (SenderError, LimitedError, InvalidNumberError, OutsideHoursError):
                    assert isinstance(error, each) is (each is expected)
                assert (error.permanent, error.outcome_unknown) == (permanent, False)
    assert not sim.messaging.sent
    sim.fault("messaging", "status", status=429, retry_after=17)
    assert failure(clients["fonnte"].send, PHONE, "Halo").retry_after == 17


def test_a_fault_outside_the_provider_is_not_permanent_and_not_retried_by_the_client(sim, clients, subtests):
    """Only the outbox may retry a write with an unknown outcome."""
    proxies = [{"kind": "status", "status": status} for status in (302, 403, 404, 503)]
    for fault in (*proxies, {"kind": "drop"}, {"kind": "garbage"}, {"kind": "wrong_type"}):
        for wire, client in clients.items():
            with subtests.test(f"{wire}: {fault}"):
                sim.messaging.calls.clear()
                sim.fault("messaging", times=None, **fault)
                error = failure(client.send, PHONE, "Halo")
                sim.clear_faults()
                assert (error.permanent, error.outcome_unknown) == (False, fault["kind"] != "status")
                assert len(sim.messaging.calls) == 1


#: Bodies with the status 200 that do not say whether the message was accepted.
UNEXPECTED = {
    "fonnte": [{}, {"status": "true", "id": ["1"]}, {"reason": "token invalid"}, ["status", True]],
    "whatsapp": [{}, *({"messages": found} for found in ([], [{}], {"id": "wamid.1"}, [{"id": None}]))],
}


def test_an_unexpected_body_with_status_200_makes_the_outcome_unknown(subtests):
    for wire, bodies in UNEXPECTED.items():
        provider = "fonnte" if wire == "fonnte" else "whatsapp_cloud"
        for body in bodies:
            with subtests.test(f"{wire}: {body}"), raw(ok(json.dumps(body).encode())) as server:
                settings = {"MESSAGING_TOKEN": "t", "MESSAGING_SENDER_ID": "1", "MESSAGING_URL": server.url}
                client = messaging.make(config_for_tests(MESSAGING_PROVIDER=provider, **settings))
                error = failure(client.send, PHONE, "Halo")
                assert (error.kind, error.outcome_unknown) == ("garbage", True)


def test_the_recipient_limit_raises_an_error_only_for_a_new_recipient(sim, whatsapp):
    sim.messaging.limit_people(1)
    whatsapp.send(PHONE, "Halo")
    with pytest.raises(LimitedError):
        whatsapp.send("+6281234567899", "Halo")
    whatsapp.send(PHONE, "Halo")


def test_whatsapp_health_reports_quality_limit_and_problem(sim, whatsapp):
    assert whatsapp.health() == Health(quality="green")
    sim.messaging.limit_people(10_000)
    sim.messaging.lower_quality("YELLOW")
    assert whatsapp.health() == Health(quality="yellow", limit_24h=10_000)
    sim.fault("messaging", "code_190")
    assert whatsapp.health() == Health(problem="code 190")


def test_fonnte_health_reports_quota_and_problem(sim, fonnte):
    sim.messaging.sender.quota = 78
    assert fonnte.health() == Health(quota=78)
    sim.messaging.disconnect()
    assert fonnte.health() == Health("request invalid on disconnected device", quota=78)
    sim.fault("messaging", "token_invalid")
    assert fonnte.health() == Health("token invalid")


def test_a_whatsapp_tier_is_converted_to_a_recipient_limit():
    limits = {"TIER_250": 250, "TIER_2K": 2000, "TIER_UNLIMITED": None, "TIER_": None, 250: None, None: None}
    assert {tier: whatsapp_cloud.limit_of(tier) for tier in limits} == limits


def test_a_failed_health_request_raises_a_provider_error(sim, clients):
    for client in clients.values():
        for kind in ("status", "garbage", "wrong_type", "drop"):
            sim.fault("messaging", kind, times=None)
            failure(client.health)
            sim.clear_faults()


def test_only_an_unsent_fonnte_message_can_be_cancelled_once(sim, fonnte, whatsapp):
    assert whatsapp.cancel("wamid.1") is False
    assert not sim.messaging.calls
    sim.messaging.disconnect(holds=True)
    ref = fonnte.send(PHONE, "Halo")
    assert fonnte.cancel(ref) is True
    assert fonnte.cancel(ref) is False
    sim.messaging.connect()
    assert sim.messaging.sent == []
    for kind in ("status", "garbage", "token_invalid"):
        sim.fault("messaging", kind)
        failure(fonnte.cancel, ref)
