"""The routes of web push, in the order of `routes.py`."""

import base64

import sqlalchemy as sa

from app.core.database.session import db
from app.push.models import PushSubscription
from tests.helpers.client import assert_error
from tests.push.pushes import PAYLOAD


class TestGetPublicKey:
    """GET /push/public-key"""

    def test_the_public_key_is_the_configured_one(self, client, keys):
        assert client.get("/push/public-key").json == {"public_key": keys}

    def test_without_vapid_keys_is_502(self, client):
        assert_error(client.get("/push/public-key"), 502, "provider_not_configured")


class TestSubscribe:
    """POST /push/subscribe"""

    def test_a_subscription_without_a_token_is_unverified(self, client, browser, user_id):
        body = client.post("/push/subscribe", browser).ok(201)
        assert body["endpoint"] == browser["endpoint"]
        assert (body["user_id"], body["is_verified"]) == (None, False)
        claimed = client.post("/push/subscribe", {**browser, "user_id": user_id})
        assert (claimed.json["user_id"], claimed.json["is_verified"]) == (user_id, False)

    def test_a_token_sets_the_user_and_verifies_the_subscription(self, siti, browser, user_id):
        response = siti.post("/push/subscribe", {**browser, "user_id": user_id})
        assert (response.json["user_id"], response.json["is_verified"]) == (siti.id, True)

    def test_a_known_endpoint_keeps_its_id_and_gets_the_new_owner(self, client, siti, browser, sim, keys):
        first = client.post("/push/subscribe", browser).json
        again = siti.post("/push/subscribe", {**browser, "keys": sim.push.subscribe(keys)["keys"]})
        assert (again.status_code, again.json["id"]) == (200, first["id"])
        assert (again.json["user_id"], again.json["is_verified"]) == (siti.id, True)

    def test_a_verified_subscription_cannot_be_taken_without_a_token(self, client, siti, budi, browser, user_id):
        siti.post("/push/subscribe", browser)
        for claim in (browser, {**browser, "user_id": user_id}, {**browser, "user_id": siti.id}):
            assert_error(client.post("/push/subscribe", claim), 409, "subscription_verified")
        subscription = db.session.scalars(sa.select(PushSubscription)).one()
        assert (subscription.user_id, subscription.is_verified) == (siti.id, True)
        # Another person subscribes the browser with their own token. This person becomes the browser's owner.
        assert budi.post("/push/subscribe", browser).json["user_id"] == budi.id

    def test_an_unknown_user_id_is_refused(self, client, browser):
        assert_error(client.post("/push/subscribe", {**browser, "user_id": 999_999}), 400, field="user_id")

    def test_invalid_browser_keys_are_refused(self, client, browser):
        changes = (
            {"p256dh": "bukan kunci"},
            {"p256dh": base64.urlsafe_b64encode(b"\x04" + b"\x01" * 64).decode()},  # a point that is not on the curve
            {"p256dh": base64.urlsafe_b64encode(b"\x02" + b"\x01" * 32).decode()},  # a compressed point
            {"p256dh": base64.urlsafe_b64encode(b"\x00").decode()},  # the point at infinity
            *({"auth": base64.urlsafe_b64encode(b"x" * size).decode()} for size in (15, 17)),
            {"auth": "!" * 22},
        )
        for change in changes:
            sent = {**browser, "keys": {**browser["keys"], **change}}
            assert_error(client.post("/push/subscribe", sent), 400, field="keys")


class TestUnsubscribe:
    """DELETE /push/subscribe"""

    def test_deletes_the_subscription(self, client, browser):
        client.post("/push/subscribe", browser)
        sent = {"endpoint": browser["endpoint"]}
        assert client.delete("/push/subscribe", sent).json == {"message": "Langganan dihapus."}
        assert_error(client.delete("/push/subscribe", sent), 404)


class TestSendPush:
    """POST /push/send"""

    def test_returns_the_number_of_queued_pushes(self, client, browser, user_id):
        for target in (user_id, 999_999):  # a person without subscriptions, and an unknown id
            body = client.post("/push/send", {"user_id": target, "payload": PAYLOAD}).ok()
            assert body == {"sent": 0, "failed": 0, "removed": 0, "queued": 0}
        client.post("/push/subscribe", {**browser, "user_id": user_id})
        assert client.post("/push/send", {"user_id": user_id, "payload": PAYLOAD}).json["queued"] == 1

    def test_the_setting_push_send_restricts_the_route_to_administrators(
        self, client, siti, admin, superadmin, change_settings
    ):
        sent = {"user_id": siti.id, "payload": PAYLOAD}
        for caller in (client, siti, admin):
            assert caller.post("/push/send", sent).status_code == 200
        change_settings(push_send="admin")
        callers = (client, siti, admin, superadmin)
        assert [caller.post("/push/send", sent).status_code for caller in callers] == [401, 403, 200, 200]

    def test_a_payload_that_is_too_large_is_413(self, client, user_id):
        sent = {"title": "T", "body": "x" * 2600}
        assert client.post("/push/send", {"user_id": user_id, "payload": sent}).status_code == 200
        sent["body"] = "☺" * 1000
        assert_error(client.post("/push/send", {"user_id": user_id, "payload": sent}), 413)

    def test_a_link_leads_to_the_front_end_or_for_administrators_to_any_https_address(self, client, admin, user_id):
        def status(caller, url):
            return caller.post("/push/send", {"user_id": user_id, "payload": {**PAYLOAD, "url": url}}).status_code

        front_end = ("/", "/forum/5?a=b#c", "http://localhost:5173/forum", "http://localhost:5173")
        elsewhere = (
            "//evil.example", "/\\evil.example", "https://evil.example/", "http://localhost:5173.evil.example/",
            "http://localhost:5173@evil.example/", "javascript:alert(1)", "data:text/html,x", "evil", "http://[",
            "/a\tb",
        )  # fmt: skip
        assert {url: status(client, url) for url in front_end} == dict.fromkeys(front_end, 200)
        assert {url: status(client, url) for url in elsewhere} == dict.fromkeys(elsewhere, 400)
        assert status(admin, "https://kemkes.example/a") == 200
        assert status(admin, "http://kemkes.example/a") == 400
