"""Client for web push: RFC 8030 (delivery), RFC 8291 (encryption) and RFC 8292 (VAPID, the keys of the sender).

pywebpush encrypts, py_vapid signs, and our `Http` sends. pywebpush's own sender is not used, because it has no timeout,
allows any address and treats a redirect as a success.
"""

from __future__ import annotations

import base64
import re
import time
from dataclasses import dataclass
from fnmatch import fnmatchcase
from urllib.parse import urlsplit

from cryptography.hazmat.primitives.asymmetric import ec

from app.core.settings import current, extensions
from app.providers.http import Http, ProviderError
from config import Config

#: Hosts of the browsers' push services. `PUSH_HOSTS` adds more. No other host is called, because anybody can store an
#: endpoint.
PUSH_SERVICES = (
    "fcm.googleapis.com",
    "updates.push.services.mozilla.com",
    "*.notify.windows.com",
    "*.push.apple.com",
)
_HTTPS = re.compile(r"https://([a-z0-9.-]+)(?::443)?/[!-~]*", re.IGNORECASE)
_LOOPBACK = re.compile(r"https?://(localhost|127\.0\.0\.1)(:\d{1,5})?/[!-~]*")

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
        self._known = (*PUSH_SERVICES, *config.push_hosts)
        self._allows_loopback = not config.is_production
        self._http = Http(
            "push",
            read_s=6.0,
            budget_s=BUDGET_S,
            attempts=2,
            parallel=PARALLEL,
            max_bytes=100_000,
        )

    def send(self, to: Subscription, payload: bytes, *, ttl_s: int, urgency: str, topic: str | None) -> str | None:
        """Encrypt and send a payload. Return the URL of the message at the push service.

        Raise `ProviderError` if the push cannot be sent. An endpoint of an unknown host is not called.
        """
        if not self._may_call(to.endpoint):
            raise ProviderError("push", "refused", permanent=True, reason="no known push service, see PUSH_HOSTS")
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

    def _may_call(self, endpoint: str) -> bool:
        if self._allows_loopback and _LOOPBACK.fullmatch(endpoint):
            return True
        match = _HTTPS.fullmatch(endpoint)
        return match is not None and any(fnmatchcase(match[1].lower(), host) for host in self._known)

    def _authorization(self, endpoint: str) -> str:
        parts = urlsplit(endpoint)
        claims = {
            "aud": f"{parts.scheme}://{parts.netloc}",
            "exp": int(time.time()) + TOKEN_LIFE_S,
            "sub": self._subject,
        }
        header: str = self._signer.sign(claims)["Authorization"]
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


def _decoded(text: str) -> bytes:
    return base64.b64decode(text.rstrip("=") + "=" * (-len(text.rstrip("=")) % 4), altchars=b"-_", validate=True)
