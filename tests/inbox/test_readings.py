"""Tests of how webhook bodies are read: messages, receipts, and events about the service's own number."""

from tests.inbox.bodies import (
    fonnte_message,
    heard,
    message,
    post_fonnte,
    post_whatsapp,
    status,
    whatsapp,
)
from tests.inbox.phones import rows


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
