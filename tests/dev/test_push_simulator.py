"""Tests of the simulated push service and browsers: requirements of RFC 8030, 8291 and 8292 for the sender."""

import base64
import json
import time

import http_ece
import jwt
import pytest
import requests
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from pywebpush import webpush

from dev.simulators.push import Browser, decoded, encoded
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


#: Example in RFC 8291, section 5: the browser's private key and secret, and the encrypted body.
RFC_KEY = "q1dXpw3UpT5VOmu_cf_v6ih07Aems3njxI-JWgLcM94"
RFC_AUTH = "BTBZMqHH6r4Tts7J_aSIgg"
RFC_BODY = (
    "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl"
    "95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN"
)


def test_the_example_of_rfc_8291_can_be_decrypted(sim):
    key = ec.derive_private_key(int.from_bytes(decoded(RFC_KEY), "big"), ec.SECP256R1())
    sim.push._browsers["rfc"] = Browser(key, decoded(RFC_AUTH), None)
    headers = {"TTL": "60", "Content-Encoding": "aes128gcm", "Authorization": vapid(sim)}
    reply = requests.post(f"{sim.push.url}/rfc", data=decoded(RFC_BODY), headers=headers, timeout=PATIENCE_S)
    assert reply.status_code == 201
    (message,) = sim.push.messages
    assert (message.text, message.error) == ("When I grow up, I want to be a watermelon", None)


OTHER = ec.generate_private_key(ec.SECP256R1())


@pytest.mark.parametrize(
    ("status", "headers"),
    [
        (401, {"Authorization": None}),
        (401, {"Authorization": "Bearer x"}),
        (403, {"Authorization": "vapid t=x, k=y"}),
        (400, {"TTL": None}),
        (400, {"TTL": "soon"}),
        (400, {"Urgency": "panic"}),
        (400, {"Topic": "x" * 33}),
        (400, {"Topic": "a b"}),
        (400, {"Content-Encoding": None}),
        (400, {"Content-Encoding": "aesgcm"}),
    ],
)
def test_bad_headers_are_refused(sim, status, headers):
    subscription = sim.push.subscribe()
    assert push(sim, subscription, **headers).status_code == status
    assert sim.push.messages == []


@pytest.mark.parametrize(
    "token",
    [
        lambda sim: vapid(sim, aud="https://push.example"),
        lambda sim: vapid(sim, exp=int(time.time()) - 10),
        lambda sim: vapid(sim, exp=int(time.time()) + 25 * 3600),
        lambda sim: vapid(sim, sub="somebody"),
        lambda sim: vapid(sim, key=OTHER),
        lambda sim: "vapid t=" + jwt.encode({"aud": sim.url, "exp": time.time() + 9}, "x" * 32) + f", k={PUBLIC}",
    ],
    ids=["other audience", "expired", "lives too long", "no subject", "other key signs", "not ES256"],
)
def test_bad_vapid_tokens_are_refused(sim, token):
    assert push(sim, sim.push.subscribe(), Authorization=token(sim)).status_code == 403


def test_a_vapid_key_other_than_that_of_the_subscription_is_refused(sim):
    point = OTHER.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
    assert push(sim, sim.push.subscribe(encoded(point))).status_code == 403


def test_too_large_a_message_is_refused(sim):
    assert push(sim, sim.push.subscribe(), "x" * 4096).status_code == 413


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
    assert push(sim, subscription, TTL="0").status_code == 201
    sim.push.messages.append(old := push_of_an_hour_ago(subscription["endpoint"]))
    sim.push.come_online(subscription["endpoint"])
    assert sim.push.shown(subscription["endpoint"]) == []
    assert old.state == "expired"


def push_of_an_hour_ago(endpoint):
    from dev.simulators.push import Message

    return Message(endpoint, 60, "high", None, "basi", None, at=time.time() - 3600)


def test_another_process_subscribes_and_reads_over_http(sim):
    subscription = requests.post(f"{sim.url}/_control/push/subscribe", timeout=PATIENCE_S).json()
    assert base64.urlsafe_b64decode(subscription["keys"]["auth"] + "==")
    push(sim, subscription, "Halo dari luar")
    received = requests.get(f"{sim.url}/_control/calls/push", timeout=PATIENCE_S).json()
    assert [(message["text"], message["state"]) for message in received] == [("Halo dari luar", "shown")]
