"""Clients of the messaging providers, with the simulator."""

import json

import pytest

from app.providers import messaging
from app.providers import whatsapp as whatsapp_cloud
from app.providers.http import ProviderError
from app.providers.messenger import Button, Health, InvalidNumberError, LimitedError, SenderError, Template
from tests.helpers.apps import config_for_tests
from tests.providers.raw_server import raw

PHONE = "+6281234567890"


@pytest.fixture
def fonnte(sim):
    return messaging.make(config_for_tests(**sim.messaging.env()))


@pytest.fixture
def whatsapp(sim):
    return messaging.make(config_for_tests(**sim.messaging.whatsapp_env()))


@pytest.mark.parametrize("wire", ["fonnte", "whatsapp"])
def test_a_text_is_sent_unchanged_and_returns_its_reference(sim, wire, request):
    client = request.getfixturevalue(wire)
    ref = client.send(PHONE, "Halo Siti, waktunya minum obat ☺ & teh=1")
    (message,) = sim.messaging.sent
    assert (message.target, message.text, message.ref) == (
        "6281234567890",
        "Halo Siti, waktunya minum obat ☺ & teh=1",
        ref,
    )


def test_a_whatsapp_message_contains_the_callback_data_for_receipts(sim, whatsapp):
    whatsapp.send(PHONE, "Halo", callback="d:17")
    sent = json.loads(sim.messaging.calls[-1].body)
    assert (sent["recipient_type"], sent["biz_opaque_callback_data"]) == ("individual", "d:17")
    assert sim.messaging.sent[-1].callback == "d:17"


def test_the_whatsapp_url_uses_api_version_25():
    assert whatsapp_cloud.URL == "https://graph.facebook.com/v25.0"


def test_text_that_looks_like_a_fonnte_variable_is_not_replaced(sim, fonnte):
    fonnte.send(PHONE, "Menu: {name} dan {var1}, {} juga")
    text = sim.messaging.sent[-1].text
    assert text.replace("\u200d", "") == "Menu: {name} dan {var1}, {} juga"


BUTTONS = (Button("T:abc", "Sudah diminum"), Button("T:abc:snooze", "Tunda 30 menit"), Button("T:abc:skip", "Lewati"))


def test_a_whatsapp_text_is_sent_with_its_buttons(sim, whatsapp):
    whatsapp.send(PHONE, "Halo\nSiti", buttons=BUTTONS)
    (message,) = sim.messaging.sent
    assert (message.kind, message.text) == ("interactive", "Halo\nSiti")
    assert message.buttons == ("T:abc", "T:abc:snooze", "T:abc:skip")


def test_a_text_too_long_for_buttons_is_sent_without_buttons(sim, whatsapp):
    whatsapp.send(PHONE, "x" * 1025, buttons=BUTTONS)
    assert [(message.kind, len(message.text)) for message in sim.messaging.sent] == [("text", 1025)]


@pytest.mark.parametrize(
    ("parameter", "arrives"),
    [
        ("minum\nobat\tini     sekarang", "minum obat ini sekarang"),
        ("", "-"),
        (" \n ", "-"),
        ("x" * 3000, "x" * 799 + "…"),
    ],
)
def test_template_parameters_are_cleaned_and_shortened(sim, whatsapp, parameter, arrives):
    template = Template("pengingat", ("Siti", parameter), ("T:abc", "T:abc:snooze"))
    whatsapp.send(PHONE, "unused", template=template)
    (message,) = sim.messaging.sent
    assert (message.kind, message.text) == ("template", f"pengingat | Siti | {arrives}")
    assert message.buttons == ("T:abc", "T:abc:snooze")
    assert json.loads(sim.messaging.calls[-1].body)["template"]["language"] == {"code": "id"}


def test_fonnte_sends_only_the_text_of_a_message_with_buttons_and_template(sim, fonnte):
    fonnte.send(PHONE, "Halo", callback="d:1", buttons=BUTTONS, template=Template("pengingat", ()))
    assert [message.text for message in sim.messaging.sent] == ["Halo"]


@pytest.mark.parametrize("wire", ["fonnte", "whatsapp"])
def test_an_invalid_number_raises_a_permanent_invalid_number_error(sim, wire, request):
    client = request.getfixturevalue(wire)
    sim.messaging.mark_invalid(PHONE)
    with pytest.raises(InvalidNumberError) as error:
        client.send(PHONE, "Halo")
    assert error.value.permanent


@pytest.mark.parametrize("kind", ["token_invalid", "rate_limit", "disconnected"])
def test_a_fonnte_error_with_status_200_is_not_permanent(sim, fonnte, kind):
    sim.fault("messaging", kind)
    with pytest.raises(ProviderError) as error:
        fonnte.send(PHONE, "Halo")
    assert not error.value.permanent
    assert not sim.messaging.sent


@pytest.mark.parametrize(
    ("code", "permanent"),
    [(130429, False), (131056, False), (131000, False), (190, False), (131026, True), (131047, True), (100, True)],
)
def test_a_whatsapp_error_code_decides_whether_a_failure_is_permanent(sim, whatsapp, code, permanent):
    sim.fault("messaging", f"code_{code}")
    with pytest.raises(ProviderError) as error:
        whatsapp.send(PHONE, "Halo")
    assert error.value.permanent is permanent
    assert isinstance(error.value, InvalidNumberError) is (code == 131026)


