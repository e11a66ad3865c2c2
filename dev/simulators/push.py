"""Simulator of a push service and its browsers: RFC 8030 (delivery), 8291 (encryption), 8292 (VAPID)."""

from __future__ import annotations

import base64
import re
import time
from dataclasses import dataclass
from secrets import token_bytes, token_urlsafe
from typing import Any
from urllib.parse import urlsplit

import http_ece  # type: ignore[import-untyped]
import jwt
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from flask import Blueprint, request
from flask.typing import ResponseReturnValue

from dev.simulators.base import Simulator

MAX_BODY = 4096
MAX_TOKEN_LIFE_S = 24 * 3600
URGENCIES = ("very-low", "low", "normal", "high")


@dataclass
class Message:
    """One accepted push.

    `text` is the decrypted text. `error` is the reason why the browser could not decrypt the push.
    """

    endpoint: str
    ttl: int
    urgency: str
    topic: str | None
    text: str | None
    error: str | None


@dataclass
class Browser:
    """One push subscription with its keys."""

    key: ec.EllipticCurvePrivateKey
    auth: bytes
    application_server_key: str | None
    gone: bool = False


class Refused(Exception):  # The push service returns an error response.
    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status


class Push(Simulator):
    """A push service that also decrypts each push, as the browser would. `messages` contains all pushes in order."""

    name = "push"

    def routes(self, blueprint: Blueprint) -> None:
        blueprint.post("/<subscription>")(self._push)

    def reset(self) -> None:
        super().reset()
        self.messages: list[Message] = []
        self._browsers: dict[str, Browser] = {}

    # --- actions of a browser or its user ---

    def subscribe(self, application_server_key: str | None = None) -> dict[str, Any]:
        """Return a subscription like `PushSubscription.toJSON()`.

        If a key is given, the push service refuses pushes that are signed with another key.
        """
        browser = Browser(ec.generate_private_key(ec.SECP256R1()), token_bytes(16), application_server_key)
        point = browser.key.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
        subscription = token_urlsafe(16)
        with self.lock:
            self._browsers[subscription] = browser
        endpoint = f"{self.url}/{subscription}"
        return {"endpoint": endpoint, "keys": {"p256dh": encoded(point), "auth": encoded(browser.auth)}}

    def expire(self, endpoint: str) -> None:
        """Withdraw the user's permission. All later pushes to this browser get status 410."""
        self._browsers[endpoint.rpartition("/")[2]].gone = True

    def shown(self, endpoint: str) -> list[Message]:
        """Return the pushes that this browser has shown, in order."""
        with self.lock:
            return [message for message in self.messages if message.endpoint == endpoint]

    # --- HTTP routes of the push service ---

    def _push(self, subscription: str) -> ResponseReturnValue:
        browser = self._browsers.get(subscription)
        if browser is None:
            return refusal(404, "no such subscription")
        if browser.gone:
            return refusal(410, "push subscription has unsubscribed or expired")
        try:
            self._check_vapid(browser)
            message = self._read(browser, f"{self.url}/{subscription}")
        except Refused as refused:
            return refusal(refused.status, str(refused))
        with self.lock:
            self.messages.append(message)
        return "", 201, {"Location": f"{self.url}/m/{token_urlsafe(9)}", "TTL": str(message.ttl)}

    def _check_vapid(self, browser: Browser) -> None:
        match = re.fullmatch(r"vapid\s+(.+)", request.headers.get("Authorization", ""), re.IGNORECASE)
        if not match:
            raise Refused(401, "missing vapid authorization")
        fields = dict(part.strip().split("=", 1) for part in match[1].split(",") if "=" in part)
        try:
            point = decoded(fields["k"])
            key = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), point)
            claims = jwt.decode(
                fields["t"],
                key,
                algorithms=["ES256"],
                audience=origin(self.url),
                options={"require": ["exp", "aud"]},
            )
        except (KeyError, ValueError, jwt.InvalidTokenError) as error:
            raise Refused(403, f"bad vapid token: {error}") from error
        if claims["exp"] > time.time() + MAX_TOKEN_LIFE_S:
            raise Refused(403, "vapid token lives longer than 24 hours")
        if not re.match(r"mailto:.+@|https://", str(claims.get("sub", ""))):
            raise Refused(403, "vapid subject is neither mailto: nor https:")
        expected = browser.application_server_key
        if expected is not None and decoded(expected) != point:
            raise Refused(403, "the key is not the one of this subscription")

    def _read(self, browser: Browser, endpoint: str) -> Message:
        body = request.get_data()
        ttl, topic = request.headers.get("TTL", ""), request.headers.get("Topic")
        urgency = request.headers.get("Urgency", "normal")
        if not re.fullmatch(r"\d{1,10}", ttl):
            raise Refused(400, "TTL is missing or not a number of seconds")
        if urgency not in URGENCIES:
            raise Refused(400, "Urgency is none of the four")
        if topic is not None and not re.fullmatch(r"[A-Za-z0-9_-]{1,32}", topic):
            raise Refused(400, "Topic is not at most 32 characters of base64url")
        if len(body) > MAX_BODY:
            raise Refused(413, "message is too large")
        if body and request.headers.get("Content-Encoding") != "aes128gcm":
            raise Refused(400, "Content-Encoding is not aes128gcm")
        text, error = self._decrypt(browser, body)
        return Message(endpoint, int(ttl), urgency, topic, text, error)

    def _decrypt(self, browser: Browser, body: bytes) -> tuple[str | None, str | None]:
        # A real push service answers 201 to every body, because only the browser can decrypt the body.
        try:
            key, auth = browser.key, browser.auth
            clear = http_ece.decrypt(body, private_key=key, auth_secret=auth, version="aes128gcm")
            return clear.decode(), None
        except Exception as error:  # noqa: BLE001  # http_ece raises many kinds
            return None, repr(error)


def refusal(status: int, reason: str) -> ResponseReturnValue:
    return {"code": status, "errno": 100, "error": "error", "message": reason}, status


def origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


def encoded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def decoded(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
