"""Requests to push services, and encryption of messages to browsers.

The simulator's decryption is tested with the example of RFC 8291.
"""

import time

import http_ece
import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from app.providers import vapid, webpush
from app.providers.http import ProviderError
from dev.simulators.push import decoded, encoded, origin
from tests.helpers.apps import config_for_tests

PUBLIC, PRIVATE = vapid.new_keys()

#: Keys of a fake browser.
KEY = ec.generate_private_key(ec.SECP256R1())
AUTH = b"0123456789abcdef"
P256DH = encoded(KEY.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint))
SUBSCRIPTION = webpush.Subscription("https://push.example.com/a", P256DH, encoded(AUTH))


def sender(subject="mailto:operator@example.com"):
    keys = {"VAPID_PUBLIC_KEY": PUBLIC, "VAPID_PRIVATE_KEY": PRIVATE, "VAPID_SUBJECT": subject}
    return webpush.WebPush(config_for_tests(**keys))


def send(to, by, payload=b"{}"):
    subscription = webpush.Subscription(to["endpoint"], **to["keys"])
    by.send(subscription, payload, ttl_s=60, urgency="normal", topic=None)


def opened(body):
    return http_ece.decrypt(body, private_key=KEY, auth_secret=AUTH, version="aes128gcm")


def test_a_payload_is_decrypted_only_with_the_key_of_the_browser():
    stranger = ec.generate_private_key(ec.SECP256R1())
    for size in (1, webpush.MAX_PAYLOAD_BYTES):
        body = webpush._encrypted(SUBSCRIPTION, b"x" * size)
        assert opened(body) == b"x" * size
        assert len(body) == size + 103 <= 4096
        with pytest.raises(http_ece.ECEException):
            http_ece.decrypt(body, private_key=stranger, auth_secret=AUTH, version="aes128gcm")


def test_subscription_keys_may_have_base64_padding():
    for padding in ("", "=", "=="):
        subscription = webpush.Subscription("https://push.example.com/a", P256DH + padding, encoded(AUTH) + padding)
        assert webpush.is_key(subscription.p256dh)
        assert webpush.is_auth(subscription.auth)
        assert opened(webpush._encrypted(subscription, b"Halo")) == b"Halo"


def test_two_encrypted_payloads_have_different_keys_and_salts():
    bodies = [webpush._encrypted(SUBSCRIPTION, b"Halo") for _ in range(2)]
    assert len({body[:16] for body in bodies}) == 2
    assert len({body[21:86] for body in bodies}) == 2


def test_a_push_service_accepts_the_vapid_signature(sim):
    for subject in ("mailto:operator@example.com", "https://example.com/kontak/operator?a=b"):
        send(sim.push.subscribe(PUBLIC), sender(subject))
    assert [message.error for message in sim.push.messages] == [None, None]


def test_each_push_is_signed_for_the_origin_of_its_push_service():
    by = sender("https://example.com/kontak")
    for endpoint in ("https://push.example.com/a?b=c", "https://push.example.net:8443/a"):
        scheme, _, fields = by._authorization(endpoint).partition(" ")
        token, public = (field.partition("=")[2] for field in fields.split(","))
        key = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), decoded(public))
        claims = jwt.decode(token, key, algorithms=["ES256"], audience=origin(endpoint))
        assert (scheme, public) == ("vapid", PUBLIC)
        assert claims["sub"] == "https://example.com/kontak"
        assert 0 < claims["exp"] - time.time() <= webpush.TOKEN_LIFE_S


def test_an_endpoint_that_cannot_be_signed_is_refused_permanently():
    subscription = {"endpoint": "https://[2606:4700:4700::1111]/a", "keys": {"p256dh": P256DH, "auth": encoded(AUTH)}}
    with pytest.raises(ProviderError) as error:
        send(subscription, sender())
    assert error.value.permanent
    assert error.value.kind == "refused"
    assert not webpush.is_gone(error.value)
