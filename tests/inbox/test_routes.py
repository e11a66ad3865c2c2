"""Tests of the webhook routes, in the order of `routes.py`."""

import json

import pytest

from tests.helpers.client import assert_error
from tests.inbox.bodies import fonnte_message, heard, message, post_fonnte, post_whatsapp, sign, status, whatsapp
from tests.inbox.phones import FONNTE_TOKEN, VERIFY_TOKEN, rows

GOOD = whatsapp(heard(messages=[message()], statuses=[status()]))
#: Maximum bytes of a webhook body.
LIMIT = 4 * 1024 * 1024
BROKEN = [b"", b"{", b"nonsense", b"\xff\xfe", b"[" * 5000, b'{"a": NaN}']


class TestConfirmWhatsapp:
    """GET /webhooks/whatsapp"""

    def test_the_challenge_is_returned_for_the_right_token(self, provider):
        asked = {"hub.mode": "subscribe", "hub.verify_token": VERIFY_TOKEN, "hub.challenge": "1158201444"}
        response = provider.get("/webhooks/whatsapp", query_string=asked)
        assert (response.status_code, response.text, response.mimetype) == (200, "1158201444", "text/plain")

    def test_a_wrong_token_or_mode_is_403(self, provider):
        right = {"hub.mode": "subscribe", "hub.verify_token": VERIFY_TOKEN, "hub.challenge": "1"}
        for changes in ({"hub.verify_token": "x"}, {"hub.mode": "unsubscribe"}, {"hub.verify_token": ""}):
            assert_error(provider.get("/webhooks/whatsapp", query_string=right | changes), 403, "forbidden")

    def test_without_a_configured_token_is_404(self, client):
        assert_error(client.get("/webhooks/whatsapp", query_string={"hub.mode": "subscribe"}), 404, "route_not_found")


class TestReceiveWhatsapp:
    """POST /webhooks/whatsapp"""

    def test_a_signed_body_is_stored(self, provider):
        assert post_whatsapp(provider, GOOD).status_code == 200
        assert [(row.kind, row.provider) for row in rows()] == [
            ("message", "whatsapp_cloud"),
            ("receipt", "whatsapp_cloud"),
        ]

    def test_without_a_configured_secret_is_404(self, client):
        assert_error(post_whatsapp(client, GOOD), 404, "route_not_found")

    def test_invalid_json_is_400(self, provider):
        for raw in BROKEN:
            assert_error(post_whatsapp(provider, raw), 400, "invalid_json")

    def test_a_body_above_four_megabytes_is_413_for_every_content_type(self, provider):
        big = b" " * (LIMIT + 1)
        headers = {"X-Hub-Signature-256": sign(big)}
        for kind in ("application/json", "application/x-www-form-urlencoded", "multipart/form-data"):
            response = provider.post("/webhooks/whatsapp", data=big, content_type=kind, headers=headers)
            assert_error(response, 413, "payload_too_large")
        raw = json.dumps(GOOD).encode()
        assert post_whatsapp(provider, raw + b" " * (LIMIT - len(raw))).status_code == 200


class TestReceiveFonnte:
    """POST /webhooks/fonnte/<token>/message, status and device"""

    events = pytest.mark.parametrize(
        ("event", "body", "kind"),
        [
            ("message", fonnte_message("SUDAH"), "message"),
            ("status", {"id": "80", "status": "sent"}, "receipt"),
            ("device", {"device": "6281100000000", "status": "disconnect"}, "device"),
        ],
        ids=["message", "status", "device"],
    )

    @events
    def test_an_event_is_stored_only_with_the_token_in_the_path(self, provider, event, body, kind):
        for token in ("x", FONNTE_TOKEN[:-1], FONNTE_TOKEN + "x", FONNTE_TOKEN.upper()):
            assert_error(post_fonnte(provider, event, body, token), 404, "route_not_found")
        assert rows() == []
        response = post_fonnte(provider, event, body)
        assert (response.status_code, response.json) == (200, {"message": "Diterima."})
        assert [row.kind for row in rows()] == [kind]

    @events
    def test_without_a_configured_token_is_404(self, client, event, body, kind):
        assert_error(post_fonnte(client, event, body), 404, "route_not_found")

    @events
    def test_up_to_four_megabytes_are_read_and_must_be_valid_json(self, provider, event, body, kind):
        path, big = f"/webhooks/fonnte/{FONNTE_TOKEN}/{event}", b" " * LIMIT
        for raw in BROKEN:
            assert_error(provider.post(path, data=raw, content_type="application/json"), 400, "invalid_json")
        for content_type in ("application/json", "multipart/form-data"):
            assert_error(provider.post(path, data=big, content_type=content_type), 400, "invalid_json")
            assert_error(provider.post(path, data=big + b" ", content_type=content_type), 413, "payload_too_large")


class TestDescribeMessaging:
    """GET /messaging"""

    def test_a_client_gets_the_number_and_link_for_messages(self, provider):
        expected = {"two_way": True, "number": "+6281100000000", "link": "https://wa.me/6281100000000"}
        assert provider.get("/messaging").json == expected

    def test_without_settings_no_number_is_returned(self, client):
        assert client.get("/messaging").json == {"two_way": False, "number": None, "link": None}
