"""Client for web push: RFC 8030 (delivery), RFC 8291 (encryption) and RFC 8292 (VAPID, the keys of the sender).

pywebpush encrypts, py_vapid signs, and our `Http` sends. pywebpush's own sender is not used, because it has no timeout,
allows any address and treats a redirect as a success.
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

#: Maximum bytes of a payload before encryption, well below the limit of push services. Every push service must accept a
#: body of 4,096 bytes, and encryption adds 103 bytes.
MAX_PAYLOAD_BYTES = 2700
BUDGET_S = 8.0
PARALLEL = 64
TOKEN_LIFE_S = 12 * 3600


class NotConfiguredError(Exception):
    """Error: the VAPID keys are not configured."""


@dataclass(frozen=True)
class Subscription:
    """A browser's push subscription, with the fields of `PushSubscription.toJSON()`."""

    endpoint: str
    p256dh: str
    auth: str


class WebPush:
    """Client for all push services. Each request is signed with our VAPID key."""

    def __init__(self, config: Config) -> None:
        if not config.vapid_public_key or not config.vapid_private_key:
            raise NotConfiguredError
        from py_vapid import Vapid02

        self._signer = Vapid02.from_raw(config.vapid_private_key.encode())
        self._signer.conf = {"no-strict": True}  # the strict mode of py_vapid rejects an https subject with a path
        self._subject = config.push_subject
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
        """Encrypt and send a payload. Return the URL of the message at the push service.

        Raise `ProviderError` if the push cannot be sent.
        """
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
        from py_vapid import VapidException

        parts = urlsplit(endpoint)
        claims = {
            "aud": f"{parts.scheme}://{parts.netloc}",
            "exp": int(time.time()) + TOKEN_LIFE_S,
            "sub": self._subject,
        }
        try:
            header: str = self._signer.sign(claims)["Authorization"]
        except VapidException:  # py_vapid rejects every endpoint with an IPv6 address
            raise ProviderError("push", "refused", permanent=True) from None
        return header


def _encrypted(to: Subscription, payload: bytes) -> bytes:
    from pywebpush import WebPusher  # imported on first use, because the import takes 0.1 to 0.3 s and 7 MiB

    keys = {"p256dh": to.p256dh, "auth": to.auth}
    body: bytes = WebPusher({"endpoint": to.endpoint, "keys": keys}).encode(payload)["body"]
    return body


def client() -> WebPush:
    """Return the application's client, created on first use. Raise `NotConfiguredError` without VAPID keys."""
    webpush: WebPush | None = extensions().get("webpush")
    if webpush is None:
        webpush = extensions()["webpush"] = WebPush(current())
    return webpush


def is_gone(error: ProviderError) -> bool:
    """Return whether the error means that the subscription no longer exists."""
    return error.status in (404, 410)


def is_key(p256dh: str) -> bool:
    """Return whether the browser's public key is valid: a point on the curve P-256, as 65 bytes in base64url."""
    try:
        raw = _decoded(p256dh)
        ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), raw)
    except ValueError:
        return False
    return len(raw) == 65


def is_auth(secret: str) -> bool:
    """Return whether the browser's authentication secret is valid: 16 bytes in base64url."""
    try:
        return len(_decoded(secret)) == 16
    except ValueError:
        return False


def may_be_endpoint(url: str, config: Config) -> bool:
    """Return whether an address may be a push endpoint: an https address of a public host.

    This check uses no DNS. When a connection is opened, `AddressPolicy` checks the resolved address. Outside
    production, http and loopback are also allowed, because the simulators use them.
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
    """Return the IP address for a host that is a numeric address, else None.

    The system also accepts unusual forms such as `127.1` and `0x7f000001`.
    """
    try:
        return str(getaddrinfo(host, None, flags=AI_NUMERICHOST)[0][4][0]).partition("%")[0]
    except (gaierror, UnicodeError):
        return None


def _decoded(text: str) -> bytes:
    return base64.b64decode(text.rstrip("=") + "=" * (-len(text.rstrip("=")) % 4), altchars=b"-_", validate=True)