@pytest.mark.parametrize("wire", ["fonnte", "whatsapp"])
@pytest.mark.parametrize("status", [302, 403, 404])
def test_an_error_status_of_a_proxy_is_not_permanent(sim, wire, status, request):
    sim.fault("messaging", "status", status=status)
    with pytest.raises(ProviderError) as error:
        request.getfixturevalue(wire).send(PHONE, "Halo")
    assert not error.value.permanent


@pytest.mark.parametrize("wire", ["fonnte", "whatsapp"])
@pytest.mark.parametrize("kind", ["status", "drop", "garbage", "wrong_type"])
def test_a_transport_fault_is_not_permanent_and_not_retried_by_the_client(sim, wire, kind, request):
    client = request.getfixturevalue(wire)
    sim.fault("messaging", kind, times=None)
    with pytest.raises(ProviderError) as error:
        client.send(PHONE, "Halo")
    assert not error.value.permanent
    assert len(sim.messaging.calls) == 1  # only the outbox may retry a write with an unknown outcome


@pytest.mark.parametrize(
    ("wire", "answer"),
    [
        ("fonnte", {}),
        ("fonnte", {"status": None}),
        ("fonnte", {"status": "true", "id": ["1"]}),
        ("fonnte", {"reason": "token invalid"}),
        ("fonnte", ["status", True]),
        ("whatsapp", {}),
        ("whatsapp", {"messages": []}),
        ("whatsapp", {"messages": [{}]}),
        ("whatsapp", {"messages": {"id": "wamid.1"}}),
        ("whatsapp", {"messages": [{"id": None}]}),
        ("whatsapp", "wamid.1"),
    ],
)
def test_an_unexpected_body_with_status_200_makes_the_outcome_unknown(wire, answer):
    body = json.dumps(answer).encode()
    head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n".encode()
    with raw(head + body) as server:
        provider = "fonnte" if wire == "fonnte" else "whatsapp_cloud"
        settings = {"MESSAGING_TOKEN": "t", "MESSAGING_SENDER_ID": "1", "MESSAGING_URL": server.url}
        client = messaging.make(config_for_tests(MESSAGING_PROVIDER=provider, **settings))
        with pytest.raises(ProviderError) as error:
            client.send(PHONE, "Halo")
    assert (error.value.kind, error.value.outcome_unknown) == ("garbage", True)


@pytest.mark.parametrize(
    ("wire", "kind"),
    [
        *(("fonnte", kind) for kind in ("token_invalid", "target_invalid", "rate_limit", "disconnected", "status")),
        *(("whatsapp", kind) for kind in ("code_190", "code_131026", "code_130429", "code_131000", "status")),
    ],
)
def test_a_provider_error_response_does_not_make_the_outcome_unknown(sim, wire, kind, request):
    client = request.getfixturevalue(wire)
    sim.fault("messaging", kind)
    with pytest.raises(ProviderError) as error:
        client.send(PHONE, "Halo")
    assert not error.value.outcome_unknown


@pytest.mark.parametrize(
    ("wire", "kind"),
    [
        *(("fonnte", kind) for kind in ("token_invalid", "disconnected", "no_quota")),
        *(("whatsapp", f"code_{code}") for code in (190, 0, 10, 200, 131005, 133010, 368, 131031, 131042)),
    ],
)
def test_an_account_error_raises_a_sender_error_that_is_not_permanent(sim, wire, kind, request):
    client = request.getfixturevalue(wire)
    sim.fault("messaging", kind)
    with pytest.raises(SenderError) as error:
        client.send(PHONE, "Halo")
    assert not error.value.permanent


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


@pytest.mark.parametrize(
    ("told", "limit"),
    [
        ("TIER_250", 250),
        ("TIER_2K", 2000),
        ("TIER_100K", 100_000),
        ("TIER_UNLIMITED", None),
        ("TIER_", None),
        (250, None),
        (None, None),
    ],
)
def test_a_whatsapp_tier_is_converted_to_a_recipient_limit(told, limit):
    assert whatsapp_cloud.limit_of(told) == limit


@pytest.mark.parametrize("kind", ["status", "garbage", "wrong_type", "drop"])
@pytest.mark.parametrize("wire", ["fonnte", "whatsapp"])
def test_a_failed_health_request_raises_a_provider_error(sim, wire, kind, request):
    client = request.getfixturevalue(wire)
    sim.fault("messaging", kind, times=None)
    with pytest.raises(ProviderError):
        client.health()


def test_an_unsent_fonnte_message_can_be_cancelled_once(sim, fonnte):
    sim.messaging.disconnect(holds=True)
    ref = fonnte.send(PHONE, "Halo")
    assert ref is not None
    assert fonnte.cancel(ref) is True
    assert fonnte.cancel(ref) is False
    sim.messaging.connect()
    assert sim.messaging.sent == []
    for kind in ("status", "garbage", "token_invalid"):
        sim.fault("messaging", kind)
        with pytest.raises(ProviderError):
            fonnte.cancel(ref)


def test_whatsapp_cannot_cancel_a_message(sim, whatsapp):
    assert whatsapp.cancel("wamid.1") is False
    assert not sim.messaging.calls


def test_a_fonnte_error_has_the_retry_after_of_the_response(sim, fonnte):
    sim.fault("messaging", "status", status=429, retry_after=17)
    with pytest.raises(ProviderError) as error:
        fonnte.send(PHONE, "Halo")
    assert error.value.retry_after == 17


def test_the_outbox_provider_returns_no_reference():
    assert messaging.make(config_for_tests()).send(PHONE, "Halo") is None
