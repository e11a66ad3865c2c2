"""Web push: RFC 8030 (delivery), 8291 (encryption), 8292 (VAPID).

pywebpush encrypts, and its py_vapid signs. Sending is ours: pywebpush's own knows no timeout, takes a redirect for
success and a 204 for a failure, and goes to any address.
"""

from __future__ import annotations

import base64
import time
from dataclasses import dataclass
from ipaddress import ip_address
from socket import AI_NUMERICHOST, gaierror, getaddrinfo
from urllib.parse import urlsplit

from cryptography.hazmat.primitives.asymmetric import ec

from app.core.settings import current, extensions
from app.providers.http import AddressPolicy, Http, ProviderError
from app.providers.sockets import is_public
from config import Config

#: What a push service must take is 4,096 bytes of body, 103 of them the encryption's.
MAX_PAYLOAD_BYTES = 2700
BUDGET_S = 8.0
PARALLEL = 64
TOKEN_LIFE_S = 12 * 3600


class NotConfiguredError(Exception):
    """The operator has given no VAPID keys."""


@dataclass(frozen=True)
class Subscription:
    """What a browser's `PushSubscription.toJSON()` says."""

    endpoint: str
    p256dh: str
    auth: str


class WebPush:
    """Sends to any push service in the name of our VAPID key."""

    def __init__(self, config: Config) -> None:
        if not config.vapid_public_key or not config.vapid_private_key:
            raise NotConfiguredError
        from py_vapid import Vapid02

        self._signer = Vapid02.from_raw(config.vapid_private_key.encode())
        self._signer.conf = {"no-strict": True}  # its own rule refuses an https subject with a path
        self._subject = config.vapid_subject or "mailto:operator@example.com"
        self._http = Http(
            "push",
            policy=AddressPolicy.PUBLIC if config.is_production else AddressPolicy.PUBLIC_OR_LOOPBACK,
            connect_s=2.0,
            read_s=6.0,
            budget_s=BUDGET_S,
            attempts=2,
            parallel=PARALLEL,
            max_bytes=100_000,
        )

    def send(self, to: Subscription, payload: bytes, *, ttl_s: int, urgency: str, topic: str | None) -> str | None:
        """Encrypt and send; returns the message's address at the push service. Raises `ProviderError`."""
        headers = {
            "TTL": str(ttl_s),
            "Urgency": urgency,
            "Content-Encoding": "aes128gcm",
            "Content-Type": "application/octet-stream",
            "Authorization": self._authorization(to.endpoint),
        }
        if topic is not None:
            headers["Topic"] = topic
        response = self._http.fetch("POST", to.endpoint, data=_encrypted(to, payload), headers=headers)
        return response.headers.get("Location")

    def _authorization(self, endpoint: str) -> str:
        """A token for this push service, signed anew each time, and the key that verifies it."""
        from py_vapid import VapidException

        parts = urlsplit(endpoint)
        claims = {
            "aud": f"{parts.scheme}://{parts.netloc}",
            "exp": int(time.time()) + TOKEN_LIFE_S,
            "sub": self._subject,
        }
        try:
            header: str = self._signer.sign(claims)["Authorization"]
        except VapidException:  # it signs for no IPv6 address, today or later
            raise ProviderError("push", "refused", permanent=True) from None
        return header


def _encrypted(to: Subscription, payload: bytes) -> bytes:
    from pywebpush import WebPusher  # 0.1 to 0.3 s and 7 MiB, for a process that sends

    keys = {"p256dh": to.p256dh, "auth": to.auth}
    body: bytes = WebPusher({"endpoint": to.endpoint, "keys": keys}).encode(payload)["body"]
    return body


def client() -> WebPush:
    """The running application's sender, made at its first use. Raises `NotConfiguredError`."""
    webpush: WebPush | None = extensions().get("webpush")
    if webpush is None:
        webpush = extensions()["webpush"] = WebPush(current())
    return webpush


def is_gone(error: ProviderError) -> bool:
    """The browser has taken its permission back."""
    return error.status in (404, 410)


def is_key_mismatch(error: ProviderError) -> bool:
    """Our keys do not belong to this subscription."""
    return error.status in (400, 401, 403)


def is_key(p256dh: str) -> bool:
    """Whether a browser's public key is a point of the curve, as 65 bytes of base64url."""
    try:
        raw = _decoded(p256dh)
        ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), raw)
    except ValueError:
        return False
    return len(raw) == 65


def is_auth(secret: str) -> bool:
    """Whether a browser's secret is 16 bytes of base64url."""
    try:
        return len(_decoded(secret)) == 16
    except ValueError:
        return False


def may_be_endpoint(url: str, config: Config) -> bool:
    """Whether an address can be a push service's: https and public, as far as it can be told without asking the DNS.

    The connection itself checks again what the name leads to (`AddressPolicy`). In development and tests the
    simulators listen on loopback, by http.
    """
    try:
        parts = urlsplit(url)
        host, port = (parts.hostname or "").rstrip("."), parts.port
    except ValueError:
        return False
    if parts.username is not None or parts.password is not None or parts.fragment or port == 0 or not host:
        return False
    if any(ord(character) <= 32 or ord(character) > 126 or character in '\\"<>^`{|}' for character in url):
        return False
    if not config.is_production and _is_loopback(host):
        return parts.scheme in ("http", "https")
    return parts.scheme == "https" and _is_public_host(host)


def _is_public_host(host: str) -> bool:
    address = _numeric(host)
    if address is not None:
        return is_public(ip_address(address))
    top = host.rpartition(".")[2]
    return "." in host and not top.isdecimal() and top not in ("localhost", "local", "internal", "lan", "home", "arpa")


def _is_loopback(host: str) -> bool:
    address = _numeric(host)
    return host == "localhost" or (address is not None and ip_address(address).is_loopback)


def _numeric(host: str) -> str | None:
    """The address that a host spells in any of the ways that the system reads (`127.1`, `0x7f000001`), or None."""
    try:
        return str(getaddrinfo(host, None, flags=AI_NUMERICHOST)[0][4][0]).partition("%")[0]
    except (gaierror, UnicodeError):
        return None


def _decoded(text: str) -> bytes:
    return base64.b64decode(text.rstrip("=") + "=" * (-len(text.rstrip("=")) % 4), altchars=b"-_", validate=True)
