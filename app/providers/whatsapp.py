"""The WhatsApp Cloud API: https://developers.facebook.com/docs/whatsapp/cloud-api"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from app.providers.http import Http, ProviderError, ProviderResponse
from app.providers.messenger import (
    Button,
    Health,
    InvalidNumberError,
    LimitedError,
    OutsideHoursError,
    SenderError,
    Template,
    is_silent,
)

URL = "https://graph.facebook.com/v25.0"

_LIMIT = "whatsapp_business_manager_messaging_limit"

#: Maximum characters of a text with buttons. A longer text is sent without its buttons.
MAX_CHARACTERS_WITH_BUTTONS = 1024
#: Maximum characters of a template parameter. The whole body of a template may have 1,024.
MAX_PARAMETER_CHARACTERS = 800

#: Error codes: too many messages, in total or to this number.
_RATE_LIMITS = frozenset({130429, 131056, 4, 80007})
#: Error codes: the token is invalid.
_UNAUTHORISED = frozenset({"0", "190"})
#: Error codes of the account: invalid token, block or lock, unpaid bill, unregistered number.
_OF_THE_ACCOUNT = _UNAUTHORISED | {"368", "131031", "131042", "131045", "133010"}
#: Error codes: the token lacks the permission for this call. Such a token may still have the permission to send.
_NOT_ALLOWED = frozenset({"3", "10", "131005", *map(str, range(200, 300))})
#: Error codes: more different recipients in 24 hours than the account's quality rating allows, or a template with other
#: parameters, missing, paused or disabled.
_LIMITS = frozenset({"131048", "132000", "132001", "132012", "132015", "132016"})
#: Error codes: the number is not on WhatsApp, or is not valid.
INVALID_NUMBERS = frozenset({131026})
#: Error code: the recipient has not written to us in the last 24 hours.
OUTSIDE_HOURS = 131047
#: Error codes of temporary failures, some of which have a 4xx status.
_TRANSIENT = frozenset({1, 2, 131000, 131016})


class _NotAllowedError(SenderError):
    """Error: the token lacks the permission for this call. Other calls may work."""


class WhatsAppCloud:
    def __init__(self, http: Http, url: str, token: str, sender_id: str) -> None:
        self._http, self._url = http, f"{url}/{sender_id}"
        self._headers = {"Authorization": f"Bearer {token}"}

    def send(
        self,
        phone: str,
        text: str,
        *,
        callback: str | None = None,
        buttons: Sequence[Button] = (),
        template: Template | None = None,
    ) -> str | None:
        message = {
            "messaging_product": "whatsapp",
            "recipient_type": "individual",
            "to": phone.removeprefix("+"),
            **_content(text, buttons, template),
        }
        if callback is not None:
            message["biz_opaque_callback_data"] = callback
        response = self._request("POST", "/messages", json=message)
        messages = response.json().get("messages")
        first = messages[0] if isinstance(messages, list) and messages else None
        if not isinstance(first, dict) or not isinstance(first.get("id"), str):
            raise response.garbage()
        return str(first["id"])

    def health(self) -> Health:
        try:
            response = self._request("GET", "", params={"fields": f"quality_rating,{_LIMIT}"})
        except _NotAllowedError as error:
            raise ProviderError("messaging", "status", permanent=True, reason=error.reason) from None
        except SenderError as error:
            return Health(error.reason)
        body = response.json()
        return Health(quality=quality_of(body.get("quality_rating")), limit_24h=limit_of(body.get(_LIMIT)))

    def cancel(self, ref: str) -> bool:
        return False  # WhatsApp cannot cancel a message

    def _request(self, method: str, path: str, **parts: Any) -> ProviderResponse:
        try:
            return self._http.fetch(method, self._url + path, headers=self._headers, **parts)
        except ProviderError as error:
            meaning = _meaning(error, is_send=method == "POST")
            meaning.words = _words(error)
            raise meaning from None


def limit_of(value: object) -> int | None:
    """Return the number of people for `TIER_250`, `TIER_2K` or `TIER_100K`.

    Return None for `TIER_UNLIMITED` and unknown values.
    """
    match = re.fullmatch(r"TIER_(\d{1,6})(K?)", value) if isinstance(value, str) else None
    return int(match[1]) * (1000 if match[2] else 1) if match else None


def quality_of(value: object) -> str | None:
    """Return `green`, `yellow` or `red`, or None for other values."""
    return value.lower() if value in ("GREEN", "YELLOW", "RED") and isinstance(value, str) else None


def _content(text: str, buttons: Sequence[Button], template: Template | None) -> dict[str, object]:
    if template is not None:
        return {"type": "template", "template": _template(template)}
    if buttons and len(text) <= MAX_CHARACTERS_WITH_BUTTONS:
        replies = [{"type": "reply", "reply": {"id": button.id, "title": button.title}} for button in buttons]
        action = {"buttons": replies}
        return {"type": "interactive", "interactive": {"type": "button", "body": {"text": text}, "action": action}}
    return {"type": "text", "text": {"body": text}}


def _template(template: Template) -> dict[str, object]:
    parameters = [{"type": "text", "text": _one_line(parameter)} for parameter in template.parameters]
    body = [{"type": "body", "parameters": parameters}] if parameters else []
    replies = [
        {
            "type": "button",
            "sub_type": "quick_reply",
            "index": str(index),
            "parameters": [{"type": "payload", "payload": payload}],
        }
        for index, payload in enumerate(template.payloads)
    ]
    return {"name": template.name, "language": {"code": "id"}, "components": body + replies}


def _one_line(text: str) -> str:
    """Return a valid template parameter: not empty, at most 800 characters, no line breaks, tabs or repeated blanks."""
    line = " ".join(text.split()) or "-"
    return line if len(line) <= MAX_PARAMETER_CHARACTERS else line[: MAX_PARAMETER_CHARACTERS - 1] + "…"


def _meaning(error: ProviderError, *, is_send: bool) -> ProviderError:
    """Return the error for WhatsApp's own error code in a failed response."""
    code = _code(error)
    if code in INVALID_NUMBERS:
        return InvalidNumberError("messaging", f"code {code}")
    if code == OUTSIDE_HOURS:
        return OutsideHoursError("messaging", f"code {code}")
    if refusal := sender_error(code):
        return refusal
    says_nothing = is_send and code is None and is_silent(error)
    transient = code in _RATE_LIMITS or code in _TRANSIENT or not error.permanent or says_nothing
    return ProviderError(
        "messaging",
        error.kind,
        permanent=not transient,
        retry_after=error.retry_after,
        response=error.response,
        reason=error.reason if code is None else f"code {code}",
        written=error.written,
    )


def sender_error(code: object) -> SenderError | LimitedError | None:
    """Return the error for a code that concerns the account or a template, or None for other codes."""
    if str(code) in _NOT_ALLOWED:
        return _NotAllowedError("messaging", f"code {code}")
    if str(code) in _OF_THE_ACCOUNT:
        return SenderError("messaging", f"code {code}")
    if str(code) in _LIMITS:
        return LimitedError("messaging", f"code {code}")
    return None


def _code(error: ProviderError) -> int | None:
    code = _problem(error).get("code")
    return code if isinstance(code, int) else None


def _words(error: ProviderError) -> str | None:
    words = _problem(error).get("message")
    return words[:300] if isinstance(words, str) else None


def _problem(error: ProviderError) -> Mapping[str, object]:
    if error.response is None:
        return {}
    try:
        problem = error.response.json().get("error")
    except ProviderError:
        return {}
    return problem if isinstance(problem, dict) else {}
