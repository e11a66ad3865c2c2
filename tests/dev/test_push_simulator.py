"""Tests of the simulated push service and browsers: requirements of RFC 8030, 8291 and 8292 for the sender."""

import base64
import json
import time

import http_ece
import jwt
import requests
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from pywebpush import webpush

from dev.simulators.push import decoded, encoded
from dev.stack.waiting import PATIENCE_S

KEY = ec.generate_private_key(ec.SECP256R1())
PUBLIC = encoded(KEY.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint))


def vapid(sim, *, key=KEY, public=PUBLIC, **claims):
    claims = {"aud": sim.url, "exp": int(time.time()) + 3600, "sub": "mailto:admin@example.org"} | claims
    return f"vapid t={jwt.encode(claims, key, algorithm='ES256')}, k={public}"


def push(sim, subscription, text="Halo", **headers):
    keys = subscription["keys"]
    body = http_ece.encrypt(
        text.encode(), private_key=ec.generate_private_key(ec.SECP256R1()), dh=decoded(keys["p256dh"]),
        auth_secret=decoded(keys["auth"]), version="aes128gcm",
    )  # fmt: skip
    sent = {"TTL": "60", "Urgency": "high", "Content-Encoding": "aes128gcm", "Authorization": vapid(sim)} | headers
    sent = {name: value for name, value in sent.items() if value is not None}
    return requests.post(subscription["endpoint"], data=body, headers=sent, timeout=PATIENCE_S)


def test_a_valid_push_is_accepted_and_decrypted(sim):
    subscription = sim.push.subscribe(PUBLIC)
    reply = push(sim, subscription, "Waktunya minum obat", Topic="dosis-1")
    assert reply.status_code == 201
    assert "Location" in reply.headers
    (message,) = sim.push.shown(subscription["endpoint"])
    assert (message.text, message.ttl, message.urgency, message.topic) == ("Waktunya minum obat", 60, "high", "dosis-1")


def test_a_push_from_pywebpush_can_be_decrypted(sim):
    subscription = sim.push.subscribe(PUBLIC)
    private = encoded(KEY.private_numbers().private_value.to_bytes(32, "big"))
    webpush(
        subscription, json.dumps({"title": "Halo"}), vapid_private_key=private, ttl=60,
        vapid_claims={"sub": "mailto:admin@example.org"}, timeout=PATIENCE_S,
    )  # fmt: skip
    (message,) = sim.push.shown(subscription["endpoint"])
    assert json.loads(message.text) == {"title": "Halo"}


OTHER = ec.generate_private_key(ec.SECP256R1())
OTHER_POINT = encoded(OTHER.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint))

#: Status and headers of refused pushes. Each header may depend on the simulators.
REFUSED = [
    (401, {"Authorization": None}),
    (403, {"Authorization": "vapid t=x, k=y"}),
    (403, {"Authorization": lambda sim: vapid(sim, aud="https://push.example")}),
    (403, {"Authorization": lambda sim: vapid(sim, exp=int(time.time()) - 10)}),
    (403, {"Authorization": lambda sim: vapid(sim, exp=int(time.time()) + 25 * 3600)}),
    (403, {"Authorization": lambda sim: vapid(sim, sub="somebody")}),
    (403, {"Authorization": lambda sim: vapid(sim, key=OTHER)}),
    (400, {"TTL": None}),
    (400, {"TTL": "soon"}),
    (400, {"Urgency": "panic"}),
    (400, {"Topic": "x" * 33}),
    (400, {"Topic": "a b"}),
    (400, {"Content-Encoding": "aesgcm"}),
]


def test_a_push_with_a_bad_header_is_refused(sim, subtests):
    for status, headers in REFUSED:
        sent = {name: value(sim) if callable(value) else value for name, value in headers.items()}
        with subtests.test(**sent):
            assert push(sim, sim.push.subscribe(), **sent).status_code == status
    assert push(sim, sim.push.subscribe(OTHER_POINT)).status_code == 403
    assert push(sim, sim.push.subscribe(), "x" * 4096).status_code == 413
    assert sim.push.messages == []


def test_an_unknown_subscription_is_404_and_an_expired_one_is_410(sim):
    subscription = sim.push.subscribe()
    stranger = {**subscription, "endpoint": f"{sim.push.url}/nobody"}
    assert push(sim, stranger).status_code == 404
    sim.push.expire(subscription["endpoint"])
    assert push(sim, subscription).status_code == 410


def test_a_push_that_cannot_be_decrypted_is_accepted_without_text(sim):
    mine, other = sim.push.subscribe(), sim.push.subscribe()
    assert push(sim, {**mine, "keys": other["keys"]}).status_code == 201
    (message,) = sim.push.messages
    assert message.text is None
    assert message.error is not None


def test_a_later_message_of_a_topic_replaces_an_undelivered_one(sim):
    subscription = sim.push.subscribe()
    sim.push.go_offline(subscription["endpoint"])
    for text, topic in (("lama", "dosis-1"), ("lain", "dosis-2"), ("baru", "dosis-1"), ("tanpa", None)):
        push(sim, subscription, text, Topic=topic)
    assert sim.push.shown(subscription["endpoint"]) == []
    sim.push.come_online(subscription["endpoint"])
    assert [message.text for message in sim.push.shown(subscription["endpoint"])] == ["lain", "baru", "tanpa"]


def test_an_expired_message_is_not_shown_when_the_device_is_online_again(sim):
    subscription = sim.push.subscribe()
    sim.push.go_offline(subscription["endpoint"])
    for text, ttl in (("dibuang", "0"), ("basi", "60")):
        assert push(sim, subscription, text, TTL=ttl).status_code == 201
    sim.push.messages[-1].at -= 3600
    sim.push.come_online(subscription["endpoint"])
    assert [message.state for message in sim.push.messages] == ["expired", "expired"]


def test_another_process_subscribes_and_reads_over_http(sim):
    subscription = requests.post(f"{sim.url}/_control/push/subscribe", timeout=PATIENCE_S).json()
    assert base64.urlsafe_b64decode(subscription["keys"]["auth"] + "==")
    push(sim, subscription, "Halo dari luar")
    received = requests.get(f"{sim.url}/_control/calls/push", timeout=PATIENCE_S).json()
    assert [(message["text"], message["state"]) for message in received] == [("Halo dari luar", "shown")]
