"""Tests of webhook bodies: signatures, duplicates, invalid JSON, and what is read from them."""

import json

import pytest

from tests.helpers.client import Client, assert_error
from tests.helpers.overlap import run_together
from tests.inbox.bodies import fonnte_message, heard, message, post_fonnte, post_whatsapp, sign, status, whatsapp
from tests.inbox.phones import FONNTE_TOKEN, rows

WISH = {"wa_id": "6281200000001", "value": "stop"}


#: JSON that is nested so deep that orjson can read it but not write it.
NESTED = []


for _ in range(300):
    NESTED = [NESTED]


GOOD = whatsapp(heard(messages=[message()], statuses=[status()]))


# --- proofs of origin -----------------------------------------------------------------------------------------------


RAW = json.dumps(GOOD).encode()


SIGNED = sign(RAW)


def test_a_body_with_an_invalid_signature_is_refused(provider, subtests):
    for body, signature in (
        (RAW, ""),
        (RAW, SIGNED.removeprefix("sha256=")),
        (RAW, SIGNED.upper()),
        (RAW, SIGNED[:-1]),
        (RAW, SIGNED + "0"),
        (RAW, sign(RAW, "another-secret")),
        (RAW, "sha1=" + "0" * 40),
        (RAW, "sha256=" + "\u00e9" * 64),
        (RAW[:-1], SIGNED),
        (RAW.replace(b"SUDAH", b"LEWAT"), SIGNED),
        (b"", SIGNED),
    ):
        with subtests.test(body=body, signature=signature):
            header = {"X-Hub-Signature-256": signature.encode("utf-8").decode("latin-1")}
            assert_error(post_whatsapp(provider, body, **header), 403, "forbidden")
    assert rows() == []


# --- bodies ---------------------------------------------------------------------------------------------------------


def test_the_number_of_statements_does_not_grow_with_the_events(provider, statements):
    many = whatsapp(*(heard(messages=[message() for _ in range(20)], statuses=[status()]) for _ in range(10)))
    with statements.at_most(2):  # SQL statements: INSERT, and PREPARE on a new connection
        assert post_whatsapp(provider, many).status_code == 200
    assert len(rows()) == 201
    with statements.at_most(1):
        assert post_whatsapp(provider, GOOD).status_code == 200


def test_repeated_webhook_events_are_stored_once(provider):
    for _ in range(3):
        assert post_whatsapp(provider, GOOD).status_code == 200
        assert post_fonnte(provider, "message", fonnte_message(inboxid=7)).status_code == 200
        assert post_fonnte(provider, "status", {"id": "80", "status": "sent"}).status_code == 200
    assert len(rows()) == 4


def test_an_event_that_is_known_or_twice_in_one_body_is_stored_once_and_hides_no_new_one(provider):
    known, new = message(ref="wamid.known"), message(ref="wamid.new")
    twins = heard(messages=[known, known])
    for events in ([twins, twins], [heard(messages=[known, new])]):
        assert post_whatsapp(provider, whatsapp(*events)).status_code == 200
    assert [row.ref for row in rows()] == ["wamid.known", "wamid.new"]


def test_a_body_of_unknown_shape_is_accepted_without_an_error(provider, subtests):
    for body in (
        None, [], "x", 1, {}, {"entry": 1}, {"entry": [1, None, {}]}, {"entry": [{"changes": {}}]},
        whatsapp({"field": "messages"}), whatsapp({"field": "messages", "value": []}), whatsapp({"field": 7}),
        whatsapp(heard(messages=None, statuses="x")), whatsapp(heard(messages=[None, {}, {"id": 1, "type": []}])),
        whatsapp(heard(messages=[{"id": "", "type": "text"}], statuses=[{}, {"id": "x", "status": "deleted"}])),
        whatsapp({"field": "account_update", "value": "x" * 50_000}),
        whatsapp({"field": "user_preferences", "value": 1}),
        NESTED, whatsapp({"field": "account_update", "value": NESTED}), {"status": "connect", "x": NESTED},
        whatsapp({"field": "user_preferences", "value": {"user_preferences": [WISH | {"x": NESTED}]}}),
        whatsapp({"field": "message_template_status_update", "value": {"event": "APPROVED"}}),
    ):  # fmt: skip
        with subtests.test(str(body)[:200]):
            assert post_whatsapp(provider, body).status_code == 200
            raw = json.dumps(body)
            for event in ("message", "status", "device"):
                path = f"/webhooks/fonnte/{FONNTE_TOKEN}/{event}"
                response = provider.post(path, data=raw, content_type="application/json")
                assert response.status_code == 200, response.text
    assert {row.kind for row in rows()} <= {"message", "account", "device", "preference"}


def test_null_characters_are_removed_and_a_long_text_is_shortened(provider):
    odd = message("SU\0DAH " + "panjang " * 500)
    odd_value = {"a\0": ["\0", {"b": "c\0"}], "n": 10**30, "deep": [[[[[[[[1]]]]]]]]}
    account = {"field": "account_update", "value": odd_value}
    assert post_whatsapp(provider, whatsapp(heard(messages=[odd]), account)).status_code == 200
    first, second = rows()
    assert (first.text[:6], len(first.text)) == ("SUDAH ", 1000)
    assert second.payload["a"] == ["", {"b": "c"}]


def test_concurrent_duplicate_webhooks_are_stored_once(committed, live):
    body = whatsapp(heard(messages=[message(ref="wamid.race")]))

    def tell():
        for _ in range(10):
            assert post_whatsapp(Client(committed), body).status_code == 200

    run_together(committed, *[tell] * 10)
    assert len(rows()) == 1


# --- other numbers of the same application --------------------------------------------------------------------------


