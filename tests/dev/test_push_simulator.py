"""Tests of the simulated push service and browsers: requirements of RFC 8030, 8291 and 8292 for the sender."""

import time

import http_ece
import jwt
import requests
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

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


def test_an_unknown_subscription_is_404(sim):
    assert push(sim, {**sim.push.subscribe(), "endpoint": f"{sim.push.url}/nobody"}).status_code == 404


def test_a_push_that_cannot_be_decrypted_is_accepted_without_text(sim):
    mine, other = sim.push.subscribe(), sim.push.subscribe()
    assert push(sim, {**mine, "keys": other["keys"]}).status_code == 201
    (message,) = sim.push.messages
    assert message.text is None
    assert message.error is not None
