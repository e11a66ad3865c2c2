"""Fonnte, which drives a phone: https://docs.fonnte.com"""

from __future__ import annotations

from app.providers.http import Http, ProviderError
from app.providers.messenger import InvalidNumberError

URL = "https://api.fonnte.com"

#: After a brace it is no variable of Fonnte's, of which `{name}` and `{var1}` are two, and nobody sees it.
_ZERO_WIDTH_JOINER = "\u200d"


class Fonnte:
    """A refusal is HTTP 200 too, and only `status` tells: true, or false with a reason."""

    def __init__(self, http: Http, url: str, token: str) -> None:
        self._http, self._url, self._token = http, url, token

    def send(self, phone: str, text: str, **_: object) -> str | None:
        message = text.replace("{", "{" + _ZERO_WIDTH_JOINER)
        response = self._http.fetch(
            "POST",
            f"{self._url}/send",
            data={"target": phone.removeprefix("+"), "message": message, "countryCode": "62"},
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


def _first(value: object) -> str | None:
    return str(value[0]) if isinstance(value, list) and value else None
