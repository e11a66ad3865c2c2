"""The messaging service: Fonnte, the WhatsApp Cloud API, or nobody (`outbox`: the row itself is the message)."""

from __future__ import annotations

from typing import Any, Protocol

from flask import current_app

from app.providers.http import Http, ProviderError, policy_of
from config import Config

#: A worker's lease outlives this.
BUDGET_S = 8.0
#: More than a worker's lanes ever use.
PARALLEL = 64

FONNTE_URL = "https://api.fonnte.com"
WHATSAPP_URL = "https://graph.facebook.com/v21.0"

#: WhatsApp: too many messages, to all or to this number.
_RATE_LIMITS = frozenset({130429, 131056, 4, 80007})
#: WhatsApp: nobody has this number there, or it is none.
_INVALID_NUMBERS = frozenset({131026})
#: WhatsApp answers some passing troubles of its own with 4xx.
_TRANSIENT = frozenset({1, 2, 131000, 131016})


class InvalidNumberError(ProviderError):
    """The provider says that nobody can be reached at this number."""

    def __init__(self, provider: str, reason: str) -> None:
        super().__init__(provider, "status", permanent=True, reason=reason)


class Messenger(Protocol):
    def send(self, phone: str, text: str) -> str | None:
        """Send a text to an E.164 number; returns the provider's reference. Raises `ProviderError`."""


class Outbox:
    """Sends nowhere: the development pages show the outbox's rows."""

    def send(self, phone: str, text: str) -> str | None:
        return None


class Fonnte:
    """https://docs.fonnte.com: a refusal is HTTP 200 too, and only `status` tells: true, or false with a reason."""

    def __init__(self, http: Http, url: str, token: str) -> None:
        self._http, self._url, self._token = http, url, token

    def send(self, phone: str, text: str) -> str | None:
        response = self._http.fetch(
            "POST",
            f"{self._url}/send",
            data={"target": phone.removeprefix("+"), "message": text, "countryCode": "62"},
            headers={"Authorization": self._token},
        )
        body = response.json()
        match body.get("status"):
            case True:
                return _first(body.get("id"))
            case False:
                raise self._refusal(str(body.get("reason", "")))
            case _:
                raise response.garbage()

    def _refusal(self, reason: str) -> ProviderError:
        words = reason.lower()
        if "target" in words and "invalid" in words:
            return InvalidNumberError("messaging", reason)
        # Only the message itself can be wrong for good; a token, a quota or a device is put right by the operator.
        permanent = "cannot be empty" in words or words == "input invalid"
        return ProviderError("messaging", "status", permanent=permanent, reason=reason or "refused")


class WhatsAppCloud:
    """https://developers.facebook.com/docs/whatsapp/cloud-api"""

    def __init__(self, http: Http, url: str, token: str, sender_id: str) -> None:
        self._http, self._url, self._token = http, f"{url}/{sender_id}/messages", token

    def send(self, phone: str, text: str) -> str | None:
        try:
            response = self._http.fetch(
                "POST",
                self._url,
                json={
                    "messaging_product": "whatsapp",
                    "to": phone.removeprefix("+"),
                    "type": "text",
                    "text": {"body": text},
                },
                headers={"Authorization": f"Bearer {self._token}"},
            )
        except ProviderError as error:
            raise _meaning(error) from None
        messages = response.json().get("messages")
        first = messages[0] if isinstance(messages, list) and messages else None
        if not isinstance(first, dict) or not isinstance(first.get("id"), str):
            raise response.garbage()
        return str(first["id"])


def make(config: Config) -> Messenger:
    """The messenger that the settings name."""
    if config.messaging_provider == "outbox":
        return Outbox()
    http = Http(
        "messaging",
        policy=policy_of(config, "messaging_url"),
        connect_s=2.0,
        read_s=6.0,
        budget_s=BUDGET_S,
        attempts=2,
        parallel=PARALLEL,
        max_bytes=200_000,
    )
    token = config.messaging_token or ""
    if config.messaging_provider == "fonnte":
        return Fonnte(http, config.messaging_url or FONNTE_URL, token)
    return WhatsAppCloud(http, config.messaging_url or WHATSAPP_URL, token, config.messaging_sender_id or "")


def client() -> Messenger:
    """The running application's messenger, made at its first use."""
    messenger: Messenger | None = current_app.extensions.get("messenger")
    if messenger is None:
        messenger = current_app.extensions["messenger"] = make(current_app.extensions["config"])
    return messenger


def _meaning(error: ProviderError) -> ProviderError:
    """What WhatsApp's own code says about an error status; a refused token is the operator's to put right."""
    code = _code(error)
    if code in _INVALID_NUMBERS:
        return InvalidNumberError("messaging", f"code {code}")
    transient = code in _RATE_LIMITS or code in _TRANSIENT or code == 190 or not error.permanent
    return ProviderError(
        "messaging",
        error.kind,
        permanent=not transient,
        retry_after=error.retry_after,
        response=error.response,
        reason=error.reason if code is None else f"code {code}",
        written=error.written,
    )


def _code(error: ProviderError) -> int | None:
    if error.response is None:
        return None
    try:
        problem: Any = error.response.json().get("error")
    except ProviderError:
        return None
    code = problem.get("code") if isinstance(problem, dict) else None
    return code if isinstance(code, int) else None


def _first(value: object) -> str | None:
    return str(value[0]) if isinstance(value, list) and value else None
