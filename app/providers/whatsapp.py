"""The WhatsApp Cloud API: https://developers.facebook.com/docs/whatsapp/cloud-api"""

from __future__ import annotations

from typing import Any

from app.providers.http import Http, ProviderError
from app.providers.messenger import InvalidNumberError

URL = "https://graph.facebook.com/v21.0"

#: Too many messages, to all or to this number.
_RATE_LIMITS = frozenset({130429, 131056, 4, 80007})
#: Nobody has this number there, or it is none.
_INVALID_NUMBERS = frozenset({131026})
#: Some passing troubles of its own are 4xx.
_TRANSIENT = frozenset({1, 2, 131000, 131016})


class WhatsAppCloud:
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
