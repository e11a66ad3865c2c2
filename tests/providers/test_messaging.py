"""Clients of the messaging providers, with the simulator."""

from __future__ import annotations

import json
from typing import Any

import pytest

from app.providers import messaging
from app.providers import whatsapp as whatsapp_cloud
from app.providers.http import ProviderError
from app.providers.messenger import Button, Template
from dev.simulators import Server
from tests.helpers.apps import config_for_tests
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


def test_whatsapp_is_told_what_its_receipts_shall_carry_back(sim: Server, whatsapp: messaging.Messenger) -> None:
    whatsapp.send(PHONE, "Halo", callback="d:17")
    sent = json.loads(sim.messaging.calls[-1].body)
    assert (sent["recipient_type"], sent["biz_opaque_callback_data"]) == ("individual", "d:17")
    assert sim.messaging.sent[-1].callback == "d:17"


def test_whatsapp_is_asked_in_a_version_that_lives() -> None:
    assert whatsapp_cloud.URL == "https://graph.facebook.com/v25.0"


def test_what_looks_like_a_variable_of_fonnte_arrives_as_it_was_written(
    sim: Server, fonnte: messaging.Messenger
) -> None:
    fonnte.send(PHONE, "Menu: {name} dan {var1}, {} juga")
    text = sim.messaging.sent[-1].text
    assert text.replace("\u200d", "") == "Menu: {name} dan {var1}, {} juga"


BUTTONS = (Button("T:abc", "Sudah diminum"), Button("T:abc:snooze", "Tunda 30 menit"), Button("T:abc:skip", "Lewati"))


def test_buttons_come_below_a_text(sim: Server, whatsapp: messaging.Messenger) -> None:
    whatsapp.send(PHONE, "Halo\nSiti", buttons=BUTTONS)
    (message,) = sim.messaging.sent
    assert (message.kind, message.text) == ("interactive", "Halo\nSiti")
    assert message.buttons == ("T:abc", "T:abc:snooze", "T:abc:skip")


def test_a_text_too_long_for_buttons_goes_without_them(sim: Server, whatsapp: messaging.Messenger) -> None:
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
def test_a_template_takes_any_text_for_its_blanks(
    sim: Server, whatsapp: messaging.Messenger, parameter: str, arrives: str
) -> None:
    template = Template("pengingat", "id", ("Siti", parameter), ("T:abc", "T:abc:snooze"))
    whatsapp.send(PHONE, "unused", template=template)
    (message,) = sim.messaging.sent
    assert (message.kind, message.text) == ("template", f"pengingat | Siti | {arrives}")
    assert message.buttons == ("T:abc", "T:abc:snooze")
    assert json.loads(sim.messaging.calls[-1].body)["template"]["language"] == {"code": "id"}


def test_fonnte_sends_the_text_of_whatever_it_cannot_send(sim: Server, fonnte: messaging.Messenger) -> None:
    fonnte.send(PHONE, "Halo", callback="d:1", buttons=BUTTONS, template=Template("pengingat", "id", ()))
    assert [message.text for message in sim.messaging.sent] == ["Halo"]


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
@pytest.mark.parametrize("status", [302, 403, 404])
def test_a_proxys_answer_refuses_no_message(
    sim: Server, wire: str, status: int, request: pytest.FixtureRequest
) -> None:
    sim.fault("messaging", "status", status=status)
    with pytest.raises(ProviderError) as error:
        request.getfixturevalue(wire).send(PHONE, "Halo")
    assert not error.value.permanent


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


@pytest.mark.parametrize(
    ("wire", "kind", "is_seen"),
    [
        *(("fonnte", kind, True) for kind in ("token_invalid", "disconnected", "no_quota")),
        *(("whatsapp", f"code_{code}", True) for code in (190, 0)),
        *(("whatsapp", f"code_{code}", False) for code in (10, 200, 131005, 133010, 368, 131031, 131042)),
    ],
)
def test_an_error_of_the_account_is_no_error_of_the_message(
    sim: Server, wire: str, kind: str, is_seen: bool, request: pytest.FixtureRequest
) -> None:
    client: messaging.Messenger = request.getfixturevalue(wire)
    sim.fault("messaging", kind)
    with pytest.raises(messaging.SenderError) as error:
        client.send(PHONE, "Halo")
    assert (error.value.permanent, error.value.is_seen) == (False, is_seen)


def test_a_limit_of_people_is_no_error_of_the_account(sim: Server, whatsapp: messaging.Messenger) -> None:
    sim.messaging.limit_people(1)
    whatsapp.send(PHONE, "Halo")
    with pytest.raises(messaging.TooManyPeopleError):
        whatsapp.send("+6281234567899", "Halo")
    whatsapp.send(PHONE, "Halo")


def test_whatsapp_says_how_a_number_is(sim: Server, whatsapp: messaging.Messenger) -> None:
    assert whatsapp.health() == messaging.Health(quality="green")
    sim.messaging.limit_people(10_000)
    sim.messaging.lower_quality("YELLOW")
    assert whatsapp.health() == messaging.Health(quality="yellow", limit_24h=10_000)
    sim.fault("messaging", "code_190")
    assert whatsapp.health() == messaging.Health(problem="code 190")


def test_fonnte_says_how_its_phone_is(sim: Server, fonnte: messaging.Messenger) -> None:
    sim.messaging.sender.quota = 78
    assert fonnte.health() == messaging.Health(quota=78)
    sim.messaging.disconnect()
    assert fonnte.health() == messaging.Health("request invalid on disconnected device", quota=78)
    sim.fault("messaging", "token_invalid")
    assert fonnte.health() == messaging.Health("token invalid")


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
def test_a_tier_is_a_number_of_people(told: object, limit: int | None) -> None:
    assert whatsapp_cloud.limit_of(told) == limit


@pytest.mark.parametrize("kind", ["status", "garbage", "wrong_type", "drop"])
@pytest.mark.parametrize("wire", ["fonnte", "whatsapp"])
def test_an_answer_that_says_nothing_of_the_number_is_an_error(
    sim: Server, wire: str, kind: str, request: pytest.FixtureRequest
) -> None:
    client: messaging.Messenger = request.getfixturevalue(wire)
    sim.fault("messaging", kind, times=None)
    with pytest.raises(ProviderError):
        client.health()


def test_fonnte_gives_back_what_it_has_not_sent(sim: Server, fonnte: messaging.Messenger) -> None:
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


def test_what_whatsapp_has_it_keeps(sim: Server, whatsapp: messaging.Messenger) -> None:
    assert whatsapp.cancel("wamid.1") is False
    assert not sim.messaging.calls


def test_a_retry_after_comes_along(sim: Server, fonnte: messaging.Messenger) -> None:
    sim.fault("messaging", "status", status=429, retry_after=17)
    with pytest.raises(ProviderError) as error:
        fonnte.send(PHONE, "Halo")
    assert error.value.retry_after == 17


def test_the_outbox_provider_sends_nowhere() -> None:
    assert messaging.make(config_for_tests()).send(PHONE, "Halo") is None