def number(phone_number_id, **value):
    metadata = {} if phone_number_id is None else {"metadata": {"phone_number_id": phone_number_id}}
    return {"field": "messages", "value": {**metadata, **value}}


@pytest.fixture
def ours(live, change_settings):
    """Configure 100200300400 as the id of the service's own number."""
    change_settings(messaging_sender_id="100200300400")


@pytest.mark.usefixtures("ours")
def test_events_of_another_number_are_dropped(provider):
    preference = {"metadata": {"phone_number_id": "999"}, "user_preferences": [WISH]}
    changes = [
        number("999", messages=[message("A")], statuses=[status()]),
        {"field": "user_preferences", "value": preference},
        number("100200300400", messages=[message("B")]),
    ]
    assert post_whatsapp(provider, whatsapp(*changes)).status_code == 200
    assert [row.text for row in rows()] == ["B"]


@pytest.mark.usefixtures("ours")
def test_events_of_our_number_or_of_an_unnamed_number_are_stored(provider):
    for phone_number_id in ("100200300400", "", None):
        told = number(phone_number_id, messages=[message()], statuses=[status(ref=f"wamid.{phone_number_id}")])
        post_whatsapp(provider, whatsapp(told))
    assert [row.kind for row in rows()] == ["message", "receipt"] * 3


def test_without_a_configured_number_id_events_of_every_number_are_stored(provider):
    post_whatsapp(provider, whatsapp(number("999", messages=[message()])))
    assert len(rows()) == 1


# --- how bodies are read: messages, receipts, and events about our number ---------------------------------------------


def test_a_receipt_stores_its_time_error_code_and_delivery_id(provider):
    told = status(
        "failed", biz_opaque_callback_data="d:42", errors=[{"code": 131047, "title": "Re-engagement message"}]
    )
    post_whatsapp(provider, whatsapp(heard(statuses=[told])))
    (row,) = rows()
    assert (row.ref, row.phone) == ("wamid.1", "+6281200000001")
    at = "2025-06-08T20:59:43+00:00"
    assert row.payload == {"receipt": "failed", "code": "131047", "at": at, "delivery": 42}


def test_invalid_callback_data_sets_no_delivery_id(provider):
    for data in ("42", "d:", "d:x", "d:-1", "d:99999999999999999999", "x d:42"):
        told = status(ref=f"wamid.{data}", biz_opaque_callback_data=data)
        post_whatsapp(provider, whatsapp(heard(statuses=[told])))
    assert ["delivery" in row.payload for row in rows()] == [False] * 6


def test_a_numeric_text_body_is_stored_as_text(provider):
    post_whatsapp(provider, whatsapp(heard(messages=[{**message(), "text": {"body": 7}}])))
    assert rows()[0].text == "7"


def test_a_sender_without_a_valid_phone_number_is_stored_without_one(provider):
    hidden = {name: value for name, value in message().items() if name != "from"}
    post_whatsapp(provider, whatsapp(heard(messages=[hidden, message(sender="ID.91x")])))
    assert [row.phone for row in rows()] == [None, None]


def test_group_messages_are_not_stored(provider):
    post_fonnte(provider, "message", fonnte_message(sender="120363020000000000@g.us"))
    post_fonnte(provider, "message", fonnte_message(isgroup=True))
    post_whatsapp(provider, whatsapp(heard(messages=[{**message(), "group_id": "Y2FwaV9n"}])))
    assert rows() == []


def test_sender_number_formats_are_normalized(provider):
    for sender in ("6281200000001", "+6281200000001", "6281200000001@s.whatsapp.net", "081200000001"):
        post_fonnte(provider, "message", fonnte_message(sender=sender))
    assert [row.phone for row in rows()] == ["+6281200000001"] * 4


def test_fonnte_messages_without_an_id_are_deduplicated_by_text_and_time(provider):
    for text in ("SUDAH", "SUDAH", "BELUM"):
        post_fonnte(provider, "message", fonnte_message(text, inboxid=0))
    post_fonnte(provider, "message", fonnte_message("SUDAH", inboxid=0, timestamp=1749416999))
    assert [row.text for row in rows()] == ["SUDAH", "BELUM", "SUDAH"]


def test_each_fonnte_status_maps_to_a_receipt_state(provider):
    for n, (body, receipt, code) in enumerate((
        ({"id": "80", "status": "pending"}, "accepted", None),
        ({"id": 80, "status": "Processing"}, "accepted", None),
        ({"id": "80", "stateid": "s1", "status": "sent", "state": "delivered"}, "delivered", None),
        ({"stateid": "s1", "state": "read"}, "read", None),
        ({"id": "81", "status": "invalid"}, "failed", "invalid"),
        ({"id": "82", "status": "expired"}, "failed", "expired"),
    ), 1):  # fmt: skip
        post_fonnte(provider, "status", body)
        assert len(rows()) == n, body
        assert (rows()[-1].payload["receipt"], rows()[-1].payload.get("code")) == (receipt, code)


def test_events_other_than_messages_are_stored_with_their_own_kind(provider):
    news = [
        {"field": "phone_number_quality_update", "value": {"event": "FLAGGED", "current_limit": "TIER_250"}},
        {"field": "account_update", "value": {"event": "ACCOUNT_RESTRICTION"}},
        {"field": "user_preferences", "value": {"user_preferences": [{"wa_id": "6281200000001", "value": "stop"}]}},
    ]
    post_whatsapp(provider, whatsapp(*news))
    post_fonnte(provider, "device", {"device": "6281100000000", "status": "disconnect", "reason": "logged out"})
    assert [row.kind for row in rows()] == ["quality", "account", "preference", "device"]
    assert rows()[0].payload["event"] == "FLAGGED"
    assert rows()[3].payload["reason"] == "logged out"
