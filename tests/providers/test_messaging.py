"""The messaging gateways' wires, against the simulator."""

from __future__ import annotations

import json
from typing import Any

import pytest

from app.providers import messaging
from app.providers.http import ProviderError
from dev.simulators import Server
from tests.conftest import config_for_tests
from tests.providers.raw_server import raw

PHONE = "+6281234567890"


@pytest.fixture
def fonnte(sim: Server) -> messaging.Messenger:
    return messaging.make(config_for_tests(**sim.messaging.env()))


@pytest.fixture
def whatsapp(sim: Server) -> messaging.Messenger:
    return messaging.make(config_for_tests(**sim.messaging.whatsapp_env()))


@pytest.mark.parametrize("wire", ["fonnte", "whatsapp"])
def test_a_text_arrives_whole_and_gives_its_reference(sim: Server, wire: str, request: pytest.FixtureRequest) -> None:
    client: messaging.Messenger = request.getfixturevalue(wire)
    ref = client.send(PHONE, "Halo Siti, waktunya minum obat ☺ & teh=1")
    (message,) = sim.messaging.sent
    assert (message.target, message.text, message.ref) == (
        "6281234567890",
        "Halo Siti, waktunya minum obat ☺ & teh=1",
        ref,
    )


@pytest.mark.parametrize("wire", ["fonnte", "whatsapp"])
def test_an_invalid_number_is_told_as_such(sim: Server, wire: str, request: pytest.FixtureRequest) -> None:
    client: messaging.Messenger = request.getfixturevalue(wire)
    sim.messaging.mark_invalid(PHONE)
    with pytest.raises(messaging.InvalidNumberError) as error:
        client.send(PHONE, "Halo")
    assert error.value.permanent


@pytest.mark.parametrize("kind", ["token_invalid", "rate_limit", "disconnected"])
def test_fonnte_says_no_with_200_and_may_say_yes_later(sim: Server, fonnte: messaging.Messenger, kind: str) -> None:
    sim.fault("messaging", kind)
    with pytest.raises(ProviderError) as error:
        fonnte.send(PHONE, "Halo")
    assert not error.value.permanent
    assert not sim.messaging.sent


@pytest.mark.parametrize(
    ("code", "permanent"),
    [(130429, False), (131056, False), (131000, False), (190, False), (131026, True), (131047, True), (100, True)],
)
def test_whatsapp_codes_tell_what_is_worth_a_retry(
    sim: Server, whatsapp: messaging.Messenger, code: int, permanent: bool
) -> None:
    sim.fault("messaging", f"code_{code}")
    with pytest.raises(ProviderError) as error:
        whatsapp.send(PHONE, "Halo")
    assert error.value.permanent is permanent
    assert isinstance(error.value, messaging.InvalidNumberError) is (code == 131026)


@pytest.mark.parametrize("wire", ["fonnte", "whatsapp"])
@pytest.mark.parametrize("kind", ["status", "drop", "garbage", "wrong_type"])
def test_faults_below_the_wire_are_worth_a_retry_and_never_repeated_here(
    sim: Server, wire: str, kind: str, request: pytest.FixtureRequest
) -> None:
    client: messaging.Messenger = request.getfixturevalue(wire)
    sim.fault("messaging", kind, times=None)
    with pytest.raises(ProviderError) as error:
        client.send(PHONE, "Halo")
    assert not error.value.permanent
    assert len(sim.messaging.calls) == 1  # a write that may have acted is the outbox's to repeat


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
def test_a_good_status_around_what_makes_no_sense_leaves_the_outcome_unknown(wire: str, answer: Any) -> None:
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
def test_a_no_of_the_provider_is_no_unknown_outcome(
    sim: Server, wire: str, kind: str, request: pytest.FixtureRequest
) -> None:
    client: messaging.Messenger = request.getfixturevalue(wire)
    sim.fault("messaging", kind)
    with pytest.raises(ProviderError) as error:
        client.send(PHONE, "Halo")
    assert not error.value.outcome_unknown


def test_a_retry_after_comes_along(sim: Server, fonnte: messaging.Messenger) -> None:
    sim.fault("messaging", "status", status=429, retry_after=17)
    with pytest.raises(ProviderError) as error:
        fonnte.send(PHONE, "Halo")
    assert error.value.retry_after == 17


def test_the_outbox_provider_sends_nowhere() -> None:
    assert messaging.make(config_for_tests()).send(PHONE, "Halo") is None
